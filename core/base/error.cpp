// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"

namespace kerf {

std::string toString(const Error& error) {
    std::string line =
        error.where.empty() ? error.what : fmt::format("{}: {}", error.where, error.what);
    if (!error.advice.empty()) {
        const bool ended = line.ends_with('.') || line.ends_with('!') || line.ends_with('?');
        line += ended ? "" : ".";
        line += fmt::format(" {}", error.advice);
    }
    return line;
}

} // namespace kerf

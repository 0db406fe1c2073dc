// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace kerf {

/// Why something could not be done, written for the person who has to act on it.
struct Error {
    std::string what;   ///< what is wrong, with the offending value
    std::string where;  ///< file, and byte, line or row where known; may be empty
    std::string advice; ///< what to do; may be empty
};

template <class T> using Expected = tl::expected<T, Error>;

/// The three parts as one readable line.
[[nodiscard]] std::string toString(const Error& error);

/// Shorthand for returning a failure: `return fail("…", "FILE", "…")`.
[[nodiscard]] inline tl::unexpected<Error> fail(std::string what, std::string where = {},
                                                std::string advice = {}) {
    return tl::unexpected<Error>(Error{std::move(what), std::move(where), std::move(advice)});
}

} // namespace kerf

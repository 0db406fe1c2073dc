// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/exit_codes.h"
#include "app/cli/progress_line.h"
#include "app/cli/verb.h"

#include <algorithm>

namespace kerf::cli {

int explain(const Error& error, int code, const Progress& progress) {
    clearProgressLine();
    if (progress.cancelled.load()) {
        fmt::print(stderr, "kerf: cancelled\n");
        return kCancelled;
    }
    Error sentence = error;
    if (!sentence.advice.empty() && !sentence.what.empty() && !sentence.what.ends_with('.')) {
        sentence.what += '.';
    }
    std::string line = toString(sentence);
    std::replace(line.begin(), line.end(), '\n', ' '); // scripts read one line
    fmt::print(stderr, "kerf: {}\n", line);
    return code;
}

} // namespace kerf::cli

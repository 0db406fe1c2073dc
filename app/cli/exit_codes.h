// SPDX-License-Identifier: GPL-3.0-or-later
// Exit codes of every verb. Scripts rely on them; docs/command-line.md lists them.
#pragma once

namespace kerf::cli {

enum ExitCode : int {
    kOk = 0,
    kUsage = 1,    ///< unknown verb or option, or options that contradict
    kBadInput = 2, ///< a file that cannot be read, used or written; nothing matches --model/--batch
    kFailed = 3,   ///< the input is good but the prediction, search or report failed
    kNoDisplay = 4,   ///< the window was asked for where there is no display
    kCancelled = 130, ///< Ctrl-C
};

inline constexpr const char* kExitCodeHelp = "Exit codes: 0 done, 1 wrong usage, 2 bad input or "
                                             "file, 3 prediction, search or report failed, "
                                             "4 no display for the window, 130 cancelled.";

} // namespace kerf::cli

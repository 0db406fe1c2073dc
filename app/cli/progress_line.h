// SPDX-License-Identifier: GPL-3.0-or-later
// Progress on a terminal, and Ctrl-C.
#pragma once

#include "core/base/progress.h"

#include <chrono>
#include <mutex>

namespace kerf::cli {

/// While it lives, `progress` writes one line on stderr (only where that is a terminal) and Ctrl-C
/// or SIGTERM cancels it; a second signal ends the program at once. One at a time.
class ProgressLine {
public:
    explicit ProgressLine(Progress& progress);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

private:
    void show(double fraction, std::string_view what);

    Progress& progress_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point shown_at_{};
    bool shown_ = false;
};

/// Removes the line before anything else is written to the terminal.
void clearProgressLine();

} // namespace kerf::cli

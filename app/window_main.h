// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kerf::app {

/// Opens the window, with `file` (project or recording) if not empty, and runs until it is closed.
/// Returns an exit code; cli::kNoDisplay after a message where there is no display.
int runWindow(int argc, char** argv, const std::string& file);

/// True where a window can be shown: a display server is announced, or the caller chose a platform.
bool hasDisplay();

} // namespace kerf::app

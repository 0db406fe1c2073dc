// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a program as if it had been started by the shell: its output, its signals and its end are
// its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kerf::collector {

struct Ended {
    int exit_code = 0; ///< of the program, where no signal ended it
    int signal = 0;    ///< that ended it; 0: none
    std::string error; ///< why it could not be started; empty: it was
};

/// Starts `arguments` with `variables` added to the environment, passes on the signals that this
/// process gets, and waits. `owner_variable` is set to the number of the program's process.
[[nodiscard]] Ended launch(const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& variables,
                           const std::string& owner_variable);

/// Ends this process as the program has ended: with its exit code, or by its signal.
[[noreturn]] void endAs(const Ended& ended);

} // namespace kerf::collector

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kerf::lab {

struct Arguments {
    std::string output; ///< hardware file to write
    std::string base;   ///< hardware file whose unmeasured figures are kept; may be empty
    int device = 0;
    bool quick = false; ///< fewer repeats: shows that all works, too noisy to publish
};

/// What the command line asks for, or what to print and the exit code (0 for --help, 2 for a
/// mistake).
struct ParsedArguments {
    bool run = false;
    Arguments arguments;
    int exit_code = 0;
    std::string text;
};
[[nodiscard]] ParsedArguments parseArguments(int argc, const char* const* argv);

} // namespace kerf::lab

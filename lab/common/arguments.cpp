// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/arguments.h"

#include <CLI/CLI.hpp>

namespace kerf::lab {

ParsedArguments parseArguments(int argc, const char* const* argv) {
    ParsedArguments parsed;
    Arguments& arguments = parsed.arguments;
    CLI::App app{"Measures on this machine's GPU what Kerf's predictions are made of.", "kerf-lab"};
    app.require_subcommand(1);
    CLI::App* calibrate =
        app.add_subcommand("calibrate", "Measure launch, event, dispatch and bandwidth costs");
    calibrate->add_option("-o,--output", arguments.output, "Hardware file to write")->required();
    calibrate
        ->add_option("--base", arguments.base,
                     "Hardware file whose figures are kept where this program measures none")
        ->check(CLI::ExistingFile);
    calibrate->add_option("--device", arguments.device, "CUDA device, from 0")
        ->check(CLI::Range(0, 1023));
    calibrate->add_flag("--quick", arguments.quick, "Fewer repeats: a trial, not for publication");
    try {
        app.parse(argc, argv);
        parsed.run = true;
    } catch (const CLI::Success&) {
        parsed.text = calibrate->parsed() ? calibrate->help() : app.help();
    } catch (const CLI::ParseError& error) {
        parsed.exit_code = 2;
        parsed.text = std::string("kerf-lab: ") + error.what() +
                      "\nRun kerf-lab --help for the verbs and kerf-lab VERB --help for options.\n";
    }
    return parsed;
}

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
// kerf: a verb of the command line, or the window.
#include "app/cli/exit_codes.h"
#include "app/cli/progress_line.h"
#include "app/cli/verb.h"
#include "app/window_main.h"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
    using namespace kerf;
    CLI::App app{"Kerf: where to cut a streaming model into megakernels, before anyone writes one.",
                 "kerf"};
    app.set_version_flag("--version", "kerf " KERF_VERSION);
    app.footer(std::string("kerf PROJECT opens the window; so does kerf alone.\n") +
               cli::kExitCodeHelp);
    app.require_subcommand(0, 1);
    std::string file;
    app.add_option("project", file, "Project (*.kerf) or recording to open in the window")
        ->type_name("PROJECT");

    cli::Action action;
    cli::addImport(app, action);
    cli::addInfo(app, action);
    cli::addExport(app, action);
    cli::addReplay(app, action);
    cli::addPredict(app, action);
    cli::addSearch(app, action);
    cli::addCategories(app, action);
    cli::addReport(app, action);
    cli::addValidate(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "kerf: {} Run kerf --help, or kerf VERB --help.\n", error.what());
        return cli::kUsage;
    }
    if (!action) {
        return app::runWindow(argc, argv, file);
    }
    Progress progress;
    const cli::ProgressLine line(progress);
    return action(progress);
}

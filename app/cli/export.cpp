// SPDX-License-Identifier: GPL-3.0-or-later
// kerf export: a recording for other tools.
#include "core/trace/export.h"
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/verb.h"
#include "core/base/atomic_file.h"
#include "core/trace/reader.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

struct Options {
    std::string file;
    std::string output;
    bool perfetto = false;
    bool csv = false;
};

int run(const Options& options, Progress& progress) {
    std::error_code ignored;
    if (std::filesystem::equivalent(options.file, options.output, ignored)) {
        return explain({"the output is the recording itself", options.output, "Name another file."},
                       kBadInput, progress);
    }
    const auto recording = trace::readRecording(options.file, progress);
    if (!recording) {
        return explain(recording.error(), kBadInput, progress);
    }
    const std::string content =
        options.perfetto ? trace::toChromeTrace(*recording) : trace::toCsv(*recording);
    if (auto written = writeFileAtomically(options.output, content); !written) {
        return explain(written.error(), kBadInput, progress);
    }
    return print(fmt::format("{} activities, {} host calls, {} annotations → {}\n",
                             recording->activities.size(), recording->api_calls.size(),
                             recording->annotations.size(), options.output));
}

} // namespace

void addExport(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("export", "Write a recording for other tools");
    verb->add_option("file", options->file, "Recording")->required()->type_name("FILE");
    auto* form = verb->add_option_group("form", "What to write");
    form->add_flag("--perfetto", options->perfetto,
                   "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing");
    form->add_flag("--csv", options->csv,
                   "One row an activity, host call and annotation; times in ns");
    form->require_option(1);
    verb->add_option("-o,--output", options->output, "File to write")
        ->required()
        ->type_name("FILE");
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

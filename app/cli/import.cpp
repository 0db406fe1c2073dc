// SPDX-License-Identifier: GPL-3.0-or-later
// kerf import: recordings → project file.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/verb.h"
#include "core/project/project.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

struct Options {
    std::vector<std::string> files;
    std::string output;
    project::ImportOptions import;
    std::string untraced;
    std::vector<std::string> benchmarks;
    Format format = Format::Table;
};

int run(const Options& options, Progress& progress) {
    project::ImportOptions import = options.import;
    import.untraced_file = options.untraced;
    import.benchmark_files.assign(options.benchmarks.begin(), options.benchmarks.end());
    auto project =
        project::importRecordings({options.files.begin(), options.files.end()}, import, progress);
    if (!project) {
        return explain(project.error(), kBadInput, progress);
    }
    if (auto written = project::writeProject(*project, options.output); !written) {
        return explain(written.error(), kBadInput, progress);
    }
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"untraced", "untraced", false},
                 {"file", "file", false}},
                {}};
    auto rows = nlohmann::ordered_json::array();
    for (const auto& entry : project->recordings) {
        const bool untraced = entry.untraced.first_output.has_value();
        table.rows.push_back({text(entry.model), integer(entry.batch),
                              text(untraced ? "yes" : "no"), text(entry.file)});
        rows.push_back({{"model", entry.model},
                        {"batch", entry.batch},
                        {"untraced", untraced},
                        {"file", entry.file}});
    }
    if (options.format == Format::Json) {
        return print(nlohmann::ordered_json{{"project", options.output}, {"recordings", rows}});
    }
    return print(table, options.format,
                 fmt::format("{} recordings → {}\n", project->recordings.size(), options.output));
}

} // namespace

void addImport(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("import", "Make a project of recordings");
    verb->add_option("files", options->files,
                     "Recordings, one a model and batch size (.json, .json.gz)")
        ->required()
        ->type_name("FILE");
    verb->add_option("-o,--output", options->output, "Project file to write")
        ->required()
        ->type_name("P.kerf");
    verb->add_option("--untraced", options->untraced,
                     "Timings of the same runs without tracing (docs/formats/untraced.md)")
        ->type_name("JSON");
    verb->add_option("--bench", options->benchmarks,
                     "Costs of tiles measured alone, in place of estimates (docs/formats/bench.md)")
        ->type_name("JSON")
        ->allow_extra_args(false)
        ->take_all();
    verb->add_option("--model", options->import.model,
                     "Model name, where file names are not MODEL_bBATCH.json")
        ->type_name("NAME");
    verb->add_option("--batch", options->import.batch, "Batch size, likewise")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    addFormatOptions(*verb, options->format);
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

// SPDX-License-Identifier: GPL-3.0-or-later
// kerf import: recordings → project file.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/verb.h"
#include "core/project/project.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace kerf::cli {

namespace {

struct Options {
    std::vector<std::string> files;
    std::string output;
    project::ImportOptions import;
    std::string untraced;
    std::vector<std::string> benchmarks;
    std::vector<std::string> counters;
    Format format = Format::Table;
};

/// "MODEL:BATCH:FILE". Model names have no colon; file names may.
Expected<project::CounterEntry> counterEntry(const std::string& argument) {
    const auto first = argument.find(':');
    const auto second = first == std::string::npos ? first : argument.find(':', first + 1);
    project::CounterEntry entry;
    bool good = second != std::string::npos && first > 0 && second + 1 < argument.size();
    if (good) {
        entry.model = argument.substr(0, first);
        entry.file = argument.substr(second + 1);
        const char* const end = argument.data() + second;
        const auto [rest, status] = std::from_chars(argument.data() + first + 1, end, entry.batch);
        good = status == std::errc{} && rest == end && entry.batch > 0;
    }
    if (!good) {
        return fail(fmt::format("\"{}\" is not MODEL:BATCH:FILE", argument), "--ncu",
                    "Write for example --ncu llama-1b:1:counters.csv.");
    }
    return entry;
}

int run(const Options& options, Progress& progress) {
    project::ImportOptions import = options.import;
    import.untraced_file = options.untraced;
    import.benchmark_files.assign(options.benchmarks.begin(), options.benchmarks.end());
    for (const auto& argument : options.counters) {
        auto entry = counterEntry(argument);
        if (!entry) {
            return explain(entry.error(), kBadInput, progress);
        }
        import.counters.push_back(std::move(*entry));
    }
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
                     "Recordings, one a model and batch size (.kerfrec, .json, .json.gz)")
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
    verb->add_option("--ncu", options->counters,
                     "Counters of a recording's kernels, as ncu --csv writes them "
                     "(docs/formats/ncu.md)")
        ->type_name("MODEL:BATCH:CSV")
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

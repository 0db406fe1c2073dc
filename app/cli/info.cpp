// SPDX-License-Identifier: GPL-3.0-or-later
// kerf info: what a recording or a project holds.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/project_info.h"
#include "app/cli/verb.h"
#include "core/project/project.h"
#include "core/trace/reader.h"
#include "core/trace/summary.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

struct Options {
    std::string file;
    bool sites = false;
    bool ops = false;
    Format format = Format::Table;
};

/// Scalars and short lists of the summary as two columns; what is null is left out.
Table tableOf(const nlohmann::json& summary) {
    Table table{{{"what", "what", false}, {"value", "value", true}}, {}};
    for (const auto& [key, value] : summary.items()) {
        if (value.is_string()) {
            table.rows.push_back({text(key), text(value.get<std::string>())});
        } else if (value.is_primitive() && !value.is_null()) {
            table.rows.push_back({text(key), text(value.dump())});
        }
    }
    return table;
}

std::string healthOf(const trace::Health& health) {
    std::string lines;
    for (const auto& note : health.notes) {
        lines += fmt::format("health: {}\n", note);
    }
    return lines.empty() ? "health: no findings\n" : lines;
}

int runRecording(const Options& options, Progress& progress) {
    const auto recording = trace::readRecording(options.file, progress);
    if (!recording) {
        return explain(recording.error(), kBadInput, progress);
    }
    const nlohmann::json summary = toJson(trace::summarise(*recording));
    if (options.format == Format::Json) {
        return print(nlohmann::ordered_json(summary));
    }
    return print(tableOf(summary), options.format, healthOf(recording->health));
}

int runProject(const Options& options, Progress& progress) {
    const auto project = project::readProject(options.file);
    if (!project) {
        return explain(project.error(), kBadInput, progress);
    }
    const auto cases = project::loadCases(*project, progress);
    if (!cases) {
        return explain(cases.error(), kBadInput, progress);
    }
    if (options.format == Format::Json) {
        return print(options.ops ? opsJson(*cases) : projectJson(*project, *cases));
    }
    if (options.ops) {
        return print(opTable(*cases), options.format);
    }
    if (options.sites) {
        return print(siteTable(*cases), options.format);
    }
    const Table table = stageTable(*cases);
    return print(table, options.format, pathLines(*cases));
}

} // namespace

void addInfo(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("info", "Tell what a recording or a project holds");
    verb->add_option("file", options->file, "Recording, or project (*.kerf)")
        ->required()
        ->type_name("FILE");
    verb->add_flag("--sites", options->sites,
                   "Of a project: where the path may be cut (for predict --cuts)");
    verb->add_flag(
            "--ops", options->ops,
            "Of a project: what each op costs inside a megakernel, and where that comes from")
        ->excludes("--sites");
    addFormatOptions(*verb, options->format);
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) {
            const bool isProject = std::filesystem::path(options->file).extension() == ".kerf";
            return isProject ? runProject(*options, progress) : runRecording(*options, progress);
        };
    });
}

} // namespace kerf::cli

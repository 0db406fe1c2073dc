// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/selection.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

std::string listed(const project::Project& project) {
    std::string list;
    const std::string* model = nullptr;
    for (const auto& entry : project.recordings) {
        const bool same = model != nullptr && *model == entry.model;
        list += same ? fmt::format(", {}", entry.batch)
                     : fmt::format("{}{} at batch {}", list.empty() ? "" : "; ", entry.model,
                                   entry.batch);
        model = &entry.model;
    }
    return list.empty() ? "nothing" : list;
}

Expected<void> setPolicy(project::Project& project, const std::string& policy) {
    if (policy == "round-robin") {
        project.policy = sim::Policy::RoundRobin;
    } else if (policy == "balanced") {
        project.policy = sim::Policy::Balanced;
    } else if (policy == "queue") {
        project.policy = sim::Policy::DynamicQueue;
    } else if (!policy.empty()) {
        return fail(fmt::format("no policy is called \"{}\"", policy), "--policy",
                    "Give round-robin, balanced or queue.");
    }
    return {};
}

} // namespace

void addSelection(CLI::App& verb, Selection& selection) {
    verb.add_option("project", selection.project, "Project file (*.kerf)")
        ->required()
        ->type_name("PROJECT");
    verb.add_option("--model", selection.model, "Only this model")->type_name("NAME");
    verb.add_option("--batch", selection.batch, "Only this batch size")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
}

void addPolicy(CLI::App& verb, Selection& selection) {
    verb.add_option("--policy", selection.policy,
                    "How tiles are given to workers: round-robin, balanced or queue "
                    "(default: as the project says)")
        ->type_name("POLICY")
        ->check(CLI::IsMember({"round-robin", "balanced", "queue"}));
    verb.add_flag("--programmatic-boundaries", selection.programmatic_boundaries,
                  "Launch megakernels with programmatic edges: a smaller gap, and prologues "
                  "overlap the tail before them (estimated; default: as the project says)");
}

Expected<Loaded> load(const Selection& selection, Progress& progress) {
    auto project = project::readProject(selection.project);
    if (!project) {
        return tl::unexpected(project.error());
    }
    if (auto set = setPolicy(*project, selection.policy); !set) {
        return tl::unexpected(set.error());
    }
    project->programmatic_boundaries =
        project->programmatic_boundaries || selection.programmatic_boundaries;
    project::Project needed = *project;
    std::erase_if(needed.recordings, [&](const auto& entry) {
        return !selection.model.empty() && entry.model != selection.model;
    });
    const bool any =
        std::any_of(needed.recordings.begin(), needed.recordings.end(), [&](const auto& e) {
            return selection.batch == 0 || e.batch == selection.batch;
        });
    if (!any) {
        return fail("no recording matches --model and --batch", selection.project,
                    fmt::format("The project holds {}.", listed(*project)));
    }
    auto cases = project::loadCases(needed, progress);
    if (!cases) {
        return tl::unexpected(cases.error());
    }
    std::erase_if(*cases, [&](const auto& c) {
        return selection.batch != 0 && c->traced.batch != selection.batch;
    });
    return Loaded{std::move(*project), std::move(*cases)};
}

} // namespace kerf::cli

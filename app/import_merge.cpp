// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/import_merge.h"

#include <algorithm>

namespace kerf::app {

Expected<project::Project> merged(const project::Project& base, const project::Project& added) {
    project::Project all = base;
    for (auto& entry : all.recordings) {
        entry.file = project::pathOf(base, entry).string();
    }
    for (auto& file : all.benchmarks) {
        file = project::pathOf(base, file).string();
    }
    for (const auto& file : added.benchmarks) {
        all.benchmarks.push_back(project::pathOf(added, file).string());
    }
    for (auto& entry : all.counters) {
        entry.file = project::pathOf(base, entry.file).string();
    }
    for (auto entry : added.counters) {
        entry.file = project::pathOf(added, entry.file).string();
        all.counters.push_back(std::move(entry));
    }
    for (auto entry : added.recordings) {
        const bool known =
            std::any_of(all.recordings.begin(), all.recordings.end(), [&](const auto& have) {
                return have.model == entry.model && have.batch == entry.batch;
            });
        if (known) {
            return fail(
                fmt::format("the project already has {} at batch {}", entry.model, entry.batch),
                entry.file, "Rename the file, or start a new project.");
        }
        entry.file = project::pathOf(added, entry).string();
        all.recordings.push_back(std::move(entry));
    }
    std::sort(all.recordings.begin(), all.recordings.end(), [](const auto& a, const auto& b) {
        return std::tie(a.model, a.batch) < std::tie(b.model, b.batch);
    });
    for (const auto& [model, settings] : added.models) {
        all.models.try_emplace(model, settings);
    }
    if (all.name.empty()) {
        all.name = added.name;
    }
    return all;
}

Expected<project::Project> withUntraced(const project::Project& base,
                                        const std::filesystem::path& file) {
    project::Project all = base;
    std::optional<Error> first;
    bool any = false;
    for (auto& entry : all.recordings) {
        auto untraced = workload::readUntraced(file.string(), entry.model, entry.batch);
        if (untraced) {
            entry.untraced = std::move(*untraced);
            any = true;
        } else if (!first) {
            first = untraced.error();
        }
    }
    if (!any) {
        return first
                   ? tl::unexpected(*first)
                   : fail("there are no recordings yet", file.string(), "Import recordings first.");
    }
    return all;
}

} // namespace kerf::app

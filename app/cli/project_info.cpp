// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/project_info.h"

#include "core/workload/branches.h"

#include <algorithm>

namespace kerf::cli {

namespace {

std::size_t tileOpsOf(const graph::Chain& chain, std::size_t stage) {
    return static_cast<std::size_t>(std::count_if(
        chain.ops.begin(), chain.ops.end(), [&](const auto& op) { return op.stage == stage; }));
}

std::string layersOf(const workload::Fold& fold) {
    return fold.count == 0 ? "–"
                           : fmt::format("{} + {} × {} + {}", fold.prefix, fold.period, fold.count,
                                         fold.suffix);
}

nlohmann::ordered_json stagesJson(const search::Case& one) {
    auto stages = nlohmann::ordered_json::array();
    for (std::size_t s = 0; s < one.corrected.stages.size(); ++s) {
        const auto& stage = one.corrected.stages[s];
        stages.push_back({{"name", stage.name},
                          {"ops", stage.ops.size()},
                          {"streams", workload::countBranches(stage).streams},
                          {"branches", workload::countBranches(stage).branches},
                          {"tile_ops", tileOpsOf(one.chain, s)},
                          {"layers", stage.fold.count},
                          {"layer_ops", stage.fold.period},
                          {"prefix_ops", stage.fold.prefix},
                          {"suffix_ops", stage.fold.suffix},
                          {"executions", stage.instances.size()},
                          {"us", workload::stageUs(stage)}});
    }
    return stages;
}

} // namespace

Table stageTable(const Cases& cases) {
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"stage", "stage", false},
                 {"ops", "ops", true},
                 {"streams", "streams", true},
                 {"branches", "branches", true},
                 {"ops as layers", "layers", true},
                 {"tile ops", "tile_ops", true},
                 {"executions", "executions", true},
                 {"time ms", "us", true}},
                {}};
    for (const auto& one : cases) {
        for (std::size_t s = 0; s < one->corrected.stages.size(); ++s) {
            const auto& stage = one->corrected.stages[s];
            const auto count = workload::countBranches(stage);
            table.rows.push_back(
                {text(one->traced.model), integer(one->traced.batch), text(stage.name),
                 integer(static_cast<long long>(stage.ops.size())),
                 integer(static_cast<long long>(count.streams)),
                 integer(static_cast<long long>(count.branches)), text(layersOf(stage.fold)),
                 integer(static_cast<long long>(tileOpsOf(one->chain, s))),
                 integer(static_cast<long long>(stage.instances.size())),
                 number(workload::stageUs(stage), 3, 1e-3)});
        }
    }
    return table;
}

Table siteTable(const Cases& cases) {
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"passes", "passes", true},
                 {"key", "key", false},
                 {"where", "where", false}},
                {}};
    for (const auto& one : cases) {
        for (const auto& site : one->chain.sites) {
            table.rows.push_back({text(one->traced.model), integer(one->traced.batch),
                                  integer(site.passes), text(site.key), text(site.label)});
        }
    }
    return table;
}

Table opTable(const Cases& cases) {
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"key", "key", false},
                 {"role", "role", false},
                 {"tier", "tier", false},
                 {"tiles", "tiles", true},
                 {"bytes a tile", "load_bytes", true},
                 {"dependent bytes", "dependent_bytes", true},
                 {"a worker", "worker_dependent_bytes", true},
                 {"compute µs", "compute_us", true},
                 {"error ± %", "relative_error", true},
                 {"source", "source", false}},
                {}};
    for (const auto& one : cases) {
        for (const auto& op : one->chain.ops) {
            table.rows.push_back(
                {text(one->traced.model), integer(one->traced.batch), text(op.key),
                 text(std::string(workload::toString(op.role))),
                 text(std::string(graph::toString(op.tier))), integer(op.tile.tiles),
                 number(op.tile.load_bytes, 0), number(op.tile.dependent_bytes, 0),
                 number(op.tile.worker_dependent_bytes, 0), number(op.tile.compute_us, 3),
                 number(op.relative_error, 1, 100), text(op.source)});
        }
    }
    return table;
}

nlohmann::ordered_json opsJson(const Cases& cases) {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& one : cases) {
        for (const auto& op : one->chain.ops) {
            rows.push_back({{"model", one->traced.model},
                            {"batch", one->traced.batch},
                            {"key", op.key},
                            {"role", workload::toString(op.role)},
                            {"tier", graph::toString(op.tier)},
                            {"tiles", op.tile.tiles},
                            {"load_bytes", op.tile.load_bytes},
                            {"dependent_bytes", op.tile.dependent_bytes},
                            {"worker_dependent_bytes", op.tile.worker_dependent_bytes},
                            {"compute_us", op.tile.compute_us},
                            {"footprint",
                             {{"threads", op.footprint.threads},
                              {"registers", op.footprint.registers},
                              {"shared_bytes", op.footprint.shared_bytes}}},
                            {"relative_error", op.relative_error},
                            {"source", op.source}});
        }
    }
    return rows;
}

std::string pathLines(const Cases& cases) {
    std::string lines;
    for (const auto& one : cases) {
        const auto& workload = one->traced;
        lines += fmt::format("{} batch {}: {}; {} requests recorded, {} dropped records\n",
                             workload.model, workload.batch,
                             workload::formatPath(workload, workload.path), workload.requests,
                             one->dropped);
        for (const auto& finding : one->health) {
            lines += fmt::format("  health: {}\n", finding);
        }
        for (const auto& note : workload.notes) {
            lines += fmt::format("  assumed: {}\n", note);
        }
    }
    return lines;
}

nlohmann::ordered_json projectJson(const project::Project& project, const Cases& cases) {
    auto recordings = nlohmann::ordered_json::array();
    for (const auto& one : cases) {
        const auto& workload = one->traced;
        auto sites = nlohmann::ordered_json::array();
        for (const auto& site : one->chain.sites) {
            sites.push_back({{"key", site.key}, {"label", site.label}, {"passes", site.passes}});
        }
        recordings.push_back({{"model", workload.model},
                              {"batch", workload.batch},
                              {"hardware", one->hardware.name},
                              {"path", workload::formatPath(workload, workload.path)},
                              {"requests", workload.requests},
                              {"dropped", one->dropped},
                              {"tile_ops", one->chain.ops.size()},
                              {"stages", stagesJson(*one)},
                              {"sites", std::move(sites)},
                              {"health", one->health},
                              {"notes", workload.notes}});
    }
    return {{"project", project.file.string()},
            {"name", project.name},
            {"recordings", std::move(recordings)}};
}

} // namespace kerf::cli

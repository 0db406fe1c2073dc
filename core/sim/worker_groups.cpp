// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/worker_groups.h"

#include <algorithm>

namespace kerf::sim {

std::vector<WorkerGroup> groupsOf(const RegionGraph& graph, const Machine& machine) {
    const auto has_finer_grain = [](const TileOp& op) {
        return std::any_of(op.depends_on.begin(), op.depends_on.end(),
                           [](const Dependency& on) { return on.grain != Grain::All; });
    };
    if (machine.policy != Policy::RoundRobin ||
        std::any_of(graph.ops.begin(), graph.ops.end(), has_finer_grain)) {
        return loneWorkers(machine);
    }
    // Of n tiles the first n mod W workers get one more than the others.
    const auto workers = static_cast<std::uint32_t>(machine.workers);
    std::vector<std::uint32_t> starts{0};
    for (const TileOp& op : graph.ops) {
        starts.push_back(op.tiles % workers);
    }
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    std::vector<WorkerGroup> groups;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::uint32_t end = i + 1 < starts.size() ? starts[i + 1] : workers;
        groups.push_back({starts[i], end - starts[i]});
    }
    return groups;
}

std::vector<WorkerGroup> loneWorkers(const Machine& machine) {
    std::vector<WorkerGroup> groups;
    for (std::uint32_t worker = 0; worker < static_cast<std::uint32_t>(machine.workers); ++worker) {
        groups.push_back({worker, 1});
    }
    return groups;
}

} // namespace kerf::sim

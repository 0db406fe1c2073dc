// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/region_graph.h"

#include <cstdint>
#include <vector>

namespace kerf::sim {

/// Neighbouring workers whose queues hold tiles of the same ops in the same order and that wait for
/// the same events: whatever happens to one happens to all at the same time. The engine moves them
/// as one.
struct WorkerGroup {
    std::uint32_t first = 0; ///< worker
    std::uint32_t count = 1;
};

/// Groups of a region's workers, in order; together all of them. Groups of more than one exist
/// where tiles go round robin and every dependency is on all tiles of its producer.
[[nodiscard]] std::vector<WorkerGroup> groupsOf(const RegionGraph& graph, const Machine& machine);

/// Each worker by itself.
[[nodiscard]] std::vector<WorkerGroup> loneWorkers(const Machine& machine);

} // namespace kerf::sim

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/chain.h"

namespace kerf::graph {

/// A region's ops in order with the loops over them, as the engine will run them.
struct Shape {
    std::vector<std::size_t> ops; ///< indices into Chain::ops
    std::vector<sim::Loop> loops;
};
/// `items` as from opsOf(): ops and loops, no sites.
[[nodiscard]] Shape shapeOf(const std::vector<Item>& items);

/// A region as a program for the engine.
[[nodiscard]] sim::RegionGraph lowerRegion(const Chain& chain, const Shape& shape);

/// What a worker must hold to run every op of a region: the most threads, the most shared memory,
/// and the registers of the greediest op spread over those threads (a tile may use all threads of
/// its worker; assumption, see docs/cost-model.md).
[[nodiscard]] cost::Footprint regionFootprint(const Chain& chain, const std::vector<Item>& items);

/// Conventional time of a region: durations and gaps of every execution. µs.
[[nodiscard]] double conventionalUs(const Chain& chain, const std::vector<Item>& items);

/// Calls visit(op index, executions) for every op item; executions counts enclosing loops.
template <class Visit>
void forEachOp(const std::vector<Item>& items, Visit&& visit, double times = 1) {
    for (const auto& item : items) {
        if (item.kind == Item::Kind::Op) {
            visit(item.index, times);
        } else if (item.kind == Item::Kind::Loop) {
            forEachOp(item.body, visit, times * item.count);
        }
    }
}

} // namespace kerf::graph

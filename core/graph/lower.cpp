// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/lower.h"

#include <algorithm>

namespace kerf::graph {

namespace {

void append(const Chain& chain, const std::vector<Item>& items, sim::RegionGraph& graph) {
    for (const auto& item : items) {
        if (item.kind == Item::Kind::Op) {
            graph.ops.push_back(chain.ops[item.index].tile);
        } else if (item.kind == Item::Kind::Loop) {
            const auto begin = static_cast<sim::OpIndex>(graph.ops.size());
            const auto slot = graph.loops.size();
            graph.loops.push_back({begin, begin, static_cast<std::uint32_t>(item.count)});
            append(chain, item.body, graph);
            graph.loops[slot].end = static_cast<sim::OpIndex>(graph.ops.size());
        }
    }
}

} // namespace

sim::RegionGraph lowerRegion(const Chain& chain, const std::vector<Item>& items) {
    sim::RegionGraph graph;
    append(chain, items, graph);
    return graph;
}

cost::Footprint regionFootprint(const Chain& chain, const std::vector<Item>& items) {
    cost::Footprint most;
    int registersABlock = 0;
    forEachOp(items, [&](std::size_t index, double) {
        const auto& footprint = chain.ops[index].footprint;
        most.threads = std::max(most.threads, footprint.threads);
        most.shared_bytes = std::max(most.shared_bytes, footprint.shared_bytes);
        registersABlock = std::max(registersABlock, footprint.threads * footprint.registers);
    });
    if (most.threads > 0) {
        most.registers = (registersABlock + most.threads - 1) / most.threads;
    }
    return most;
}

double conventionalUs(const Chain& chain, const std::vector<Item>& items) {
    double sum = 0;
    forEachOp(items, [&](std::size_t index, double times) {
        sum += times * chain.ops[index].conventional_us;
    });
    return sum;
}

} // namespace kerf::graph

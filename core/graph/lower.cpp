// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/lower.h"

#include <algorithm>

namespace kerf::graph {

namespace {

void append(const std::vector<Item>& items, Shape& shape) {
    for (const auto& item : items) {
        if (item.kind == Item::Kind::Op) {
            shape.ops.push_back(item.index);
        } else if (item.kind == Item::Kind::Loop) {
            const auto begin = static_cast<sim::OpIndex>(shape.ops.size());
            const auto slot = shape.loops.size();
            shape.loops.push_back({begin, begin, static_cast<std::uint32_t>(item.count)});
            append(item.body, shape);
            shape.loops[slot].end = static_cast<sim::OpIndex>(shape.ops.size());
        }
    }
}

} // namespace

Shape shapeOf(const std::vector<Item>& items) {
    Shape shape;
    append(items, shape);
    return shape;
}

sim::RegionGraph lowerRegion(const Chain& chain, const Shape& shape) {
    sim::RegionGraph graph;
    graph.ops.reserve(shape.ops.size());
    for (const std::size_t index : shape.ops) {
        const ChainOp& op = chain.ops[index];
        graph.ops.push_back(op.tile);
        if (op.follows != std::vector<std::uint32_t>{1}) { // not one of a chain
            auto& depends = graph.ops.back().depends_on;
            const auto grain = depends.empty() ? sim::Grain::All : depends.front().grain;
            depends.clear();
            for (const std::uint32_t distance : op.follows) {
                depends.push_back({distance, grain});
            }
        }
    }
    graph.loops = shape.loops;
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

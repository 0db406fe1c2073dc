// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/region_graph.h"

#include <cstdint>
#include <random>

namespace kerf::test {

struct RandomRegion {
    sim::RegionGraph graph;
    sim::Machine machine;
};

struct RandomShape {
    int workers = 6;
    int ops = 6;
    std::uint32_t tiles = 12;
    std::uint32_t iterations = 4; ///< most of a loop
    bool dynamic = true;          ///< may use the dynamic queue
    bool zero_costs = true;       ///< some costs are left out altogether
};

/// A small region with every feature in play. The same seed gives the same region.
inline RandomRegion randomRegion(std::uint32_t seed, const RandomShape& shape = {}) {
    std::mt19937 random(seed);
    const auto whole = [&](int least, int most) {
        return least + static_cast<int>(random() % static_cast<std::uint32_t>(most - least + 1));
    };
    const auto real = [&](double least, double most) {
        return least + (most - least) * (static_cast<double>(random()) / 4294967296.0);
    };
    const auto sometimes = [&](double value) {
        return shape.zero_costs && random() % 3 == 0 ? 0.0 : value;
    };

    RandomRegion region;
    auto& [graph, machine] = region;
    const int ops = whole(1, shape.ops);
    double largest = 1;
    for (int i = 0; i < ops; ++i) {
        sim::TileOp op;
        op.label = "op" + std::to_string(i);
        op.tiles = static_cast<std::uint32_t>(whole(1, static_cast<int>(shape.tiles)));
        op.load_bytes = sometimes(real(1e3, 4e4));
        op.dependent_bytes = sometimes(sometimes(real(1e2, 1e4)));
        op.worker_dependent_bytes = sometimes(real(1e2, 1e4));
        op.compute_us = sometimes(real(0.01, 2));
        op.depends_on.clear();
        for (int n = whole(0, 5) == 0 ? whole(0, 2) : 1; n > 0; --n) {
            op.depends_on.push_back(
                {.distance = static_cast<std::uint32_t>(whole(0, 3) == 0 ? whole(1, 4) : 1),
                 .grain = static_cast<sim::Grain>(whole(0, 3) == 0 ? whole(0, 2) : 0)});
        }
        largest = std::max(largest, op.load_bytes);
        graph.ops.push_back(op);
    }
    // Nested inward or side by side: [begin, end) and what fits inside it.
    for (std::uint32_t begin = 0, end = static_cast<std::uint32_t>(ops);
         begin < end && whole(0, 2) != 0;) {
        const auto from =
            static_cast<std::uint32_t>(whole(static_cast<int>(begin), static_cast<int>(end) - 1));
        const auto to =
            static_cast<std::uint32_t>(whole(static_cast<int>(from) + 1, static_cast<int>(end)));
        graph.loops.push_back(
            {from, to, static_cast<std::uint32_t>(whole(1, static_cast<int>(shape.iterations)))});
        begin = from;
        end = to;
        if (begin + 1 == end) {
            break;
        }
    }
    machine.workers = whole(1, shape.workers);
    machine.policy = static_cast<sim::Policy>(whole(0, shape.dynamic ? 2 : 1));
    machine.ring_bytes = largest * real(1, 5);
    machine.worker_gbps = real(20, 60);
    machine.memory_gbps = real(30, 200);
    machine.l2_gbps_per_worker = real(20, 60);
    machine.ramp_us = sometimes(real(0.1, 1));
    machine.dependent_latency_us = sometimes(real(0.1, 1));
    machine.dispatch_us = sometimes(real(0.01, 0.1));
    machine.queue_pop_us = sometimes(real(0.1, 0.5));
    machine.event_one_way_us = sometimes(real(0.1, 0.6));
    if (machine.policy == sim::Policy::DynamicQueue && machine.event_one_way_us == 0) {
        machine.event_one_way_us =
            0.2; // who takes first at one and the same instant is not defined
    }
    machine.event_fan_in_us = sometimes(real(0.1, 0.6));
    machine.look_ahead = whole(0, 3) != 0;
    machine.look_ahead_ops = whole(0, 1) == 0 ? 16 : static_cast<std::uint32_t>(whole(0, 4));
    machine.in_order_memory = whole(0, 1) == 0;
    return region;
}

} // namespace kerf::test

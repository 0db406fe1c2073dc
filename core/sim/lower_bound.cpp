// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/engine.h"
#include "core/sim/engine_state.h"
#include "core/sim/program.h"

#include <algorithm>
#include <cmath>

namespace kerf::sim {
namespace {

/// The earliest ends that dependencies alone allow for one execution.
struct Earliest {
    double first_us = 0; ///< of any tile
    double all_us = 0;   ///< of all tiles
};

/// What one op adds, whatever the schedule.
struct LeastCost {
    double tile_us = 0;   ///< consumer time of one tile
    double read_us = 0;   ///< a worker's activations
    double rounds_us = 0; ///< tiles that one worker must run after its first
    double load_us = 0;   ///< a load after the region's start
    double signal_us = 0; ///< latency of the complete event
};

LeastCost leastCost(const TileOp& op, const Machine& machine) {
    const double worker_rate =
        std::min(machine.worker_gbps, machine.memory_gbps) * kBytesPerUsPerGbps;
    LeastCost cost;
    cost.tile_us =
        (machine.policy == Policy::DynamicQueue ? machine.queue_pop_us : machine.dispatch_us) +
        op.compute_us + op.dependent_bytes / worker_rate;
    if (op.worker_dependent_bytes > 0 || op.dependent_bytes > 0) {
        cost.read_us += machine.dependent_latency_us;
    }
    if (op.worker_dependent_bytes > 0) {
        cost.read_us +=
            op.worker_dependent_bytes / (machine.l2_gbps_per_worker * kBytesPerUsPerGbps);
    }
    const auto workers = static_cast<std::uint32_t>(machine.workers);
    // Some worker runs at least this many of the tiles.
    const std::uint32_t rounds = (op.tiles + workers - 1) / workers;
    cost.rounds_us = (rounds - 1) * cost.tile_us;
    cost.load_us = op.load_bytes > 0 ? machine.ramp_us + op.load_bytes / worker_rate : 0;
    const double signals = std::min(op.tiles, workers);
    cost.signal_us = machine.event_one_way_us;
    if (signals > 1) {
        cost.signal_us += machine.event_fan_in_us * std::log2(signals) / std::log2(workers);
    }
    return cost;
}

/// Longest chain over dependencies. Loops settle: once an iteration only shifts the window of
/// executions that later ones can ask for, the rest of the loop is added at once.
double longestChainUs(const RegionGraph& graph, const Machine& machine) {
    std::vector<LeastCost> costs;
    std::uint64_t reach = 1;
    for (const TileOp& op : graph.ops) {
        costs.push_back(leastCost(op, machine));
        for (const Dependency& dependency : op.depends_on) {
            reach = std::max<std::uint64_t>(reach, dependency.distance);
        }
    }
    reach = std::min(reach, static_cast<std::uint64_t>(Program::executions(graph)));
    std::deque<Earliest> recent; // newest first, those within reach
    std::vector<OpIndex> recent_ops;
    double longest_us = 0;

    struct Settled {
        std::uint64_t entry = 0;
        bool known = false;
        std::deque<Earliest> recent;
    };
    std::vector<Settled> at_end(graph.loops.size());

    std::deque<OpIndex> producers; // ops of `recent`
    for (Program program(graph); !program.done();) {
        const TileOp& op = graph.ops[program.op()];
        const LeastCost& cost = costs[program.op()];
        double seen_last_us = 0;
        for (const Dependency& dependency : op.depends_on) {
            if (dependency.distance <= recent.size()) {
                const Earliest& producer = recent[dependency.distance - 1];
                const double seen_us =
                    dependency.grain == Grain::All
                        ? producer.all_us + costs[producers[dependency.distance - 1]].signal_us
                        : producer.first_us + machine.event_one_way_us;
                seen_last_us = std::max(seen_last_us, seen_us);
            }
        }
        const double first_us = std::max(cost.load_us, seen_last_us + cost.read_us) + cost.tile_us;
        recent.push_front({first_us, first_us + cost.rounds_us});
        producers.push_front(program.op());
        if (recent.size() > reach) {
            recent.pop_back();
            producers.pop_back();
        }
        longest_us = std::max(longest_us, recent.front().all_us);

        const std::vector<LoopIndex> closing(program.closing().begin(), program.closing().end());
        program.advance();
        for (const LoopIndex loop : closing) {
            if (program.done() || !program.inside(loop) || recent.size() < reach) {
                continue;
            }
            Settled& before = at_end[loop];
            if (before.known && before.entry == program.entry(loop)) {
                const double shift_us = recent.front().all_us - before.recent.front().all_us;
                const bool settled = std::equal(
                    recent.begin(), recent.end(), before.recent.begin(),
                    [shift_us](const Earliest& a, const Earliest& b) {
                        return std::abs(a.first_us - b.first_us - shift_us) < kSameTimeUs &&
                               std::abs(a.all_us - b.all_us - shift_us) < kSameTimeUs;
                    });
                if (settled) {
                    const std::uint32_t left = program.iterationsLeft(loop);
                    program.skip(loop, left);
                    for (Earliest& end : recent) {
                        end.first_us += left * shift_us;
                        end.all_us += left * shift_us;
                    }
                    longest_us += left * shift_us;
                    // What inner loops remember lies before the skipped time.
                    std::for_each(at_end.begin() + loop, at_end.end(),
                                  [](Settled& inner) { inner.known = false; });
                    continue;
                }
            }
            before = {program.entry(loop), true, recent};
        }
    }
    return longest_us;
}

} // namespace

double lowerBoundUs(const RegionGraph& graph, const Machine& machine) {
    double loaded_bytes = 0;
    double dependent_bytes = 0;
    double work_us = 0;
    for (OpIndex index = 0; index < graph.ops.size(); ++index) {
        const TileOp& op = graph.ops[index];
        double tiles = op.tiles;
        for (const Loop& loop : graph.loops) {
            if (index >= loop.begin && index < loop.end) {
                tiles *= loop.iterations;
            }
        }
        loaded_bytes += tiles * op.load_bytes;
        dependent_bytes += tiles * op.dependent_bytes;
        work_us += tiles * leastCost(op, machine).tile_us;
    }
    // A worker's loader and its consumer may read at the same time, each at the worker's rate.
    const double memory_rate = machine.memory_gbps * kBytesPerUsPerGbps;
    const double workers_rate = machine.worker_gbps * machine.workers * kBytesPerUsPerGbps;
    return std::max({(loaded_bytes + dependent_bytes) / memory_rate, loaded_bytes / workers_rate,
                     dependent_bytes / workers_rate, work_us / machine.workers,
                     longestChainUs(graph, machine)});
}

} // namespace kerf::sim

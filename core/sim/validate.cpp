// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/validate.h"

#include "core/sim/program.h"

#include <cmath>
#include <limits>

namespace kerf::sim {
namespace {

constexpr double kMostExecutions = 4e9;
constexpr double kMostTiles = 9e15; ///< counted exactly by a double and by 64 bits

bool isCost(double value) {
    return std::isfinite(value) && value >= 0;
}

std::string nameOf(const RegionGraph& graph, std::size_t op) {
    return fmt::format("op {} \"{}\"", op, graph.ops[op].label);
}

Expected<void> validateMachine(const Machine& machine) {
    if (machine.workers < 1 || machine.workers > 1'000'000) {
        return fail(
            fmt::format("{} workers: a region needs between 1 and 1,000,000", machine.workers));
    }
    if (!(machine.memory_gbps > 0) || !(machine.worker_gbps > 0) ||
        !std::isfinite(machine.memory_gbps) || !std::isfinite(machine.worker_gbps)) {
        return fail(fmt::format("bandwidth must be positive: {} GB/s for all workers, {} for one",
                                machine.memory_gbps, machine.worker_gbps));
    }
    const std::pair<const char*, double> costs[] = {
        {"ring_bytes", machine.ring_bytes},
        {"ramp_us", machine.ramp_us},
        {"l2_gbps_per_worker", machine.l2_gbps_per_worker},
        {"dependent_latency_us", machine.dependent_latency_us},
        {"dispatch_us", machine.dispatch_us},
        {"queue_pop_us", machine.queue_pop_us},
        {"event_one_way_us", machine.event_one_way_us},
        {"event_fan_in_us", machine.event_fan_in_us},
    };
    for (const auto& [name, value] : costs) {
        if (!isCost(value)) {
            return fail(
                fmt::format("machine: {} is {}; it must be finite and not negative", name, value));
        }
    }
    return {};
}

Expected<void> validateOp(const RegionGraph& graph, std::size_t index, const Machine& machine) {
    const TileOp& op = graph.ops[index];
    if (op.tiles == 0) {
        return fail(fmt::format("{} has no tiles", nameOf(graph, index)), {},
                    "Leave the op out, or give it one tile without cost.");
    }
    const std::pair<const char*, double> costs[] = {
        {"load_bytes", op.load_bytes},
        {"dependent_bytes", op.dependent_bytes},
        {"worker_dependent_bytes", op.worker_dependent_bytes},
        {"compute_us", op.compute_us},
    };
    for (const auto& [name, value] : costs) {
        if (!isCost(value)) {
            return fail(fmt::format("{}: {} is {}; it must be finite and not negative",
                                    nameOf(graph, index), name, value));
        }
    }
    if (op.load_bytes > machine.ring_bytes) {
        return fail(fmt::format("{}: a tile loads {:.0f} bytes, the ring of a worker holds {:.0f}",
                                nameOf(graph, index), op.load_bytes, machine.ring_bytes),
                    {}, "Use smaller tiles, or a region with fewer workers an SM.");
    }
    if (op.worker_dependent_bytes > 0 && !(machine.l2_gbps_per_worker > 0)) {
        return fail(fmt::format("{} reads activations, but the L2 bandwidth is {} GB/s a worker",
                                nameOf(graph, index), machine.l2_gbps_per_worker));
    }
    for (const Dependency& dependency : op.depends_on) {
        if (dependency.distance == 0) {
            return fail(
                fmt::format("{} waits for itself (dependency distance 0): this wait can never "
                            "be met",
                            nameOf(graph, index)),
                {}, "Distances count executions back from the op and start at 1.");
        }
    }
    return {};
}

Expected<void> validateLoops(const RegionGraph& graph) {
    for (std::size_t i = 0; i < graph.loops.size(); ++i) {
        const Loop& loop = graph.loops[i];
        if (loop.begin >= loop.end || loop.end > graph.ops.size()) {
            return fail(fmt::format("loop {} covers ops [{}, {}) of {}", i, loop.begin, loop.end,
                                    graph.ops.size()));
        }
        if (loop.iterations == 0) {
            return fail(fmt::format("loop {} over ops [{}, {}) has no iterations", i, loop.begin,
                                    loop.end));
        }
        for (std::size_t j = 0; j < i; ++j) {
            const Loop& before = graph.loops[j];
            const bool sorted =
                before.begin < loop.begin || (before.begin == loop.begin && before.end >= loop.end);
            const bool nested = loop.end <= before.end;
            const bool apart = loop.begin >= before.end;
            if (!sorted || !(nested || apart)) {
                return fail(
                    fmt::format("loops [{}, {}) and [{}, {}) do not nest, or are not sorted by "
                                "begin with the outer first",
                                before.begin, before.end, loop.begin, loop.end));
            }
        }
    }
    return {};
}

} // namespace

Expected<void> validate(const RegionGraph& graph, const Machine& machine) {
    if (auto ok = validateMachine(machine); !ok) {
        return ok;
    }
    if (graph.ops.size() > std::numeric_limits<OpIndex>::max() / 2) {
        return fail(fmt::format("{} ops are more than a region can hold", graph.ops.size()));
    }
    for (std::size_t op = 0; op < graph.ops.size(); ++op) {
        if (auto ok = validateOp(graph, op, machine); !ok) {
            return ok;
        }
    }
    if (auto ok = validateLoops(graph); !ok) {
        return ok;
    }
    double most_tiles = 1;
    for (const TileOp& op : graph.ops) {
        most_tiles = std::max(most_tiles, static_cast<double>(op.tiles));
    }
    const double executions = Program::executions(graph);
    if (executions > kMostExecutions || executions * most_tiles > kMostTiles) {
        return fail(fmt::format("{} op executions of up to {} tiles are more than can be counted",
                                executions, most_tiles),
                    {}, "Check the loops' iterations.");
    }
    return {};
}

} // namespace kerf::sim

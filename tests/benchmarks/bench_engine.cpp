// SPDX-License-Identifier: GPL-3.0-or-later
// Tiles a second of the engine. Items are tiles of the region; nothing is skipped.
#include "core/sim/engine.h"

#include <benchmark/benchmark.h>

using namespace kerf::sim;

namespace {

/// The figures of an H200 with one block an SM.
Machine h200(Policy policy) {
    Machine machine;
    machine.workers = 132;
    machine.policy = policy;
    machine.ring_bytes = 196'608;
    machine.worker_gbps = 59;
    machine.memory_gbps = 4600;
    machine.l2_gbps_per_worker = 41;
    machine.ramp_us = 0.6;
    machine.dependent_latency_us = 0.7;
    machine.dispatch_us = 0.05;
    machine.queue_pop_us = 0.7;
    machine.event_one_way_us = 0.355;
    machine.event_fan_in_us = 0.604;
    return machine;
}

/// A decoder's layers: attention and products of several sizes, every op waiting for the one
/// before, all loads sharing the memory. About `tiles` tiles, none skipped.
RegionGraph layers(std::int64_t tiles, Grain grain) {
    RegionGraph graph;
    std::uint32_t index = 0;
    for (std::int64_t left = tiles; left > 0;) {
        for (const std::uint32_t count : {384U, 128U, 256U, 1024U, 256U}) {
            TileOp op;
            op.tiles = count;
            op.load_bytes = count == 128 ? 0 : 32'768 - 64.0 * (index % 7);
            op.dependent_bytes = count == 128 ? 16'384 : 0;
            op.worker_dependent_bytes = 4096;
            op.compute_us = 0.5 + 0.01 * (index % 11);
            op.depends_on = {{.distance = 1, .grain = count == 1024 ? grain : Grain::All}};
            graph.ops.push_back(op);
            left -= count;
            ++index;
        }
    }
    return graph;
}

void simulateLayers(benchmark::State& state, Policy policy, Grain grain, bool group) {
    const RegionGraph graph = layers(state.range(0), grain);
    const Machine machine = h200(policy);
    std::uint64_t tiles = 0;
    for (auto _ : state) {
        const auto result =
            simulate(graph, machine, {.group_workers = group, .skip_periods = false});
        benchmark::DoNotOptimize(result->makespan_us);
        tiles += result->tiles;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(tiles));
}

} // namespace

// Every worker by itself: what regions cost where equal workers cannot be grouped.
BENCHMARK_CAPTURE(simulateLayers, one_by_one, Policy::RoundRobin, Grain::All, false)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulateLayers, grouped, Policy::RoundRobin, Grain::All, true)
    ->Arg(100'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulateLayers, aligned, Policy::RoundRobin, Grain::Aligned, true)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulateLayers, balanced, Policy::Balanced, Grain::All, true)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulateLayers, dynamic_queue, Policy::DynamicQueue, Grain::All, true)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

// SPDX-License-Identifier: GPL-3.0-or-later
// The discrete-event engine: one region on its workers. See docs/engine.md.
#pragma once

#include "core/base/error.h"
#include "core/sim/region_graph.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kerf::sim {

/// What a tile (or a stretch of the critical path) waited for last.
enum class Bound : std::uint8_t {
    Compute,   ///< the worker's previous tile, or its own compute
    Bandwidth, ///< its data, while the loader was busy
    Event,     ///< its event (signal, fan-in, observe, activation latency)
    Prologue,  ///< start of the region: ring set-up, first cold load
    Tail,      ///< end of the region: last signal
};
inline constexpr std::size_t kBounds = 5;
[[nodiscard]] std::string_view toString(Bound bound);

/// µs of the critical path by cause; sums to the makespan.
using Blame = std::array<double, kBounds>;

/// One executed tile. Times in µs from the region's start.
struct TileRecord {
    OpIndex op = 0;
    std::uint32_t tile = 0;
    std::uint32_t iteration = 0; ///< execution number of the op within the region
    std::uint32_t worker = 0;
    float load_start_us = 0;
    float load_end_us = 0;
    float start_us = 0; ///< consumer takes it
    float end_us = 0;   ///< consumer done, signal sent (it may take effect later)
    Bound bound = Bound::Compute;
    bool critical = false;
};

struct OpTiming {
    double first_start_us = 0; ///< first tile taken, first execution
    double first_end_us = 0;   ///< all tiles done, first execution
    double last_end_us = 0;    ///< the same, last execution
    double wait_us = 0;        ///< mean time a worker waited for the op's event, first execution
};

struct RegionResult {
    double makespan_us = 0; ///< start of the region until the last tile is done
    Blame blame{};
    std::vector<OpTiming> ops; ///< one an op of the graph
    std::vector<TileRecord>
        records;             ///< only with Options::record_tiles; skipped iterations leave none
    std::uint64_t tiles = 0; ///< executed, with those of skipped iterations
    std::uint64_t simulated_tiles = 0; ///< one for all equal workers of a group
    double loaded_bytes = 0;           ///< executed, with skipped iterations
};

struct Options {
    bool record_tiles = false;
    bool group_workers = true; ///< move equal workers as one; without effect on the result, and off
                               ///< where tiles are recorded
    bool skip_periods = true;  ///< skip loop iterations once two ends have the same relative state
};

/// Simulates one region. Deterministic: same input, same bits.
/// Errors: no workers or bandwidth; a tile larger than the ring; negative or non-finite cost (names
/// the op); loops that do not nest; a wait that can never be met (names the ops).
[[nodiscard]] Expected<RegionResult> simulate(const RegionGraph& graph, const Machine& machine,
                                              const Options& options = {});

/// No schedule is shorter: the greatest of bytes over bandwidth, work over workers and the longest
/// dependent chain (compute and event latencies). µs.
[[nodiscard]] double lowerBoundUs(const RegionGraph& graph, const Machine& machine);

} // namespace kerf::sim

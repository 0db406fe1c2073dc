// SPDX-License-Identifier: GPL-3.0-or-later
// Records of tiles, and the result.
#include "core/sim/engine_state.h"

#include <algorithm>

namespace kerf::sim {

constexpr std::size_t kMostBytesATile = 64;
static_assert(sizeof(TileRecord) + sizeof(std::int64_t) <= kMostBytesATile); // with its predecessor
static_assert(sizeof(TileMark) <= kMostBytesATile);

void Engine::record(std::uint32_t worker, const Cursor& tile) {
    Worker& w = workers_[worker];
    const Execution& run = execution(tile.execution);
    TileRecord entry{.op = run.op,
                     .tile = tile.tile,
                     .iteration = run.number,
                     .worker = worker,
                     .start_us = static_cast<float>(w.start_us + skipped_us_),
                     .end_us = static_cast<float>(now_us_ + skipped_us_),
                     .bound = w.bound};
    if (costs_[run.op].load_bytes > 0) {
        const auto [load_start_us, load_end_us] = load_times_[worker].front();
        load_times_[worker].pop_front();
        entry.load_start_us = static_cast<float>(load_start_us);
        entry.load_end_us = static_cast<float>(load_end_us);
    }
    w.run_record = static_cast<std::int64_t>(result_.records.size());
    result_.records.push_back(entry);
    predecessors_.push_back(w.start_record);
}

/// Walks back from the tile that ended last over what each tile waited for.
void Engine::markCritical(std::int64_t last) {
    for (std::int64_t at = last; at != kNone; at = predecessors_[at]) {
        result_.records[at].critical = true;
    }
}

RegionResult Engine::result() {
    const Worker& last =
        *std::max_element(workers_.begin(), workers_.end(),
                          [](const Worker& a, const Worker& b) { return a.free_us < b.free_us; });
    result_.makespan_us = last.free_us + skipped_us_;
    result_.blame = last.run_blame;
    for (std::size_t op = 0; op < result_.ops.size(); ++op) {
        result_.ops[op].wait_us /= std::max(1U, waited_[op]);
    }
    if (options_.record_tiles) {
        markCritical(last.run_record);
    }
    return std::move(result_);
}

} // namespace kerf::sim

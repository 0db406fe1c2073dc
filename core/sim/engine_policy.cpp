// SPDX-License-Identifier: GPL-3.0-or-later
// Which worker runs which tile, and how the program is unrolled as workers reach it.
#include "core/sim/engine_state.h"

#include <algorithm>
#include <cmath>

namespace kerf::sim {
namespace {

constexpr std::uint32_t kNoTile = std::numeric_limits<std::uint32_t>::max();
/// Work is counted in whole units of about a millionth of a microsecond: sums are exact, so equal
/// workers stay equal however often a loop repeats, and tiles without cost are spread too.
constexpr double kWorkUnitsPerUs = 1 << 20;

} // namespace

/// Adds the program's next execution to the window. False at the window's or the program's end.
bool Engine::generate() {
    if (program_.done() || generated_ > base_ + machine_.look_ahead_ops) {
        return false;
    }
    Execution& next = execution(generated_);
    next.op = program_.op();
    next.number = op_executions_[next.op]++;
    next.remaining = costs_[next.op].tiles;
    next.first_waiter = kNone;
    next.done_us = kNever;
    next.record = kNone;
    const auto closing = program_.closing();
    next.closes.assign(closing.begin(), closing.end());
    if (marks_tiles_) {
        next.marks.assign(next.remaining, TileMark{});
    }
    if (machine_.policy == Policy::Balanced) {
        assignBalanced(next);
    }
    if (generated_notes_ != nullptr) {
        generated_notes_->push_back({events_, next.op, program_.loopsEnded()});
    }
    program_.advance();
    ++generated_;
    return true;
}

/// Gives each tile to the worker with the least work so far, ties to the lowest worker.
void Engine::assignBalanced(Execution& next) {
    const OpCost& cost = costs_[next.op];
    const double fair_gbps =
        std::min(machine_.worker_gbps, machine_.memory_gbps / machine_.workers);
    const double fair_rate = fair_gbps * kBytesPerUsPerGbps;
    const double consumer_us = cost.take_us + cost.compute_us + cost.dependent_bytes / fair_rate;
    const double work_us = std::max(cost.load_bytes / fair_rate, consumer_us);
    const double work = std::max(1.0, std::round(work_us * kWorkUnitsPerUs));

    next.first_tile.assign(workers_count_, kNoTile);
    next.next_tile.assign(cost.tiles, kNoTile);
    last_tile_.resize(workers_count_);
    next.assignment_hash = 0;
    for (std::uint32_t tile = 0; tile < cost.tiles; ++tile) {
        const std::uint32_t worker = least_loaded_.top()->id;
        least_loaded_.take();
        assigned_work_[worker] += work;
        least_loaded_.push(assigned_work_[worker], worker);
        (next.first_tile[worker] == kNoTile ? next.first_tile[worker]
                                            : next.next_tile[last_tile_[worker]]) = tile;
        last_tile_[worker] = tile;
        next.assignment_hash = (next.assignment_hash ^ worker) * 0x9E3779B97F4A7C15U + 1;
    }
}

bool Engine::firstTile(const Execution& run, std::uint32_t worker, std::uint32_t& tile) const {
    if (machine_.policy == Policy::Balanced) {
        tile = run.first_tile[worker];
        return tile != kNoTile;
    }
    tile = workers_[worker].group.first;
    return tile < costs_[run.op].tiles;
}

/// Moves a worker's cursor to its next tile.
void Engine::advance(std::uint32_t worker, Cursor& cursor, bool loads_only) {
    const Execution& run = execution(cursor.execution);
    std::uint64_t next = std::uint64_t{cursor.tile} + workers_count_;
    std::uint64_t end = costs_[run.op].tiles;
    if (machine_.policy == Policy::Balanced) {
        next = run.next_tile[cursor.tile];
        end = kNoTile;
    }
    if (next < end) {
        cursor.tile = static_cast<std::uint32_t>(next);
        return;
    }
    ++cursor.execution;
    settle(worker, cursor, loads_only);
}

/// Puts a cursor on the worker's first tile at or after its execution, or parks it at the end of
/// the window. `loads_only` passes over ops without independent bytes.
void Engine::settle(std::uint32_t worker, Cursor& cursor, bool loads_only) {
    cursor.valid = false;
    cursor.parked = false;
    for (;; ++cursor.execution) {
        if (cursor.execution == generated_ && !generate()) {
            cursor.parked = !program_.done();
            anyone_parked_ = anyone_parked_ || cursor.parked;
            return;
        }
        const Execution& run = execution(cursor.execution);
        if ((!loads_only || costs_[run.op].load_bytes > 0) && firstTile(run, worker, cursor.tile)) {
            cursor.valid = true;
            return;
        }
    }
}

/// DynamicQueue: the worker takes the queue's next tile.
void Engine::takeNext(std::uint32_t worker) {
    Worker& w = workers_[worker];
    w.to_run.valid = false;
    w.to_run.parked = false;
    if (queue_.execution == generated_ && !generate()) {
        w.to_run.parked = !program_.done();
        anyone_parked_ = anyone_parked_ || w.to_run.parked;
        return;
    }
    w.to_run = {.execution = queue_.execution, .tile = queue_.tile, .valid = true, .parked = false};
    w.to_load = w.to_run;
    if (++queue_.tile == costs_[execution(queue_.execution).op].tiles) {
        queue_.tile = 0;
        ++queue_.execution;
    }
}

} // namespace kerf::sim

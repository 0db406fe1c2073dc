// SPDX-License-Identifier: GPL-3.0-or-later
// Events: when a tile's dependencies are met, who waits for them, and the window of executions that
// workers may touch.
#include "core/sim/engine_state.h"

#include <algorithm>

namespace kerf::sim {
namespace {

struct TileRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// The producer tiles that a consumer tile waits for: those that cover its share of the work
/// (Aligned), or the one at the start of it (OneToOne).
TileRange producersOf(Grain grain, std::uint64_t tile, std::uint64_t consumers,
                      std::uint64_t producers) {
    const std::uint64_t begin = tile * producers / consumers;
    if (grain == Grain::OneToOne) {
        return {begin, begin + 1};
    }
    return {begin, ((tile + 1) * producers + consumers - 1) / consumers};
}

} // namespace

double Engine::eventLatencyUs(std::uint64_t signals) const {
    return latency_by_signals_[std::min<std::uint64_t>(signals, workers_count_)];
}

/// Whether all events of the worker's next tile are signalled; if not, the worker joins the list of
/// those that wait for the first that is not.
bool Engine::resolveEvents(std::uint32_t worker) {
    Worker& w = workers_[worker];
    const std::vector<Dependency>& dependencies =
        graph_.ops[execution(w.to_run.execution).op].depends_on;
    for (; w.next_dependency < dependencies.size(); ++w.next_dependency) {
        const Dependency& dependency = dependencies[w.next_dependency];
        if (w.to_run.execution < dependency.distance) {
            continue; // beyond the region's start: the launch has satisfied it
        }
        if (!meet(worker, w.to_run.execution - dependency.distance, dependency.grain)) {
            return false;
        }
    }
    return true;
}

bool Engine::meet(std::uint32_t worker, std::uint64_t producer_index, Grain grain) {
    Worker& w = workers_[worker];
    Execution& producer = execution(producer_index);
    if (grain == Grain::All) {
        if (producer.done_us == kNever) {
            wait(worker, producer.first_waiter);
            return false;
        }
        see(worker, producer.done_us, costs_[producer.op].event_latency_us, producer.blame,
            producer.record);
        return true;
    }
    const TileRange range =
        producersOf(grain, w.to_run.tile, costs_[execution(w.to_run.execution).op].tiles,
                    costs_[producer.op].tiles);
    for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
        if (producer.marks[tile].done_us == kNever) {
            wait(worker, producer.marks[tile].first_waiter);
            return false;
        }
    }
    const double latency_us = eventLatencyUs(range.end - range.begin);
    for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
        const TileMark& mark = producer.marks[tile];
        see(worker, mark.done_us, latency_us, mark.blame, mark.record);
    }
    return true;
}

/// Notes a signalled event of the worker's next tile if it is the last to be seen.
void Engine::see(std::uint32_t worker, double signal_us, double latency_us, const Blame& blame,
                 std::int64_t record) {
    Worker& w = workers_[worker];
    const double seen_us = signal_us + latency_us;
    if (seen_us < now_us_ || seen_us < w.event_us) {
        return;
    }
    w.event_us = seen_us;
    w.signal_us = signal_us;
    w.event_blame = blame;
    w.event_record = record;
}

void Engine::wait(std::uint32_t worker, std::int32_t& first_waiter) {
    workers_[worker].waits = true;
    workers_[worker].next_waiter = first_waiter;
    first_waiter = static_cast<std::int32_t>(worker);
}

void Engine::wake(std::int32_t& first_waiter) {
    if (first_waiter == kNone) {
        return;
    }
    woken_.clear();
    for (std::int32_t at = first_waiter; at != kNone; at = workers_[at].next_waiter) {
        woken_.push_back(static_cast<std::uint32_t>(at));
    }
    first_waiter = kNone;
    if (dynamic_) {
        std::sort(woken_.begin(), woken_.end()); // they take from the queue in this order
    }
    for (const std::uint32_t worker : woken_) {
        workers_[worker].waits = false;
        tryStart(worker, Cause::Event);
    }
}

/// The worker signals the tile that it has ended just now. The signal takes effect at once, or
/// behind the loads that the ring has room for.
void Engine::signal(std::uint32_t worker, const Cursor& tile) {
    Worker& w = workers_[worker];
    const bool waits = machine_.in_order_memory && w.loads_done < w.loads_issued;
    PendingSignal now{.tile = tile,
                      .tiles = w.group.count,
                      .after_load = w.loads_issued,
                      .end_us = now_us_,
                      .blame = w.run_blame,
                      .record = w.run_record};
    if (!waits) {
        tilesSignalled(now);
        return;
    }
    if (!marks_tiles_ && !w.pending.empty() &&
        w.pending.back().tile.execution == tile.execution) { // only the last one matters
        now.tiles += w.pending.back().tiles;
        w.pending.back() = now;
        return;
    }
    w.pending.push_back(now);
}

/// Signals that the load just done has held up.
void Engine::signalPending(std::uint32_t worker) {
    std::deque<PendingSignal>& pending = workers_[worker].pending;
    while (!pending.empty() && pending.front().after_load <= workers_[worker].loads_done) {
        PendingSignal signal = pending.front();
        pending.pop_front();
        charge(signal.blame, Bound::Bandwidth, signal.end_us, now_us_);
        tilesSignalled(signal);
    }
}

void Engine::tilesSignalled(const PendingSignal& signal) {
    Execution& run = execution(signal.tile.execution);
    run.remaining -= signal.tiles;
    if (marks_tiles_) {
        TileMark& mark = run.marks[signal.tile.tile];
        mark.done_us = now_us_;
        mark.blame = signal.blame;
        mark.record = signal.record;
        wake(mark.first_waiter);
    }
    if (run.remaining == 0) {
        executionDone(signal.tile.execution, signal);
    }
}

void Engine::executionDone(std::uint64_t index, const PendingSignal& last) {
    Execution& run = execution(index);
    run.done_us = now_us_;
    run.blame = last.blame;
    run.record = last.record;
    if (options_.skip_periods && !run.closes.empty()) {
        closing_ = run.closes;
        closing_us_ = now_us_;
        closing_blame_ = run.blame;
    }
    wake(run.first_waiter);
    if (index == base_) {
        while (base_ < generated_ && execution(base_).remaining == 0) {
            ++base_;
        }
        if (anyone_parked_) {
            unpark(run.blame, run.record);
        }
    }
}

/// The window has moved on: lets the workers that stood at its end go on. All get their next tile
/// before any starts one, so that none takes two from a queue while another has none.
void Engine::unpark(const Blame& blame, std::int64_t record) {
    anyone_parked_ = false;
    woken_.clear();
    for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
        Worker& w = workers_[worker];
        if (!w.to_run.parked && !w.to_load.parked) {
            continue;
        }
        woken_.push_back(2 * worker + (w.to_run.parked ? 1 : 0));
        if (dynamic_) {
            takeNext(worker);
            continue;
        }
        if (w.to_run.parked) {
            settle(worker, w.to_run, false);
        }
        if (w.to_load.parked) {
            settle(worker, w.to_load, true);
        }
    }
    for (const std::uint32_t entry : woken_) {
        const std::uint32_t worker = entry / 2;
        const bool has_new_tile = entry % 2 == 1;
        Worker& w = workers_[worker];
        pumpLoader(worker, blame, record);
        if (has_new_tile && w.to_run.valid) {
            w.event_blame = blame;
            w.event_record = record;
            tryStart(worker, Cause::Window);
        }
    }
}

} // namespace kerf::sim

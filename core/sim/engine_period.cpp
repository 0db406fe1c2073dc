// SPDX-License-Identifier: GPL-3.0-or-later
// Skipping loop iterations. At the end of an iteration the whole state relative to now is compared
// with earlier ends of the same loop. Where two agree, and everything that was seen in between lay
// inside the loop, the future repeats what lay between them: as many whole periods as the program
// still has are added to the result instead of being simulated.
#include "core/sim/engine_state.h"

#include <algorithm>
#include <cmath>

namespace kerf::sim {
namespace {

constexpr std::size_t kHistory = 8;         ///< longest period that is found, in iterations
constexpr std::uint32_t kMostAttempts = 64; ///< a loop that has not settled by then is simulated

bool sameState(const Snapshot& a, const Snapshot& b) {
    return a.loop_entry == b.loop_entry && a.exact == b.exact &&
           std::equal(a.times_us.begin(), a.times_us.end(), b.times_us.begin(), b.times_us.end(),
                      [](double x, double y) { return std::abs(x - y) <= kSameTimeUs; });
}

} // namespace

void Engine::endIteration() {
    const std::vector<LoopIndex> closed = std::exchange(closing_, {});
    if (base_ < longest_distance_) {
        return; // dependencies still reach beyond the region's start
    }
    std::optional<Snapshot> state;
    for (const LoopIndex loop : closed) {
        std::deque<Snapshot>& history = history_[loop];
        if (!history.empty() && history.back().loop_entry != program_.entry(loop)) {
            history.clear();
            attempts_[loop] = 0;
        }
        if (program_.done() || !program_.inside(loop) || program_.iterationsLeft(loop) == 0 ||
            attempts_[loop] >= kMostAttempts) {
            continue;
        }
        ++attempts_[loop];
        if (!state) {
            state = snapshot();
        }
        Snapshot now = *state;
        now.loop_entry = program_.entry(loop);
        now.iteration = program_.iteration(loop);
        for (LoopIndex inner = loop + 1; inner < graph_.loops.size(); ++inner) {
            if (graph_.loops[inner].begin >= graph_.loops[loop].end) {
                break;
            }
            now.exact.push_back(program_.iteration(inner));
        }
        const auto same =
            std::find_if(history.rbegin(), history.rend(), [&](const Snapshot& before) {
                return before.iteration < now.iteration && sameState(before, now);
            });
        if (same != history.rend() && skip(loop, *same, now)) {
            // What inner loops remember lies before the skipped time.
            for (LoopIndex inner = loop; inner < graph_.loops.size(); ++inner) {
                history_[inner].clear();
            }
            return; // outer loops are looked at when their next iteration ends
        }
        history.push_back(std::move(now));
        if (history.size() > kHistory) {
            history.pop_front();
        }
    }
}

/// Leaves out as many whole periods between the two states as the loop still has.
bool Engine::skip(LoopIndex loop, const Snapshot& before, const Snapshot& now) {
    const std::uint32_t period = now.iteration - before.iteration;
    const std::uint32_t periods = program_.iterationsLeft(loop) / period;
    if (periods == 0) {
        return false;
    }
    program_.skip(loop, periods * period);
    const double times = periods;
    const double skipped_us = times * (now.at_us - before.at_us);
    skipped_us_ += skipped_us;
    result_.tiles += periods * (now.tiles - before.tiles);
    result_.loaded_bytes += times * (now.loaded_bytes - before.loaded_bytes);
    for (OpIndex op = graph_.loops[loop].begin; op < graph_.loops[loop].end; ++op) {
        op_executions_[op] += periods * (now.op_executions[op] - before.op_executions[op]);
        result_.ops[op].last_end_us += skipped_us;
    }
    // The executions under way are those of later iterations now.
    for (std::uint64_t index = base_; index < generated_; ++index) {
        Execution& run = execution(index);
        if (run.op >= graph_.loops[loop].begin && run.op < graph_.loops[loop].end) {
            run.number += periods * (now.op_executions[run.op] - before.op_executions[run.op]);
        }
    }
    Blame skipped{};
    for (std::size_t bound = 0; bound < kBounds; ++bound) {
        skipped[bound] = times * (now.blame[bound] - before.blame[bound]);
    }
    addToAllBlame(skipped);
    return true;
}

/// Every critical path that is still open has gone through the skipped periods.
void Engine::addToAllBlame(const Blame& blame) {
    const auto add = [&blame](Blame& into) {
        for (std::size_t bound = 0; bound < kBounds; ++bound) {
            into[bound] += blame[bound];
        }
    };
    for (Worker& worker : workers_) {
        add(worker.run_blame);
        add(worker.load_blame);
        add(worker.event_blame);
        for (PendingSignal& signal : worker.pending) {
            add(signal.blame);
        }
    }
    for (Execution& run : window_) {
        add(run.blame);
        for (TileMark& mark : run.marks) {
            add(mark.blame);
        }
    }
}

void Engine::appendWorker(const Worker& w, Snapshot& into) const {
    const auto cursor = [&](const Cursor& at) {
        into.exact.push_back((at.valid ? 1U : 0U) | (at.parked ? 2U : 0U));
        if (at.valid || at.parked) {
            into.exact.push_back(at.execution - base_);
            into.exact.push_back(at.valid ? at.tile : 0);
        }
    };
    cursor(w.to_load);
    cursor(w.to_run);
    cursor(w.running);
    into.exact.push_back(static_cast<std::uint64_t>(w.loader) << 32 |
                         static_cast<std::uint64_t>(w.consumer) << 16 | (w.waits ? 1U : 0U));
    into.exact.push_back(w.loads_ready);
    into.exact.push_back(w.loads_issued - w.loads_done);
    into.exact.push_back(w.pending.size());
    for (const PendingSignal& signal : w.pending) {
        into.exact.push_back(signal.tile.execution - base_);
        into.exact.push_back(signal.tile.tile);
        into.exact.push_back(signal.tiles);
        into.exact.push_back(signal.after_load - w.loads_done);
    }
    into.exact.push_back(w.next_dependency);
    const bool took_part =
        w.last_execution != std::numeric_limits<std::uint64_t>::max() && w.last_execution >= base_;
    into.exact.push_back(took_part ? w.last_execution - base_ + 1 : 0);

    for (const IssuedLoad& load : w.issued) {
        into.times_us.push_back(std::max(load.issued_us - now_us_, -machine_.ramp_us));
    }

    const double us_per_byte = 1 / (machine_.worker_gbps * kBytesPerUsPerGbps);
    into.times_us.push_back(w.ring_used * us_per_byte);
    into.times_us.push_back(w.to_run.valid ? std::max(0.0, w.event_us - now_us_) : 0);
    into.exact.push_back(w.taken_us < 0 ? 0 : 1);
    if (w.taken_us >= 0) { // a read that is over by now is over, however long ago
        const double read_us = costs_[window_[w.to_run.execution & window_mask_].op].first_us;
        into.times_us.push_back(std::max(w.taken_us - now_us_, -read_us));
    }
    const double served = memory_.served(now_us_);
    if (w.consumer == Consumer::Fetching) {
        into.times_us.push_back((w.fetch_key - served) * us_per_byte);
    } else if (w.consumer != Consumer::Idle) {
        into.times_us.push_back(w.timer_us - now_us_);
    }
    if (w.loader == Loader::Ramping) {
        into.times_us.push_back(w.ramp_end_us - now_us_);
    } else if (w.loader == Loader::Loading) {
        into.times_us.push_back((w.load_key - served) * us_per_byte);
    }
}

void Engine::appendWindow(Snapshot& into) {
    // A signal older than the slowest event has been seen by everyone.
    const double oldest_us = -(machine_.event_one_way_us + machine_.event_fan_in_us);
    const auto done = [&](double done_us) {
        into.exact.push_back(done_us == kNever ? 1 : 0);
        into.times_us.push_back(done_us == kNever ? 0 : std::max(done_us - now_us_, oldest_us));
    };
    for (std::uint64_t index = base_ - longest_distance_; index < generated_; ++index) {
        const Execution& run = execution(index);
        into.exact.push_back(run.op);
        into.exact.push_back(run.remaining);
        into.exact.push_back(run.assignment_hash);
        done(run.done_us);
        for (const TileMark& mark : run.marks) {
            done(mark.done_us);
        }
    }
}

Snapshot Engine::snapshot() {
    Snapshot state;
    state.blame = closing_blame_;
    state.at_us = closing_us_ + skipped_us_; // when that critical path ends, a hair before now
    state.tiles = result_.tiles;
    state.loaded_bytes = result_.loaded_bytes;
    state.op_executions = op_executions_;
    state.exact.reserve(16 * workers_.size() + 8 * window_.size());
    state.times_us.reserve(6 * workers_.size() + 2 * window_.size());
    state.exact.push_back(program_.op());
    state.exact.push_back(generated_ - base_);
    if (dynamic_) {
        state.exact.push_back(queue_.execution - base_);
        state.exact.push_back(queue_.tile);
    }
    if (!assigned_work_.empty()) {
        const double least_work = *std::min_element(assigned_work_.begin(), assigned_work_.end());
        for (const double assigned : assigned_work_) {
            state.times_us.push_back(assigned - least_work);
        }
    }
    for (const Worker& worker : workers_) {
        appendWorker(worker, state);
    }
    appendWindow(state);
    return state;
}

} // namespace kerf::sim

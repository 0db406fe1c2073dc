// SPDX-License-Identifier: GPL-3.0-or-later
// The event loop, and the loader and consumer of a worker. docs/engine.md defines what happens;
// tests/sim/reference_engine.h does the same slowly.
#include "core/sim/engine.h"

#include "core/sim/engine_state.h"
#include "core/sim/validate.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kerf::sim {
namespace {

/// Ids in the timer heap and the memory: consumer and loader of each worker.
constexpr std::uint32_t consumerId(std::uint32_t worker) {
    return 2 * worker;
}
constexpr std::uint32_t loaderId(std::uint32_t worker) {
    return 2 * worker + 1;
}

} // namespace

std::string_view toString(Bound bound) {
    switch (bound) {
    case Bound::Compute:
        return "compute";
    case Bound::Bandwidth:
        return "bandwidth";
    case Bound::Event:
        return "event";
    case Bound::Prologue:
        return "prologue";
    case Bound::Tail:
        return "tail";
    }
    return "unknown";
}

Engine::Engine(const RegionGraph& graph, const Machine& machine, const Options& options)
    : graph_(graph), machine_(machine), options_(options),
      workers_count_(static_cast<std::uint32_t>(machine.workers)),
      dynamic_(machine.policy == Policy::DynamicQueue), program_(graph),
      memory_(machine.memory_gbps * kBytesPerUsPerGbps, machine.worker_gbps * kBytesPerUsPerGbps),
      history_(graph.loops.size()), attempts_(graph.loops.size(), 0),
      op_executions_(graph.ops.size(), 0), waited_(graph.ops.size(), 0) {
    result_.ops.assign(graph.ops.size(), OpTiming{.first_start_us = -1});
    const bool grouped = options.group_workers && !options.record_tiles;
    for (const WorkerGroup& group : grouped ? groupsOf(graph, machine) : loneWorkers(machine)) {
        workers_.emplace_back().group = group;
    }
    latency_by_signals_.resize(workers_count_ + 1, machine.event_one_way_us);
    for (std::uint32_t signals = 2; signals <= workers_count_; ++signals) {
        latency_by_signals_[signals] +=
            machine.event_fan_in_us * std::log2(signals) / std::log2(workers_count_);
    }
    costs_.reserve(graph.ops.size());
    for (const TileOp& op : graph.ops) {
        const bool reads = op.worker_dependent_bytes > 0 || op.dependent_bytes > 0;
        const double l2_us =
            op.worker_dependent_bytes > 0
                ? op.worker_dependent_bytes / (machine.l2_gbps_per_worker * kBytesPerUsPerGbps)
                : 0;
        costs_.push_back({.tiles = op.tiles,
                          .load_bytes = op.load_bytes,
                          .dependent_bytes = op.dependent_bytes,
                          .take_us = dynamic_ ? machine.queue_pop_us : machine.dispatch_us,
                          .first_us = reads ? machine.dependent_latency_us + l2_us : 0,
                          .compute_us = op.compute_us,
                          .event_latency_us = eventLatencyUs(op.tiles)});
        for (const Dependency& dependency : op.depends_on) {
            longest_distance_ = std::max<std::uint64_t>(longest_distance_, dependency.distance);
            marks_tiles_ = marks_tiles_ || dependency.grain != Grain::All;
        }
    }
    longest_distance_ =
        std::min(longest_distance_, static_cast<std::uint64_t>(Program::executions(graph)));
    window_.resize(std::bit_ceil(longest_distance_ + machine.look_ahead_ops + 2));
    window_mask_ = window_.size() - 1;
    timers_.reserve(2 * workers_.size() + 1);
    memory_.reserve(2 * workers_.size() + 1);
    if (machine.policy == Policy::Balanced) {
        assigned_work_.assign(workers_count_, 0);
        for (std::uint32_t worker = 0; worker < workers_count_; ++worker) {
            least_loaded_.push(0, worker);
        }
    }
    if (options.record_tiles) {
        load_times_.resize(workers_count_);
    }
}

Expected<RegionResult> Engine::run() {
    start();
    runUntil(std::numeric_limits<std::uint64_t>::max());
    return end();
}

void Engine::start() {
    for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
        if (dynamic_) {
            takeNext(worker);
        } else {
            settle(worker, workers_[worker].to_run, false);
            settle(worker, workers_[worker].to_load, true);
        }
    }
    for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
        pumpLoader(worker, Blame{}, kNone);
        tryStart(worker, Cause::Launch);
    }
}

void Engine::runUntil(std::uint64_t event) {
    for (; events_ < event; ++events_) {
        const KeyHeap::Entry* timer = timers_.top();
        const double timer_us = timer != nullptr ? timer->key : kNever;
        const double load_us = memory_.nextEndUs();
        const double next_us = std::min(timer_us, load_us);
        if (!closing_.empty() && next_us > closing_us_ + kSameTimeUs) {
            endIteration();
        }
        if (next_us == kNever) {
            return;
        }
        now_us_ = std::max(now_us_, next_us);
        if (timer_us <= load_us) {
            const std::uint32_t id = timer->id;
            timers_.take();
            fireTimer(id / 2, id % 2 == 1);
        } else {
            const std::uint32_t id = memory_.next();
            Worker& worker = workers_[id / 2];
            memory_.end(now_us_, worker.group.count);
            if (id % 2 == 1) {
                endLoad(id / 2);
            } else {
                worker.fetched_us = now_us_;
                runOn(id / 2);
            }
        }
    }
}

Expected<RegionResult> Engine::end() {
    if (!program_.done() || base_ != generated_) {
        const std::string label =
            base_ < generated_ ? graph_.ops[execution(base_).op].label : std::string();
        return fail(fmt::format("op \"{}\" waits for an event that is never signalled", label));
    }
    return result();
}

void Engine::endAfter(const Beginning& beginning) {
    program_.endAfter(beginning);
    result_.ops.resize(beginning.ops);
    const auto is_cut = [&](LoopIndex loop) { return !isWhole(graph_.loops, beginning, loop); };
    std::erase_if(closing_, is_cut);
    for (Execution& run : window_) {
        std::erase_if(run.closes, is_cut);
    }
}

void Engine::setTimer(std::uint32_t worker, double at_us) {
    workers_[worker].timer_us = at_us;
    timers_.push(at_us, consumerId(worker));
}

/// Adds a stretch of the critical path. Once a worker has run out of work for good, what the others
/// still do is the tail.
void Engine::charge(Blame& blame, Bound bound, double from_us, double to_us) const {
    const double before_tail_us = std::clamp(tail_us_, from_us, to_us);
    blame[static_cast<std::size_t>(bound)] += before_tail_us - from_us;
    blame[static_cast<std::size_t>(Bound::Tail)] += to_us - before_tail_us;
}

void Engine::fireTimer(std::uint32_t worker, bool of_loader) {
    if (of_loader) {
        startLoad(worker);
        return;
    }
    Worker& w = workers_[worker];
    switch (w.consumer) {
    case Consumer::Starting:
        begin(worker);
        break;
    case Consumer::Waiting: // the latency of the dependent read is over
        w.fetch_us = now_us_;
        w.fetch_key =
            memory_.start(now_us_, costs_[execution(w.running.execution).op].dependent_bytes,
                          consumerId(worker), w.group.count);
        w.consumer = Consumer::Fetching;
        break;
    case Consumer::Running:
        endTile(worker);
        break;
    case Consumer::Idle:
    case Consumer::Fetching:
        break;
    }
}

/// Takes the next tile if the worker is free and its events are signalled, and starts it if its
/// data is there.
void Engine::tryStart(std::uint32_t worker, Cause cause) {
    Worker& w = workers_[worker];
    if (w.consumer != Consumer::Idle || !w.to_run.valid) {
        return;
    }
    const OpCost& cost = costs_[execution(w.to_run.execution).op];
    const bool has_data = cost.load_bytes == 0 || w.loads_ready > 0;
    if (has_data && w.only_event_missing_us < 0) {
        w.only_event_missing_us = now_us_;
    }
    const bool has_events = !w.waits && resolveEvents(worker);
    if (has_events && w.taken_us < 0) {
        w.taken_us = std::max(now_us_, w.event_us);
    }
    if (!has_data || !has_events) {
        return;
    }
    const bool waits_to_see = w.event_us > now_us_;
    w.cause = waits_to_see ? Cause::Event : cause;
    w.start_us = std::max(now_us_, w.event_us);
    w.consumer = Consumer::Starting;
    if (dynamic_ && waits_to_see) {
        setTimer(worker,
                 w.start_us); // the next tile of the queue is taken at the start, not before
    } else {
        begin(worker);
    }
}

/// The consumer has all that its tile needs, at start_us.
void Engine::begin(std::uint32_t worker) {
    Worker& w = workers_[worker];
    const Execution& run = execution(w.to_run.execution);
    const OpCost& cost = costs_[run.op];
    w.start_record = w.run_record;
    w.bound = Bound::Compute;
    if (w.cause == Cause::Launch) {
        w.bound = Bound::Prologue;
    } else if (w.cause == Cause::Data) {
        w.bound = w.loads_done == 1 ? Bound::Prologue : Bound::Bandwidth;
        w.run_blame = w.load_blame;
        w.start_record = w.load_record;
    } else if (w.cause == Cause::Event || w.cause == Cause::Window) {
        w.bound = Bound::Event;
        w.run_blame = w.event_blame;
        w.start_record = w.event_record;
    }
    const bool first = w.last_execution != w.to_run.execution;
    if (first && run.number == 0) {
        result_.ops[run.op].wait_us += w.group.count * (w.start_us - w.only_event_missing_us);
        waited_[run.op] += w.group.count;
    }
    if (result_.ops[run.op].first_start_us < 0) {
        result_.ops[run.op].first_start_us = w.start_us + skipped_us_;
    }
    w.last_execution = w.to_run.execution;
    if (cost.load_bytes > 0) {
        --w.loads_ready;
    }
    w.running = w.to_run;
    w.next_dependency = 0;
    w.event_us = 0;
    w.only_event_missing_us = -1;

    // The activations do not wait for the tile's data.
    w.activations_us = std::max(w.start_us, w.taken_us + (first ? cost.first_us : 0));
    const double ready_us = w.activations_us + cost.take_us;
    w.taken_us = -1;
    if (cost.dependent_bytes > 0) {
        w.consumer = Consumer::Waiting;
        setTimer(worker, ready_us);
    } else {
        w.consumer = Consumer::Running;
        w.fetch_us = ready_us;
        w.fetched_us = ready_us;
        setTimer(worker, ready_us + cost.compute_us);
    }
    if (!dynamic_) {
        advance(worker, w.to_run, false);
    } else {
        w.to_run.valid = false;
        w.to_load.valid = false;
        if (machine_.look_ahead) {
            Blame path = w.run_blame;
            if (w.cause == Cause::Event) {
                charge(path, Bound::Event, w.signal_us, w.start_us);
            }
            takeNext(worker);
            pumpLoader(worker, path, w.start_record);
        }
    }
}

/// The dependent read is done: computes.
void Engine::runOn(std::uint32_t worker) {
    Worker& w = workers_[worker];
    w.consumer = Consumer::Running;
    setTimer(worker, now_us_ + costs_[execution(w.running.execution).op].compute_us);
}

void Engine::endTile(std::uint32_t worker) {
    Worker& w = workers_[worker];
    const Cursor tile = w.running;
    const OpCost& cost = costs_[execution(tile.execution).op];
    if (w.cause == Cause::Event) {
        charge(w.run_blame, Bound::Event, w.signal_us, w.start_us);
    }
    charge(w.run_blame, Bound::Event, w.start_us, w.activations_us);
    charge(w.run_blame, Bound::Compute, w.activations_us, w.fetch_us);
    charge(w.run_blame, Bound::Bandwidth, w.fetch_us, w.fetched_us);
    charge(w.run_blame, Bound::Compute, w.fetched_us, now_us_);
    if (options_.record_tiles) {
        record(worker, tile);
    }
    w.free_us = now_us_;
    w.ring_used -= cost.load_bytes;
    ++result_.simulated_tiles;
    result_.tiles += w.group.count;
    result_.loaded_bytes += w.group.count * (cost.load_bytes + cost.dependent_bytes);
    noteEnd(execution(tile.execution));

    issueLoads(worker); // before the consumer moves on, and before anyone sees the signal
    w.consumer = Consumer::Idle;
    w.running.valid = false;
    signal(worker, tile);
    if (dynamic_ && !w.to_run.valid) {
        takeNext(worker);
    }
    if (tail_us_ == kNever && program_.done() && tile.execution + 1 == generated_ &&
        !w.to_run.valid) {
        tail_us_ = now_us_;
    }
    pumpLoader(worker, w.run_blame, w.run_record);
    tryStart(worker, Cause::Worker);
}

/// Notes the end of a tile of that execution.
void Engine::noteEnd(const Execution& run) {
    OpTiming& timing = result_.ops[run.op];
    timing.last_end_us = now_us_ + skipped_us_;
    if (run.number == 0) {
        timing.first_end_us = timing.last_end_us;
    }
}

/// Gives room in the ring to the worker's next tiles, as far as there is room.
void Engine::issueLoads(std::uint32_t worker) {
    Worker& w = workers_[worker];
    while (w.to_load.valid) {
        const double bytes = costs_[execution(w.to_load.execution).op].load_bytes;
        if (w.ring_used + bytes > machine_.ring_bytes || (dynamic_ && bytes == 0)) {
            return;
        }
        if (!machine_.look_ahead) {
            const bool between = w.consumer == Consumer::Idle || w.consumer == Consumer::Starting;
            const Cursor& at = between ? w.to_run : w.running;
            if (!at.valid || at.execution != w.to_load.execution) {
                return;
            }
        }
        w.ring_used += bytes;
        w.issued.push_back({bytes, now_us_});
        ++w.loads_issued;
        if (dynamic_) {
            w.to_load.valid = false; // the next one is taken from the queue when this tile starts
        } else {
            advance(worker, w.to_load, true);
        }
    }
}

/// Starts the worker's next load if there is room. `blame` and `record` are the critical path up to
/// what made it possible.
void Engine::pumpLoader(std::uint32_t worker, const Blame& blame, std::int64_t record) {
    Worker& w = workers_[worker];
    issueLoads(worker);
    if (w.loader != Loader::Idle || w.issued.empty()) {
        return;
    }
    w.load_bytes = w.issued.front().bytes;
    w.ramp_start_us = now_us_;
    w.ramp_end_us = w.issued.front().issued_us + machine_.ramp_us;
    w.issued.pop_front();
    if (now_us_ != w.load_end_us) {
        w.load_blame = blame;
        w.load_record = record;
    }
    if (w.ramp_end_us > now_us_) {
        w.loader = Loader::Ramping;
        timers_.push(w.ramp_end_us, loaderId(worker));
    } else {
        startLoad(worker);
    }
}

void Engine::startLoad(std::uint32_t worker) {
    Worker& w = workers_[worker];
    w.loader = Loader::Loading;
    w.load_start_us = now_us_;
    w.load_key = memory_.start(now_us_, w.load_bytes, loaderId(worker), w.group.count);
}

void Engine::endLoad(std::uint32_t worker) {
    Worker& w = workers_[worker];
    w.loader = Loader::Idle;
    charge(w.load_blame, w.loads_done == 0 ? Bound::Prologue : Bound::Bandwidth, w.ramp_start_us,
           w.load_start_us);
    charge(w.load_blame, Bound::Bandwidth, w.load_start_us, now_us_);
    if (options_.record_tiles) {
        load_times_[worker].emplace_back(w.ramp_start_us + skipped_us_, now_us_ + skipped_us_);
    }
    w.load_end_us = now_us_;
    ++w.loads_done;
    ++w.loads_ready;
    if (!dynamic_) {
        pumpLoader(worker, w.load_blame, w.load_record);
    }
    tryStart(worker, Cause::Data);
    signalPending(worker);
}

Expected<RegionResult> simulate(const RegionGraph& graph, const Machine& machine,
                                const Options& options) {
    if (auto ok = validate(graph, machine); !ok) {
        return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (graph.ops.empty()) {
        return RegionResult{};
    }
    return Engine(graph, machine, options).run();
}

} // namespace kerf::sim

// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's state: workers, the window of executions under way, and the two clocks (timers and
// the shared bandwidth). Private to core/sim.
#pragma once

#include "core/sim/beginnings.h"
#include "core/sim/engine.h"
#include "core/sim/key_heap.h"
#include "core/sim/program.h"
#include "core/sim/shared_bandwidth.h"
#include "core/sim/worker_groups.h"

#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kerf::sim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();
inline constexpr std::int32_t kNone = -1;
inline constexpr double kSameTimeUs = 1e-9; ///< times closer than this count as equal
inline constexpr double kBytesPerUsPerGbps = 1e3;

/// A tile of the program: an execution (numbered from the region's start) and a tile of its op.
struct Cursor {
    std::uint64_t execution = 0;
    std::uint32_t tile = 0;
    bool valid = false;  ///< stands on a tile
    bool parked = false; ///< waits for the window to move on
};

/// Why a tile or a load could begin when it did.
enum class Cause : std::uint8_t { Launch, Worker, Data, Event, Window };

enum class Loader : std::uint8_t { Idle, Ramping, Loading };
enum class Consumer : std::uint8_t { Idle, Starting, Waiting, Fetching, Running };

/// A tile that has its room in the ring and whose load has not started.
struct IssuedLoad {
    double bytes = 0;
    double issued_us = 0;
};

/// What a worker has signalled but nobody sees yet: it queues behind the worker's loads in flight.
struct PendingSignal {
    Cursor tile;
    std::uint32_t tiles = 1;      ///< of that execution; more than one where workers are grouped,
                                  ///< or where nobody asks for a single tile
    std::uint64_t after_load = 0; ///< takes effect when the worker has done so many loads
    double end_us = 0;            ///< of the tile
    Blame blame{};                ///< critical path up to that end
    std::int64_t record = kNone;
};

/// One worker, or a group of equal ones: then each of its times, cursors and bytes is that of every
/// worker of the group.
struct Worker {
    WorkerGroup group;
    Cursor to_load; ///< first tile that is not issued
    Cursor to_run;
    Cursor running;
    Loader loader = Loader::Idle;
    Consumer consumer = Consumer::Idle;

    double ring_used = 0; ///< bytes issued and not yet consumed
    std::deque<IssuedLoad> issued;
    std::uint64_t loads_issued = 0; ///< since the region's start
    std::deque<PendingSignal> pending;
    double load_bytes = 0;
    double load_key = 0;      ///< virtual time at which the load in progress ends
    double ramp_start_us = 0; ///< the loader turns to the load
    double ramp_end_us = 0;   ///< its first byte arrives
    double load_start_us = 0;
    double load_end_us = -1;       ///< of the last load; negative: none yet
    std::uint32_t loads_ready = 0; ///< in the ring, not yet taken by the consumer
    std::uint64_t loads_done = 0;

    std::uint32_t next_dependency = 0; ///< of to_run: those before it are met
    std::int32_t next_waiter = kNone;  ///< list of the workers that wait for the same event
    bool waits = false;                ///< is in such a list
    double event_us = 0;               ///< of to_run: the latest of its events is seen
    double signal_us = 0;              ///< when that event was signalled
    Blame event_blame{}; ///< critical path up to that signal, or up to the window's move
    std::int64_t event_record = kNone;
    double only_event_missing_us = -1;
    double taken_us = -1; ///< to_run: the worker is free and its events are seen; negative: not yet

    double free_us = 0; ///< end of the last tile
    double start_us = 0;
    double activations_us = 0; ///< they and the tile's data are there
    double fetch_us = 0;       ///< start of the dependent read
    double fetched_us = 0;     ///< its end
    double fetch_key = 0;
    double timer_us = 0;
    Cause cause = Cause::Launch;
    Bound bound = Bound::Prologue;
    std::uint64_t last_execution = std::numeric_limits<std::uint64_t>::max();

    Blame run_blame{};  ///< critical path up to `free_us`, or up to the start of the running tile
    Blame load_blame{}; ///< critical path up to the end of the last load
    std::int64_t run_record = kNone;
    std::int64_t load_record = kNone; ///< tile that made room for the load
    std::int64_t start_record = kNone;
};

/// A tile of an execution, kept while a finer dependency than "all" may ask for it.
struct TileMark {
    double done_us = kNever;
    std::int32_t first_waiter = kNone;
    std::int64_t record = kNone;
    Blame blame{};
};

struct Execution {
    OpIndex op = 0;
    std::uint32_t number = 0; ///< of this op
    std::uint32_t remaining = 0;
    std::int32_t first_waiter = kNone;
    double done_us = kNever;
    std::int64_t record = kNone;
    Blame blame{};
    std::vector<LoopIndex> closes;         ///< loops of which it ends an iteration
    std::vector<TileMark> marks;           ///< only in graphs with dependencies finer than "all"
    std::vector<std::uint32_t> first_tile; ///< Balanced: by worker
    std::vector<std::uint32_t> next_tile;  ///< Balanced: by tile, the same worker's next
    std::uint64_t assignment_hash = 0;
};

/// An op's costs in the engine's units.
struct OpCost {
    std::uint32_t tiles = 0;
    double load_bytes = 0;
    double dependent_bytes = 0;
    double take_us = 0;  ///< dispatch or queue pop
    double first_us = 0; ///< once a worker: latency and read of the activations
    double compute_us = 0;
    double event_latency_us = 0; ///< of its complete event
};

/// What is compared at iteration ends, and what is extrapolated when iterations are skipped.
struct Snapshot {
    std::uint64_t loop_entry = 0;
    std::uint32_t iteration = 0; ///< of the program, which runs ahead of the workers
    double at_us = 0;
    Blame blame{};
    std::uint64_t tiles = 0;
    double loaded_bytes = 0;
    std::vector<std::uint32_t> op_executions;
    std::vector<std::uint64_t> exact; ///< cursors, states, counts
    std::vector<double> times_us;     ///< relative to at_us; bytes as µs at one worker's rate
};

/// When an execution was generated, and how many of the loops that end with its op it ends, the
/// innermost first.
struct Generated {
    std::uint64_t event = 0; ///< as in Engine::events()
    OpIndex op = 0;
    std::uint32_t loops_ended = 0;
};

/// Copyable: a copy goes on from where the original is.
class Engine {
public:
    Engine(const RegionGraph& graph, const Machine& machine, const Options& options);
    Expected<RegionResult> run();

    // In steps, for simulateBeginnings(): start(), then runUntil() as often as wanted, then end().
    void start();
    /// Handles events up to, but without, the one of that number.
    void runUntil(std::uint64_t event);
    Expected<RegionResult> end();
    /// Events handled so far; those of start() count as none.
    [[nodiscard]] std::uint64_t events() const { return events_; }
    void noteGenerated(std::vector<Generated>& notes) { generated_notes_ = &notes; }
    /// Lets the program end after `beginning`, of which the last execution is not yet generated.
    void endAfter(const Beginning& beginning);

private:
    // engine.cpp: the event loop and the two servers of a worker.
    void endTile(std::uint32_t worker);
    void endLoad(std::uint32_t worker);
    void noteEnd(const Execution& run);
    void fireTimer(std::uint32_t worker, bool of_loader);
    void tryStart(std::uint32_t worker, Cause cause);
    void begin(std::uint32_t worker);
    void runOn(std::uint32_t worker);
    void issueLoads(std::uint32_t worker);
    void pumpLoader(std::uint32_t worker, const Blame& blame, std::int64_t record);
    void startLoad(std::uint32_t worker);
    void setTimer(std::uint32_t worker, double at_us);
    void charge(Blame& blame, Bound bound, double from_us, double to_us) const;

    // engine_events.cpp: events, their waiters and the window of executions.
    bool resolveEvents(std::uint32_t worker);
    bool meet(std::uint32_t worker, std::uint64_t producer_index, Grain grain);
    void see(std::uint32_t worker, double signal_us, double latency_us, const Blame& blame,
             std::int64_t record);
    void signal(std::uint32_t worker, const Cursor& tile);
    void signalPending(std::uint32_t worker);
    void tilesSignalled(const PendingSignal& signal);
    void executionDone(std::uint64_t index, const PendingSignal& last);
    void wake(std::int32_t& first_waiter);
    void wait(std::uint32_t worker, std::int32_t& first_waiter);
    void unpark(const Blame& blame, std::int64_t record);
    Execution& execution(std::uint64_t index) { return window_[index & window_mask_]; }
    double eventLatencyUs(std::uint64_t signals) const;

    // engine_policy.cpp: which worker runs which tile.
    bool generate();
    bool firstTile(const Execution& execution, std::uint32_t worker, std::uint32_t& tile) const;
    void assignBalanced(Execution& execution);
    void advance(std::uint32_t worker, Cursor& cursor, bool loads_only);
    void settle(std::uint32_t worker, Cursor& cursor, bool loads_only);
    void takeNext(std::uint32_t worker);

    // engine_period.cpp: skipping iterations.
    void endIteration();
    bool skip(LoopIndex loop, const Snapshot& before, const Snapshot& now);
    Snapshot snapshot();
    void appendWorker(const Worker& worker, Snapshot& into) const;
    void appendWindow(Snapshot& into);
    void addToAllBlame(const Blame& blame);

    // engine_result.cpp
    void record(std::uint32_t worker, const Cursor& tile);
    void markCritical(std::int64_t last);
    RegionResult result();

    const RegionGraph& graph_;
    Machine machine_;
    Options options_;
    std::uint32_t workers_count_; ///< of the machine; as many as workers_ where none are grouped
    bool dynamic_;
    bool marks_tiles_ = false;
    std::vector<OpCost> costs_;

    Program program_;
    std::vector<Worker> workers_;
    std::vector<Execution> window_; ///< ring, by execution index
    std::uint64_t window_mask_ = 0;
    std::uint64_t longest_distance_ = 0;
    std::uint64_t base_ = 0;      ///< oldest unfinished execution
    std::uint64_t generated_ = 0; ///< end of the window
    bool anyone_parked_ = false;
    std::uint64_t events_ = 0;
    std::vector<Generated>* generated_notes_ = nullptr;
    Cursor queue_;                         ///< DynamicQueue: the next tile
    std::vector<std::uint32_t> woken_;     ///< scratch of wake()
    std::vector<std::uint32_t> last_tile_; ///< scratch of assignBalanced()
    std::vector<double> latency_by_signals_;
    KeyHeap least_loaded_; ///< Balanced
    std::vector<double> assigned_work_;

    KeyHeap timers_;
    SharedBandwidth memory_;
    double now_us_ = 0;
    double skipped_us_ = 0;   ///< the result's times are the engine's plus this
    double tail_us_ = kNever; ///< a worker has run out of the last op's tiles

    std::vector<LoopIndex> closing_; ///< loops with an iteration end to look at
    double closing_us_ = 0;
    Blame closing_blame_{};
    std::vector<std::deque<Snapshot>> history_; ///< by loop
    std::vector<std::uint32_t> attempts_;       ///< by loop: snapshots since it was entered

    RegionResult result_;
    std::vector<std::uint32_t> op_executions_;
    std::vector<std::uint32_t> waited_; ///< by op: workers that took part in the first execution
    std::vector<std::int64_t> predecessors_;
    std::vector<std::deque<std::pair<double, double>>> load_times_; ///< by worker, when recording
};

} // namespace kerf::sim

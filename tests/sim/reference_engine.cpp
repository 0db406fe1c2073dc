// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_engine.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

namespace kerf::test {
namespace {

using namespace kerf::sim;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Tile {
    std::size_t execution = 0;
    std::uint32_t index = 0;
    ReferenceTile times;
    bool loaded = false;
    double issue_us = 0;
    double taken_us = kInfinite; ///< its worker is free and its events are seen
    bool ended = false;
    bool signalled = false;
    double signal_us = 0;
    std::optional<std::size_t> behind{}; ///< tile whose load holds up the signal
};

/// Something that a worker does: first waits, then reads bytes, then waits again.
struct Activity {
    std::size_t tile = 0;
    double wait_us = 0; ///< until
    double bytes = 0;   ///< left to read, once the wait is over
    double then_us = 0; ///< after the last byte
    bool active = false;
    bool reads(double now) const { return active && wait_us <= now && bytes > 0; }
};

struct Worker {
    std::deque<std::size_t> to_run;
    std::deque<std::size_t> to_load;
    std::deque<std::size_t> issued; ///< have room in the ring
    std::deque<std::size_t> to_signal;
    Activity consumer;
    Activity loader;
    double ring = 0;
    std::size_t last_execution = std::numeric_limits<std::size_t>::max();
};

class Reference {
public:
    Reference(const RegionGraph& graph, const Machine& machine)
        : graph_(graph), machine_(machine), workers_(machine.workers) {
        unroll();
        assign();
    }

    ReferenceResult run() {
        for (;;) {
            while (settle()) {
            }
            if (!step()) {
                break;
            }
        }
        ReferenceResult result;
        for (const Tile& tile : tiles_) {
            result.tiles.push_back(tile.times);
            result.makespan_us =
                std::max(result.makespan_us, tile.signalled ? tile.times.end_us : kInfinite);
        }
        return result;
    }

private:
    void unrollOps(std::size_t begin, std::size_t end, std::size_t loop) {
        for (std::size_t op = begin; op < end;) {
            while (loop < graph_.loops.size() && graph_.loops[loop].begin < op) {
                ++loop;
            }
            if (loop < graph_.loops.size() && graph_.loops[loop].begin == op &&
                graph_.loops[loop].end <= end) {
                for (std::uint32_t i = 0; i < graph_.loops[loop].iterations; ++i) {
                    unrollOps(op, graph_.loops[loop].end, loop + 1);
                }
                op = graph_.loops[loop].end;
                while (loop < graph_.loops.size() && graph_.loops[loop].begin < op) {
                    ++loop;
                }
                continue;
            }
            executions_.push_back(static_cast<OpIndex>(op));
            ++op;
        }
    }

    void unroll() {
        unrollOps(0, graph_.ops.size(), 0);
        std::vector<std::uint32_t> iteration(graph_.ops.size(), 0);
        for (std::size_t e = 0; e < executions_.size(); ++e) {
            first_tile_.push_back(tiles_.size());
            const OpIndex op = executions_[e];
            for (std::uint32_t t = 0; t < graph_.ops[op].tiles; ++t) {
                tiles_.push_back({e, t, {.op = op, .iteration = iteration[op], .tile = t}});
            }
            ++iteration[op];
        }
    }

    const TileOp& opOf(const Tile& tile) const { return graph_.ops[executions_[tile.execution]]; }

    void give(Worker& worker, std::size_t tile) {
        worker.to_run.push_back(tile);
        tiles_[tile].loaded = opOf(tiles_[tile]).load_bytes == 0;
        if (!tiles_[tile].loaded) {
            worker.to_load.push_back(tile);
        }
    }

    void assign() {
        std::vector<double> work(workers_.size(), 0);
        const double fair =
            std::min(machine_.worker_gbps, machine_.memory_gbps / machine_.workers) * 1e3;
        for (std::size_t i = 0; i < tiles_.size(); ++i) {
            std::size_t worker = tiles_[i].index % workers_.size();
            if (machine_.policy == Policy::DynamicQueue) {
                queue_.push_back(i);
                continue;
            }
            if (machine_.policy == Policy::Balanced) {
                const TileOp& op = opOf(tiles_[i]);
                worker = static_cast<std::size_t>(std::min_element(work.begin(), work.end()) -
                                                  work.begin());
                const double us =
                    std::max(op.load_bytes / fair,
                             machine_.dispatch_us + op.compute_us + op.dependent_bytes / fair);
                work[worker] += std::max(1.0, std::round(us * (1 << 20)));
            }
            give(workers_[worker], i);
        }
    }

    std::size_t oldestUnfinished() const {
        for (const Tile& tile : tiles_) {
            if (!tile.signalled) {
                return tile.execution;
            }
        }
        return executions_.size();
    }

    bool inWindow(std::size_t tile) const {
        return tiles_[tile].execution <= oldestUnfinished() + machine_.look_ahead_ops;
    }

    double latency(std::size_t signals) const {
        const double s = static_cast<double>(std::min(signals, workers_.size()));
        const double w = static_cast<double>(workers_.size());
        return machine_.event_one_way_us +
               (s > 1 ? machine_.event_fan_in_us * std::log2(s) / std::log2(w) : 0);
    }

    /// When the tile's events are all seen; infinite while one is not signalled.
    double eventsSeen(const Tile& tile) const {
        double seen = 0;
        for (const Dependency& dependency : opOf(tile).depends_on) {
            if (dependency.distance > tile.execution) {
                continue;
            }
            const std::size_t producer = tile.execution - dependency.distance;
            const std::uint64_t np = graph_.ops[executions_[producer]].tiles;
            const std::uint64_t nc = opOf(tile).tiles;
            std::uint64_t from = 0;
            std::uint64_t to = np;
            if (dependency.grain == Grain::OneToOne) {
                from = tile.index * np / nc;
                to = from + 1;
            } else if (dependency.grain == Grain::Aligned) {
                from = tile.index * np / nc;
                to = static_cast<std::uint64_t>(std::ceil(
                    static_cast<double>((tile.index + 1) * np) / static_cast<double>(nc)));
            }
            for (std::uint64_t p = from; p < to; ++p) {
                const Tile& by = tiles_[first_tile_[producer] + p];
                seen = std::max(seen, by.signalled ? by.signal_us + latency(to - from) : kInfinite);
            }
        }
        return seen;
    }

    /// Does one thing that can be done now; false when there is none.
    bool settle() {
        bool changed = false;
        for (Worker& worker : workers_) {
            changed = take(worker) || changed; // as soon as it has started one
        }
        for (Worker& worker : workers_) {
            changed = endConsumer(worker) || changed;
        }
        for (Worker& worker : workers_) {
            changed = signal(worker) || changed;
        }
        for (Worker& worker : workers_) {
            changed = take(worker) || changed;
        }
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            Worker& worker = workers_[i];
            changed = endLoader(worker) || changed;
            changed = issue(worker) || changed;
            changed = startLoader(worker) || changed;
            changed = startConsumer(worker, static_cast<int>(i)) || changed;
        }
        return changed;
    }

    bool endConsumer(Worker& worker) {
        Activity& run = worker.consumer;
        if (!run.active || run.wait_us > now_ || run.bytes > 0) {
            return false;
        }
        if (run.then_us > 0) { // the read is over: the rest is waiting
            run.wait_us = now_ + run.then_us;
            run.then_us = 0;
            return true;
        }
        Tile& tile = tiles_[run.tile];
        tile.ended = true;
        tile.times.end_us = now_;
        worker.ring -= opOf(tile).load_bytes;
        run.active = false;
        if (machine_.in_order_memory) {
            tile.behind = lastLoadWithRoom(worker, tile);
        }
        worker.to_signal.push_back(run.tile);
        return true;
    }

    /// The last tile that the loader can load without the consumer ending another one.
    std::optional<std::size_t> lastLoadWithRoom(const Worker& worker, const Tile& ended) const {
        std::optional<std::size_t> last;
        if (worker.loader.active) {
            last = worker.loader.tile;
        }
        if (!worker.issued.empty()) {
            last = worker.issued.back();
        }
        double ring = worker.ring;
        for (const std::size_t next : worker.to_load) {
            ring += opOf(tiles_[next]).load_bytes;
            const bool same_op = tiles_[next].execution == ended.execution;
            if (ring > machine_.ring_bytes || !inWindow(next) ||
                (!machine_.look_ahead && !same_op)) {
                break;
            }
            last = next;
        }
        return last;
    }

    bool signal(Worker& worker) {
        bool changed = false;
        while (!worker.to_signal.empty()) {
            Tile& tile = tiles_[worker.to_signal.front()];
            if (tile.behind && !tiles_[*tile.behind].loaded) {
                break;
            }
            tile.signalled = true;
            tile.signal_us = now_;
            worker.to_signal.pop_front();
            changed = true;
        }
        return changed;
    }

    bool take(Worker& worker) {
        if (queue_.empty() || !worker.to_run.empty() ||
            (!machine_.look_ahead && worker.consumer.active) || !inWindow(queue_.front())) {
            return false;
        }
        give(worker, queue_.front());
        queue_.pop_front();
        return true;
    }

    bool endLoader(Worker& worker) {
        Activity& load = worker.loader;
        if (!load.active || load.wait_us > now_ || load.bytes > 0) {
            return false;
        }
        tiles_[load.tile].loaded = true;
        tiles_[load.tile].times.load_end_us = now_;
        load.active = false;
        return true;
    }

    bool issue(Worker& worker) {
        if (worker.to_load.empty() || !inWindow(worker.to_load.front())) {
            return false;
        }
        Tile& tile = tiles_[worker.to_load.front()];
        const double bytes = opOf(tile).load_bytes;
        if (worker.ring + bytes > machine_.ring_bytes) {
            return false;
        }
        if (!machine_.look_ahead) {
            const std::size_t at =
                worker.consumer.active ? worker.consumer.tile : worker.to_run.front();
            if (tiles_[at].execution != tile.execution) {
                return false;
            }
        }
        worker.ring += bytes;
        tile.issue_us = now_;
        worker.issued.push_back(worker.to_load.front());
        worker.to_load.pop_front();
        return true;
    }

    bool startLoader(Worker& worker) {
        if (worker.loader.active || worker.issued.empty()) {
            return false;
        }
        Tile& tile = tiles_[worker.issued.front()];
        worker.loader = {worker.issued.front(), std::max(now_, tile.issue_us + machine_.ramp_us),
                         opOf(tile).load_bytes, 0, true};
        worker.issued.pop_front();
        tile.times.load_start_us = now_;
        return true;
    }

    bool startConsumer(Worker& worker, int index) {
        if (worker.consumer.active || worker.to_run.empty() || !inWindow(worker.to_run.front())) {
            return false;
        }
        Tile& tile = tiles_[worker.to_run.front()];
        if (eventsSeen(tile) > now_) {
            return false;
        }
        tile.taken_us = std::min(tile.taken_us, now_);
        if (!tile.loaded) {
            return false;
        }
        const TileOp& op = opOf(tile);
        const double wait =
            machine_.policy == Policy::DynamicQueue ? machine_.queue_pop_us : machine_.dispatch_us;
        double read = 0;
        if (worker.last_execution != tile.execution &&
            (op.worker_dependent_bytes > 0 || op.dependent_bytes > 0)) {
            read = machine_.dependent_latency_us +
                   op.worker_dependent_bytes / (machine_.l2_gbps_per_worker * 1e3);
        }
        worker.last_execution = tile.execution;
        worker.consumer = {worker.to_run.front(), std::max(now_, tile.taken_us + read) + wait,
                           op.dependent_bytes, op.compute_us, true};
        worker.to_run.pop_front();
        tile.times.start_us = now_;
        tile.times.worker = index;
        return true;
    }

    /// Moves to the next moment at which something ends or is seen.
    bool step() {
        int readers = 0;
        for (const Worker& worker : workers_) {
            readers += worker.loader.reads(now_) + worker.consumer.reads(now_);
        }
        const double rate =
            readers > 0 ? std::min(machine_.worker_gbps, machine_.memory_gbps / readers) * 1e3 : 0;
        double next = kInfinite;
        for (const Worker& worker : workers_) {
            for (const Activity* a : {&worker.loader, &worker.consumer}) {
                if (a->active && a->wait_us > now_) {
                    next = std::min(next, a->wait_us);
                } else if (a->reads(now_)) {
                    next = std::min(next, now_ + a->bytes / rate);
                }
            }
            if (!worker.to_run.empty()) {
                const double seen = eventsSeen(tiles_[worker.to_run.front()]);
                if (seen > now_) {
                    next = std::min(next, seen);
                }
            }
        }
        if (next == kInfinite) {
            return false;
        }
        for (Worker& worker : workers_) {
            for (Activity* a : {&worker.loader, &worker.consumer}) {
                if (a->reads(now_)) {
                    a->bytes -= rate * (next - now_);
                    if (a->bytes < 1e-6) {
                        a->bytes = 0;
                    }
                }
            }
        }
        now_ = next;
        return true;
    }

    const RegionGraph& graph_;
    const Machine& machine_;
    std::vector<OpIndex> executions_;
    std::vector<std::size_t> first_tile_;
    std::vector<Tile> tiles_;
    std::vector<Worker> workers_;
    std::deque<std::size_t> queue_;
    double now_ = 0;
};

} // namespace

ReferenceResult referenceSimulate(const RegionGraph& graph, const Machine& machine) {
    return Reference(graph, machine).run();
}

} // namespace kerf::test

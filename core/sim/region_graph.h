// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine runs: a region as a program of tile ops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::sim {

using OpIndex = std::uint32_t; ///< index into RegionGraph::ops

/// Which producer tiles a consumer tile waits for.
enum class Grain : std::uint8_t {
    All,      ///< all tiles of the producer
    Aligned,  ///< the group of producer tiles that covers the same share of the work
    OneToOne, ///< the tile of the same index (or the one it maps to when counts differ)
};

struct Dependency {
    std::uint32_t distance = 1; ///< the op executed this many executions before; beyond the
                                ///< region's start it is satisfied by the launch
    Grain grain = Grain::All;
    bool operator==(const Dependency&) const = default;
};

/// One op of a region as equal tiles. Bytes and times are those of one tile unless said.
struct TileOp {
    std::string label{};
    std::uint32_t tiles = 1;
    double load_bytes = 0;             ///< independent (weights): may be fetched before the event
    double dependent_bytes = 0;        ///< exist only after the event; read from device memory (KV)
    double worker_dependent_bytes = 0; ///< once a worker, before its first tile of the op:
                                       ///< activations from L2
    double compute_us = 0;             ///< consumer time with all data on chip
    std::vector<Dependency> depends_on{
        Dependency{}};        ///< chain by default; empty: waits for nothing
    std::uint32_t source = 0; ///< free for the caller (position in its chain)
    bool operator==(const TileOp&) const = default;
};

/// ops[begin, end) are executed `iterations` times. Loops nest properly or are disjoint;
/// sorted by begin, outer first.
struct Loop {
    OpIndex begin = 0;
    OpIndex end = 0;
    std::uint32_t iterations = 1;
    bool operator==(const Loop&) const = default;
};

struct RegionGraph {
    std::vector<TileOp> ops{};
    std::vector<Loop> loops{};
};

/// How tiles are given to workers.
enum class Policy : std::uint8_t {
    RoundRobin,   ///< tile k of an op to worker k mod W
    Balanced,     ///< each tile to the worker with the least work so far (static, by cost)
    DynamicQueue, ///< the next free worker takes the next tile
};

/// The workers of a region and the memory system they share.
struct Machine {
    int workers = 1;
    Policy policy = Policy::RoundRobin;
    double ring_bytes = 0;         ///< on-chip ring a worker; the loader runs ahead inside it
    double worker_gbps = 0;        ///< most that one worker can pull (bytes in flight over latency)
    double memory_gbps = 0;        ///< shared by all active loads, equally
    double l2_gbps_per_worker = 0; ///< activations
    double ramp_us = 0;            ///< a load's first byte, from when it has its room in the ring
    double dependent_latency_us = 0;
    double dispatch_us = 0;
    double queue_pop_us = 0;     ///< DynamicQueue only
    double event_one_way_us = 0; ///< fan-in 1
    double event_fan_in_us = 0;  ///< extra at full fan-in (all workers signal one counter), scaled
                                 ///< with log2(signals)/log2(workers)
    bool look_ahead = true;      ///< loader crosses op boundaries
    std::uint32_t look_ahead_ops = 16; ///< no worker touches an execution more than this many after
                                       ///< the oldest unfinished one
    bool in_order_memory = false;      ///< a worker's signals queue behind its loads in flight
    bool operator==(const Machine&) const = default;
};

} // namespace kerf::sim

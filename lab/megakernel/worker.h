// SPDX-License-Identifier: GPL-3.0-or-later
// The persistent kernel: each block is a worker with a queue of tiles. One warp streams weights
// into a ring and runs ahead over op boundaries, as they depend on nothing; a second warp waits for
// each tile's event and then brings its activations into a smaller ring; the other warps compute.
#pragma once

#include "lab/megakernel/attention.h"
#include "lab/megakernel/product.h"
#include "lab/megakernel/request_ops.h"
#include "lab/megakernel/worker_state.h"

namespace kerf::lab {

/// What a kernel is specialised to. `Kinds` and `Epilogues`: bits of the ops in its region, so that
/// its registers and code are those of its region alone.
template <unsigned PaddedBatch, unsigned ConsumerWarps, bool TensorCores, unsigned Kinds,
          unsigned Epilogues, bool Times>
struct WorkerConfig {
    static constexpr unsigned kPaddedBatch = PaddedBatch; ///< 8, 16, 32 or 64
    static constexpr unsigned kConsumerWarps = ConsumerWarps;
    static constexpr unsigned kConsumers = ConsumerWarps * 32;
    static constexpr unsigned kThreads = kConsumers + 64;
    static constexpr bool kTensorCores = TensorCores; ///< false: at most 4 requests
    static constexpr bool kTimes = Times;
    KERF_BOTH_CONSTEXPR static bool has(OpKind kind) {
        return (Kinds >> static_cast<unsigned>(kind) & 1U) != 0;
    }
    KERF_BOTH_CONSTEXPR static bool has(Epilogue epilogue) {
        return (Epilogues >> static_cast<unsigned>(epilogue) & 1U) != 0;
    }
};

/// The warp that streams weights: one lane, all products of the queue, as far ahead as the ring
/// allows.
KERF_DEVICE void streamWeights(const WorkerState& worker) {
    const RegionArguments& region = worker.region;
    RingPosition at;
    for (std::uint32_t i = worker.first_task; i < worker.last_task; ++i) {
        const Task task = region.tasks[i];
        const DeviceOp& op = worker.ops[task.op];
        if (op.kind != OpKind::Product) {
            continue;
        }
        const std::uint32_t block = task.tile % op.row_blocks;
        const std::uint32_t split = task.tile / op.row_blocks;
        const auto* from =
            reinterpret_cast<const unsigned char*>(op.weights) +
            static_cast<std::uint64_t>(block * op.splits + split) * op.stages * region.stage_bytes;
        for (std::uint32_t stage = 0; stage < op.stages; ++stage) {
            std::uint64_t* full = worker.weights_full + at.slot;
            simt::waitPhase(worker.weights_empty + at.slot, at.parity ^ 1U, region.fault);
            simt::arriveExpecting(full, region.stage_bytes);
            simt::bulkCopy(worker.weights + at.slot * region.stage_bytes, from, region.stage_bytes,
                           full);
            from += region.stage_bytes;
            at.advance(region.weight_stages);
        }
    }
}

/// One slot of the activation ring: requests' rows of one stage of a product.
KERF_DEVICE void bringRows(const WorkerState& worker, const DeviceOp& op, std::uint32_t column,
                           RingPosition& at, unsigned lane) {
    const RegionArguments& region = worker.region;
    std::uint64_t* full = worker.activations_full + at.slot;
    const std::uint32_t bytes = op.columns_a_stage * 2;
    if (lane == 0) {
        simt::waitPhase(worker.activations_empty + at.slot, at.parity ^ 1U, region.fault);
        simt::arriveExpecting(full, bytes * region.batch);
    }
    simt::syncWarp();
    unsigned char* slot = worker.activations + at.slot * region.slot_bytes;
    for (std::uint32_t request = lane; request < region.batch; request += 32) {
        simt::bulkCopy(slot + request * activationStride(op.columns_a_stage),
                       op.input + static_cast<std::uint64_t>(request) * op.columns + column, bytes,
                       full);
    }
    at.advance(region.activation_slots);
}

/// One slot: the queries of an attention tile, then keys and values of up to positions_a_slot.
KERF_DEVICE void bringPositions(const WorkerState& worker, const DeviceOp& op,
                                const AttentionTile& tile, std::uint32_t begin, std::uint32_t end,
                                RingPosition& at, unsigned lane) {
    const RegionArguments& region = worker.region;
    std::uint64_t* full = worker.activations_full + at.slot;
    const std::uint32_t query_bytes = region.shared_heads * region.head_dim * 2;
    const std::uint32_t bytes = (end - begin) * region.head_dim * 2;
    if (lane == 0) {
        simt::waitPhase(worker.activations_empty + at.slot, at.parity ^ 1U, region.fault);
        simt::arriveExpecting(full, query_bytes + 2 * bytes);
        unsigned char* slot = worker.activations + at.slot * region.slot_bytes;
        simt::bulkCopy(slot, tile.queries(region, op), query_bytes, full);
        if (bytes > 0) {
            const std::uint64_t from = tile.cacheOffset(region, begin);
            slot += query_bytes;
            simt::bulkCopy(slot, op.keys + from, bytes, full);
            simt::bulkCopy(slot + region.positions_a_slot * region.head_dim * 2, op.values + from,
                           bytes, full);
        }
    }
    at.advance(region.activation_slots);
}

/// The warp that waits for events and brings what exists only after them.
KERF_DEVICE void bringActivations(const WorkerState& worker, unsigned lane) {
    const RegionArguments& region = worker.region;
    simt::waitForPreviousGrid(); // what it wrote, and its count of finished workers
    const auto launch =
        static_cast<std::uint32_t>(simt::loadCoherent(region.finished) / simt::blockCount());
    const std::uint32_t length = simt::loadCoherent(region.position) + 1;
    RingPosition at;
    for (std::uint32_t i = worker.first_task; i < worker.last_task; ++i) {
        const Task task = region.tasks[i];
        const DeviceOp& op = worker.ops[task.op];
        if (task.wait_event != kNoEvent) {
            if (lane == 0) {
                simt::waitAtLeast(region.events + task.wait_event, (launch + 1) * task.wait_count,
                                  region.fault);
            }
            simt::syncWarp();
            simt::fenceAsyncProxy(); // the copies below read what others wrote
        }
        if (op.kind == OpKind::Product) {
            const std::uint32_t first = task.tile / op.row_blocks * op.stages;
            for (std::uint32_t stage = first; stage < first + op.stages; ++stage) {
                bringRows(worker, op, stage * op.columns_a_stage, at, lane);
            }
        } else if (op.kind == OpKind::Attention) {
            const AttentionTile tile(region, op, task.tile, length);
            std::uint32_t begin = tile.begin;
            do {
                std::uint32_t end = begin + region.positions_a_slot;
                end = end < tile.end ? end : tile.end;
                bringPositions(worker, op, tile, begin, end, at, lane);
                begin = end;
            } while (begin < tile.end);
        } else { // nothing to bring: an empty slot says that the event has come
            if (lane == 0) {
                simt::waitPhase(worker.activations_empty + at.slot, at.parity ^ 1U, region.fault);
                simt::arrive(worker.activations_full + at.slot);
            }
            at.advance(region.activation_slots);
        }
    }
}

template <class Config> KERF_DEVICE void compute(WorkerState& worker) {
    const RegionArguments& region = worker.region;
    const std::uint32_t length = simt::loadCoherent(region.position) + 1;
    for (std::uint32_t i = worker.first_task; i < worker.last_task; ++i) {
        const Task task = region.tasks[i];
        const DeviceOp& op = worker.ops[task.op];
        bool complete = true; // false: another tile of the same output finishes it
        [[maybe_unused]] std::uint64_t ready_ns = 0;
        if constexpr (Config::kTimes) {
            simt::waitPhase(worker.activations_full + worker.activation_at.slot,
                            worker.activation_at.parity, region.fault);
            ready_ns = simt::globalTimerNs();
        }
        if constexpr (Config::has(OpKind::Product)) {
            if (op.kind == OpKind::Product) {
                complete = productTile<Config>(worker, op, task.tile, length - 1);
            }
        }
        if constexpr (Config::has(OpKind::Attention)) {
            if (op.kind == OpKind::Attention) {
                complete = attentionTile<Config>(worker, op, task.tile, length);
            }
        }
        if constexpr (Config::has(OpKind::Embedding)) {
            if (op.kind == OpKind::Embedding) {
                embeddingTile<Config>(worker, op, task.tile);
            }
        }
        if constexpr (Config::has(OpKind::Best)) {
            if (op.kind == OpKind::Best) {
                bestTile<Config>(worker, op, task.tile);
            }
        }
        simt::fenceAsyncProxy(); // other workers' copies read what was written here
        consumersMeet<Config>();
        if constexpr (Config::kTimes) {
            if (worker.thread == 0) {
                region.times[i] = {ready_ns, simt::globalTimerNs()};
            }
        }
        if (worker.thread == 0 && complete) {
            simt::addRelease(region.events + task.signal_event, 1U);
        }
    }
    if (worker.thread == 0) {
        simt::addRelease(region.finished, 1ULL);
    }
}

/// The kernel's body: every thread of every block calls it once.
template <class Config>
KERF_DEVICE void runWorker(const RegionArguments& region, unsigned char* shared) {
    WorkerState worker(region, shared, Config::kPaddedBatch, Config::kConsumerWarps);
    if (worker.thread == 0) {
        worker.initBarriers(Config::kConsumerWarps);
    }
    const std::uint32_t words = region.op_count * static_cast<std::uint32_t>(sizeof(DeviceOp) / 8);
    for (std::uint32_t word = worker.thread; word < words; word += Config::kThreads) {
        reinterpret_cast<std::uint64_t*>(worker.ops)[word] =
            reinterpret_cast<const std::uint64_t*>(region.ops)[word];
    }
    simt::syncThreads(0, Config::kThreads);
    simt::letNextGridStart();
    const unsigned warp = worker.thread / 32;
    if (warp < Config::kConsumerWarps) {
        compute<Config>(worker);
    } else if (warp > Config::kConsumerWarps) {
        bringActivations(worker, worker.thread % 32);
    } else if (worker.thread % 32 == 0) {
        streamWeights(worker);
    }
}

} // namespace kerf::lab

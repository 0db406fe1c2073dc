// SPDX-License-Identifier: GPL-3.0-or-later
// What every thread of a worker knows: where its shared memory lies and where it is in the rings.
#pragma once

#include "lab/megakernel/program.h"
#include "lab/simt/simt.h"

namespace kerf::lab {

/// A place in a ring of slots. The parity of a barrier's phase flips each time round.
struct RingPosition {
    std::uint32_t slot = 0;
    std::uint32_t parity = 0;
    KERF_DEVICE_MEMBER void advance(std::uint32_t slots) {
        if (++slot == slots) {
            slot = 0;
            parity ^= 1U;
        }
    }
};

struct WorkerState {
    KERF_DEVICE_MEMBER WorkerState(const RegionArguments& arguments, unsigned char* shared,
                                   std::uint32_t padded_batch, std::uint32_t consumer_warps)
        : region(arguments), thread(simt::threadIndex()),
          first_task(arguments.task_begin[simt::blockIndex()]),
          last_task(arguments.task_begin[simt::blockIndex() + 1]) {
        const SharedLayout layout =
            sharedLayout(padded_batch, consumer_warps, arguments.shared_heads, arguments.head_dim,
                         arguments.op_count, arguments.stage_bytes, arguments.weight_stages,
                         arguments.slot_bytes, arguments.activation_slots);
        weights = shared;
        activations = shared + layout.activations;
        sums = reinterpret_cast<float*>(shared + layout.sums);
        squares = reinterpret_cast<float*>(shared + layout.squares);
        ops = reinterpret_cast<DeviceOp*>(shared + layout.ops);
        weights_full = reinterpret_cast<std::uint64_t*>(shared + layout.barriers);
        weights_empty = weights_full + arguments.weight_stages;
        activations_full = weights_empty + arguments.weight_stages;
        activations_empty = activations_full + arguments.activation_slots;
        flag = reinterpret_cast<std::uint32_t*>(shared + layout.flag);
    }

    KERF_DEVICE_MEMBER void initBarriers(unsigned consumer_warps) const {
        for (std::uint32_t i = 0; i < region.weight_stages; ++i) {
            simt::initBarrier(weights_full + i, 1);
            simt::initBarrier(weights_empty + i, consumer_warps);
        }
        for (std::uint32_t i = 0; i < region.activation_slots; ++i) {
            simt::initBarrier(activations_full + i, 1);
            simt::initBarrier(activations_empty + i, consumer_warps);
        }
        simt::publishBarriers();
    }

    const RegionArguments& region;
    std::uint32_t thread;
    std::uint32_t first_task;
    std::uint32_t last_task;
    unsigned char* weights;
    unsigned char* activations;
    float* sums;
    float* squares;
    DeviceOp* ops;
    std::uint64_t* weights_full;
    std::uint64_t* weights_empty;
    std::uint64_t* activations_full;
    std::uint64_t* activations_empty;
    std::uint32_t* flag;
    RingPosition weight_at;     ///< of the consumers
    RingPosition activation_at; ///< of the consumers
};

/// All consumer threads.
template <class Config> KERF_DEVICE void consumersMeet() {
    simt::syncThreads(1, Config::kConsumers);
}

/// The consumers' next activation slot, once it is filled.
KERF_DEVICE const unsigned char* nextActivations(const WorkerState& worker) {
    simt::waitPhase(worker.activations_full + worker.activation_at.slot,
                    worker.activation_at.parity, worker.region.fault);
    return worker.activations + worker.activation_at.slot * worker.region.slot_bytes;
}

/// A warp is done with the slot.
KERF_DEVICE void releaseActivations(WorkerState& worker) {
    simt::syncWarp();
    if (worker.thread % 32 == 0) {
        simt::arrive(worker.activations_empty + worker.activation_at.slot);
    }
    worker.activation_at.advance(worker.region.activation_slots);
}

/// Tells the last of `splits` tiles that share an output: all their partial results are then
/// visible. Every consumer thread calls it after writing its part.
template <class Config>
KERF_DEVICE bool lastToArrive(const WorkerState& worker, std::uint32_t* arrivals,
                              std::uint32_t splits) {
    consumersMeet<Config>();
    if (worker.thread == 0) {
        *worker.flag = simt::incrementWrapping(arrivals, splits - 1) == splits - 1 ? 1 : 0;
    }
    consumersMeet<Config>();
    return *worker.flag != 0;
}

/// 16 bytes.
struct alignas(16) Words {
    std::uint32_t word[4];
};

} // namespace kerf::lab

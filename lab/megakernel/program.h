// SPDX-License-Identifier: GPL-3.0-or-later
// A region as the device sees it: ops, a queue of tiles for each worker, events. Plain data, made
// by plan.h on the host; pointers are device memory (host memory under the emulator).
#pragma once

#include "lab/model/bfloat16.h"
#include "lab/model/op_kinds.h"

#include <cstdint>

namespace kerf::lab {

constexpr std::uint32_t kNoEvent = 0xffffffffU;

/// A tile's best logit. Larger values win, then lower rows.
struct Candidate {
    float value;
    std::uint32_t row;
};

/// One execution of an op. Products: tile = split · row_blocks + row block; attention:
/// tile = (kv head · batch + request) · splits + split; embedding and best: tile = request.
struct alignas(16) DeviceOp {
    OpKind kind = OpKind::Product;
    Epilogue epilogue = Epilogue::Store;
    std::uint32_t norm = 0;
    std::uint32_t columns = 0;         ///< of a product
    std::uint32_t rows_a_tile = 0;     ///< of a product: 16, 32, 64 or 128
    std::uint32_t row_blocks = 0;      ///< of a product; of Best: those of the product before
    std::uint32_t splits = 1;          ///< tiles that share an output: the last one adds up
    std::uint32_t stages = 0;          ///< weight stages of a tile
    std::uint32_t columns_a_stage = 0; ///< of a product
    std::uint32_t output_width = 0;    ///< values a request
    const BFloat16* weights = nullptr; ///< packed (layout.h); the table of an embedding
    const BFloat16* input = nullptr;
    BFloat16* output = nullptr;
    BFloat16* keys = nullptr;          ///< of the layer: [request][kv head][context][head_dim]
    BFloat16* values = nullptr;        ///< the same
    float* partials = nullptr;         ///< for splits > 1
    std::uint32_t* arrivals = nullptr; ///< for splits > 1: a counter an output block, 0 at rest
    Candidate* candidates = nullptr;   ///< [request][row block]
    std::uint64_t unused = 0;
};

/// One tile in a worker's queue.
struct alignas(16) Task {
    std::uint32_t op = 0; ///< index into the region's ops
    std::uint32_t tile = 0;
    std::uint32_t wait_event = kNoEvent;
    std::uint32_t wait_count = 0; ///< raises of the event in one launch until it is complete
    std::uint32_t signal_event = 0;
    std::uint32_t unused[3] = {};
};

/// When a tile ran, for the measured timeline. globaltimer, ns.
struct TaskTimes {
    std::uint64_t ready_ns; ///< its data has arrived and its worker is free
    std::uint64_t end_ns;   ///< its results are written, its signal is next
};

/// Arguments of the kernel. One block a worker.
struct RegionArguments {
    const DeviceOp* ops = nullptr;
    const Task* tasks = nullptr;
    const std::uint32_t* task_begin = nullptr; ///< workers + 1
    std::uint32_t* events = nullptr;           ///< counters, never reset: see finished
    /// Workers that have ended, over all launches: divided by the workers it is the number of the
    /// launch, from which an event's target follows.
    unsigned long long* finished = nullptr;
    unsigned* fault = nullptr;     ///< raised when a wait ran out
    TaskTimes* times = nullptr;    ///< one a task; written when the kernel is built with times
    const float* rotary = nullptr; ///< [context][head_dim / 2][cos, sin]
    const std::uint32_t* position = nullptr; ///< of the current token
    std::uint32_t* tokens = nullptr;         ///< [request], read by embedding, written by best
    float* logits = nullptr;                 ///< [request][vocabulary], or null: not wanted
    std::uint32_t op_count = 0;
    std::uint32_t batch = 0;
    std::uint32_t shared_heads = 0; ///< q heads that use one kv head, at most 4
    std::uint32_t kv_heads = 0;
    std::uint32_t head_dim = 0;
    std::uint32_t context = 0;
    std::uint32_t vocabulary = 0;
    float norm_epsilon = 0;
    float score_scale = 0;              ///< 1 / √head_dim
    std::uint32_t stage_bytes = 0;      ///< of weights
    std::uint32_t weight_stages = 0;    ///< the ring
    std::uint32_t slot_bytes = 0;       ///< of activations
    std::uint32_t activation_slots = 0; ///< the second ring
    std::uint32_t positions_a_slot = 0; ///< of keys and values
};

/// Bytes between two requests' rows in an activation slot: rows of 64 bytes then fall into
/// alternating halves of the banks, so that 16-byte reads of a warp do not collide.
KERF_BOTH std::uint32_t activationStride(std::uint32_t columns_a_stage) {
    return columns_a_stage * 2 + (columns_a_stage % 64 == 0 ? 64 : 0);
}

/// Positions that one of `splits` attention tiles covers when `length` are in the cache.
KERF_BOTH std::uint32_t positionsASplit(std::uint32_t length, std::uint32_t splits) {
    return ((length + splits - 1) / splits + 7) / 8 * 8;
}

/// Offsets into a worker's shared memory, bytes.
struct SharedLayout {
    std::uint32_t activations, sums, squares, ops, barriers, flag, total;
};

constexpr std::uint32_t kSumStride = 20; ///< floats between two requests' sums of 16 rows

KERF_BOTH SharedLayout sharedLayout(std::uint32_t padded_batch, std::uint32_t consumer_warps,
                                    std::uint32_t shared_heads, std::uint32_t head_dim,
                                    std::uint32_t op_count, std::uint32_t stage_bytes,
                                    std::uint32_t weight_stages, std::uint32_t slot_bytes,
                                    std::uint32_t activation_slots) {
    const std::uint32_t products = consumer_warps * padded_batch * kSumStride * 4;
    const std::uint32_t attention = consumer_warps * shared_heads * (head_dim + 2) * 4;
    SharedLayout layout{};
    layout.activations = stage_bytes * weight_stages;
    layout.sums = layout.activations + slot_bytes * activation_slots;
    layout.squares = layout.sums + (products > attention ? products : attention);
    layout.ops = (layout.squares + consumer_warps * padded_batch * 4 + 15) / 16 * 16;
    layout.barriers = layout.ops + op_count * static_cast<std::uint32_t>(sizeof(DeviceOp));
    layout.flag = layout.barriers + 16 * (weight_stages + activation_slots);
    layout.total = layout.flag + 16;
    return layout;
}

} // namespace kerf::lab

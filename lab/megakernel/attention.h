// SPDX-License-Identifier: GPL-3.0-or-later
// Decode attention of one request and one kv head over a share of the positions: all q heads that
// use the kv head together, a running softmax in every group of lanes, merged at the end.
#pragma once

#include "lab/megakernel/worker_state.h"

namespace kerf::lab {

constexpr unsigned kMostSharedHeads = 4;
constexpr float kNoScore = -1.0e30F; ///< below every score; finite, so that differences are

/// What a tile covers.
struct AttentionTile {
    std::uint32_t kv_head;
    std::uint32_t request;
    std::uint32_t split;
    std::uint32_t begin; ///< positions; begin may equal end
    std::uint32_t end;

    KERF_DEVICE_MEMBER AttentionTile(const RegionArguments& region, const DeviceOp& op,
                                     std::uint32_t tile, std::uint32_t length)
        : kv_head(tile / (region.batch * op.splits)), request(tile / op.splits % region.batch),
          split(tile % op.splits) {
        const std::uint32_t share = positionsASplit(length, op.splits);
        begin = split * share < length ? split * share : length;
        end = begin + share < length ? begin + share : length;
    }
    KERF_DEVICE_MEMBER const BFloat16* queries(const RegionArguments& region,
                                               const DeviceOp& op) const {
        return op.input + (std::uint64_t{request} * region.kv_heads + kv_head) *
                              region.shared_heads * region.head_dim;
    }
    KERF_DEVICE_MEMBER std::uint64_t cacheOffset(const RegionArguments& region,
                                                 std::uint32_t position) const {
        return ((std::uint64_t{request} * region.kv_heads + kv_head) * region.context + position) *
               region.head_dim;
    }
};

/// A softmax so far: largest score, sum of weights, weighted values (8 dimensions of the lane).
struct SoftmaxState {
    float most = kNoScore;
    float weight = 0;
    float value[8] = {};

    KERF_DEVICE_MEMBER void scale(float most_of_both) {
        const float factor = simt::exponential(most - most_of_both);
        weight *= factor;
        for (float& v : value) {
            v *= factor;
        }
        most = most_of_both;
    }
};

KERF_DEVICE void unpack(const Words& words, float (&values)[8]) {
    for (unsigned i = 0; i < 4; ++i) {
        values[2 * i] = lowHalf(words.word[i]);
        values[2 * i + 1] = highHalf(words.word[i]);
    }
}

/// All positions of a slot that fall to this warp.
template <class Config>
KERF_DEVICE void scanPositions(const WorkerState& worker, const unsigned char* slot,
                               std::uint32_t positions, SoftmaxState (&states)[kMostSharedHeads]) {
    const RegionArguments& region = worker.region;
    const std::uint32_t row_bytes = region.head_dim * 2;
    const unsigned lanes_a_row = region.head_dim / 8;
    const unsigned lane = worker.thread % 32;
    const unsigned rows = 32 / lanes_a_row;             // positions of a warp at a time
    const unsigned dimension = lane % lanes_a_row * 16; // in bytes
    const unsigned char* keys = slot + region.shared_heads * row_bytes;
    const unsigned char* cached_values = keys + region.positions_a_slot * row_bytes;
    float query[kMostSharedHeads][8];
    for (unsigned head = 0; head < kMostSharedHeads; ++head) {
        if (head < region.shared_heads) {
            unpack(*reinterpret_cast<const Words*>(slot + head * row_bytes + dimension),
                   query[head]);
        }
    }
    for (std::uint32_t first = worker.thread / 32 * rows; first < positions;
         first += Config::kConsumerWarps * rows) { // the same for all lanes: they shuffle together
        const std::uint32_t position = first + lane / lanes_a_row;
        const bool valid = position < positions;
        Words key_words{};
        Words value_words{};
        if (valid) {
            key_words = *reinterpret_cast<const Words*>(keys + position * row_bytes + dimension);
            value_words =
                *reinterpret_cast<const Words*>(cached_values + position * row_bytes + dimension);
        }
        float key[8];
        float value[8];
        unpack(key_words, key);
        unpack(value_words, value);
        KERF_UNROLL
        for (unsigned head = 0; head < kMostSharedHeads; ++head) {
            if (head < region.shared_heads) {
                float score = 0;
                for (unsigned i = 0; i < 8; ++i) {
                    score += query[head][i] * key[i];
                }
                for (unsigned mask = 1; mask < lanes_a_row; mask *= 2) {
                    score += simt::shuffleXor(score, mask);
                }
                if (valid) {
                    SoftmaxState& state = states[head];
                    score *= region.score_scale;
                    if (score > state.most) {
                        state.scale(score);
                    }
                    const float weight = simt::exponential(score - state.most);
                    state.weight += weight;
                    for (unsigned i = 0; i < 8; ++i) {
                        state.value[i] += weight * value[i];
                    }
                }
            }
        }
    }
}

/// Merges the groups of lanes of a warp and leaves the warp's state of every head in worker.sums:
/// [warp][head][head_dim values, largest score, sum of weights].
KERF_DEVICE void storeWarpStates(const WorkerState& worker,
                                 SoftmaxState (&states)[kMostSharedHeads]) {
    const RegionArguments& region = worker.region;
    const unsigned lanes_a_row = region.head_dim / 8;
    const unsigned lane = worker.thread % 32;
    KERF_UNROLL
    for (unsigned head = 0; head < kMostSharedHeads; ++head) {
        if (head < region.shared_heads) {
            SoftmaxState& state = states[head];
            for (unsigned mask = lanes_a_row; mask < 32; mask *= 2) {
                const float other = simt::shuffleXor(state.most, mask);
                state.scale(other > state.most ? other : state.most);
                state.weight += simt::shuffleXor(state.weight, mask);
                for (float& v : state.value) {
                    v += simt::shuffleXor(v, mask);
                }
            }
            float* to = worker.sums +
                        (worker.thread / 32 * region.shared_heads + head) * (region.head_dim + 2);
            if (lane < lanes_a_row) {
                for (unsigned i = 0; i < 8; ++i) {
                    to[lane * 8 + i] = state.value[i];
                }
            }
            if (lane == 0) {
                to[region.head_dim] = state.most;
                to[region.head_dim + 1] = state.weight;
            }
        }
    }
}

/// Merges `count` states of one head that lie `stride` floats apart: one dimension of the values.
template <class Load>
KERF_DEVICE void mergeStates(const float* states, std::uint32_t count, std::uint32_t stride,
                             std::uint32_t head_dim, std::uint32_t dimension, const Load& load,
                             float& most, float& weight, float& value) {
    most = kNoScore;
    for (std::uint32_t i = 0; i < count; ++i) {
        const float m = load(states + i * stride + head_dim);
        most = m > most ? m : most;
    }
    weight = 0;
    value = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const float* state = states + i * stride;
        const float factor = simt::exponential(load(state + head_dim) - most);
        weight += factor * load(state + head_dim + 1);
        value += factor * load(state + dimension);
    }
}

/// Returns false when another split of the same heads finishes them.
template <class Config>
KERF_DEVICE bool attentionTile(WorkerState& worker, const DeviceOp& op, std::uint32_t index,
                               std::uint32_t length) {
    const RegionArguments& region = worker.region;
    const AttentionTile tile(region, op, index, length);
    SoftmaxState states[kMostSharedHeads];
    std::uint32_t begin = tile.begin;
    do {
        const std::uint32_t left = tile.end - begin;
        const std::uint32_t positions =
            left < region.positions_a_slot ? left : region.positions_a_slot;
        scanPositions<Config>(worker, nextActivations(worker), positions, states);
        releaseActivations(worker);
        begin += positions;
    } while (begin < tile.end);
    storeWarpStates(worker, states);
    consumersMeet<Config>();

    const std::uint32_t dim = region.head_dim;
    const std::uint32_t state_floats = dim + 2;
    const std::uint32_t values = region.shared_heads * dim;
    const std::uint32_t pair = tile.request * region.kv_heads + tile.kv_head;
    const std::uint32_t split_floats = region.shared_heads * state_floats;
    float* partials = op.partials + std::uint64_t{pair} * op.splits * split_floats;
    BFloat16* output = op.output + std::uint64_t{pair} * values;
    for (std::uint32_t i = worker.thread; i < values; i += Config::kConsumers) {
        const std::uint32_t head = i / dim;
        float most = 0;
        float weight = 0;
        float value = 0;
        mergeStates(
            worker.sums + head * state_floats, Config::kConsumerWarps, split_floats, dim, i % dim,
            [](const float* at) { return *at; }, most, weight, value);
        if (op.splits == 1) {
            output[i] = toBFloat16(value / weight);
            continue;
        }
        float* to = partials + tile.split * split_floats + head * state_floats;
        to[i % dim] = value;
        if (i % dim == 0) {
            to[dim] = most;
            to[dim + 1] = weight;
        }
    }
    if (op.splits == 1) {
        return true;
    }
    if (!lastToArrive<Config>(worker, op.arrivals + pair, op.splits)) {
        return false;
    }
    for (std::uint32_t i = worker.thread; i < values; i += Config::kConsumers) {
        float most = 0;
        float weight = 0;
        float value = 0;
        mergeStates(
            partials + i / dim * state_floats, op.splits, split_floats, dim, i % dim,
            [](const float* at) { return simt::loadCoherent(at); }, most, weight, value);
        output[i] = toBFloat16(value / weight);
    }
    return true;
}

} // namespace kerf::lab

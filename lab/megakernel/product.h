// SPDX-License-Identifier: GPL-3.0-or-later
// A tile of a matrix product: rows_a_tile rows of weights times the activations of all requests.
// The warps share out the rows in blocks of 16 and, where there are fewer blocks than warps, the
// columns; their sums meet in shared memory. Both worker shapes read the same packed weights:
// tensor cores for any batch, multiply-add for up to 4 requests.
#pragma once

#include "lab/megakernel/epilogue.h"
#include "lab/megakernel/worker_state.h"

namespace kerf::lab {

/// How the warps of a worker share a tile.
struct WarpShare {
    std::uint32_t row_warps; ///< blocks of 16 rows
    std::uint32_t column_warps;
    std::uint32_t row_block;   ///< of this warp
    std::uint32_t first_block; ///< of 32 columns: this warp takes every column_warps-th
    template <class Config>
    KERF_DEVICE_MEMBER static WarpShare of(const DeviceOp& op, std::uint32_t warp) {
        WarpShare share{};
        share.row_warps = op.rows_a_tile / 16;
        share.column_warps = Config::kConsumerWarps / share.row_warps;
        share.row_block = warp % share.row_warps;
        share.first_block = warp / share.row_warps;
        return share;
    }
};

KERF_DEVICE void addSquares(const Words& values, float& squares) {
    for (unsigned i = 0; i < 4; ++i) {
        const float low = lowHalf(values.word[i]);
        const float high = highHalf(values.word[i]);
        squares += low * low + high * high;
    }
}

/// Tensor cores. Lane 4·g + t holds rows g and g + 8 and columns 8·t … 8·t + 7 of each block of 32:
/// two multiplications take them four columns at a time, in the same order from both sides.
template <class Config> struct TensorSums {
    static constexpr unsigned kTiles = Config::kPaddedBatch / 8;
    float sum[kTiles][4] = {};
    float squares[kTiles] = {};

    KERF_DEVICE_MEMBER void add(const Words& low, const Words& high, const unsigned char* rows,
                                std::uint32_t stride, bool wants_squares) {
        const unsigned lane = simt::threadIndex() % 32;
        rows += (lane / 4) * stride + (lane % 4) * 16;
        KERF_UNROLL
        for (unsigned tile = 0; tile < kTiles; ++tile) {
            const Words x = *reinterpret_cast<const Words*>(rows + tile * 8 * stride);
            simt::multiplyTile(sum[tile], low.word[0], high.word[0], low.word[1], high.word[1],
                               x.word[0], x.word[1]);
            simt::multiplyTile(sum[tile], low.word[2], high.word[2], low.word[3], high.word[3],
                               x.word[2], x.word[3]);
            if (wants_squares) {
                addSquares(x, squares[tile]);
            }
        }
    }

    KERF_DEVICE_MEMBER void store(const WorkerState& worker, std::uint32_t warp, bool norm) {
        const unsigned lane = worker.thread % 32;
        const unsigned row = lane / 4;
        const unsigned column = lane % 4 * 2;
        float* sums = worker.sums + warp * Config::kPaddedBatch * kSumStride;
        KERF_UNROLL
        for (unsigned tile = 0; tile < kTiles; ++tile) {
            float* to = sums + (tile * 8 + column) * kSumStride + row;
            to[0] = sum[tile][0];
            to[kSumStride] = sum[tile][1];
            to[8] = sum[tile][2];
            to[kSumStride + 8] = sum[tile][3];
        }
        if (norm) {
            KERF_UNROLL
            for (unsigned tile = 0; tile < kTiles; ++tile) {
                float total = squares[tile];
                total += simt::shuffleXor(total, 1);
                total += simt::shuffleXor(total, 2);
                if (lane % 4 == 0) {
                    worker.squares[warp * Config::kPaddedBatch + tile * 8 + lane / 4] = total;
                }
            }
        }
    }
};

/// Multiply-add, up to 4 requests: each lane multiplies its two rows' values for every request.
template <class Config> struct StreamingSums {
    static constexpr unsigned kRequests = 4;
    float sum[kRequests][2] = {};
    float squares[kRequests] = {};

    KERF_DEVICE_MEMBER void add(const Words& low, const Words& high, const unsigned char* rows,
                                std::uint32_t stride, bool wants_squares) {
        rows += (simt::threadIndex() % 4) * 16;
        KERF_UNROLL
        for (unsigned request = 0; request < kRequests; ++request) {
            const Words x = *reinterpret_cast<const Words*>(rows + request * stride);
            KERF_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
                const float even = lowHalf(x.word[i]);
                const float odd = highHalf(x.word[i]);
                sum[request][0] += lowHalf(low.word[i]) * even + highHalf(low.word[i]) * odd;
                sum[request][1] += lowHalf(high.word[i]) * even + highHalf(high.word[i]) * odd;
            }
            if (wants_squares) {
                addSquares(x, squares[request]);
            }
        }
    }

    KERF_DEVICE_MEMBER void store(const WorkerState& worker, std::uint32_t warp, bool norm) {
        const unsigned lane = worker.thread % 32;
        float* sums = worker.sums + warp * Config::kPaddedBatch * kSumStride;
        KERF_UNROLL
        for (unsigned request = 0; request < kRequests; ++request) {
            KERF_UNROLL
            for (unsigned half = 0; half < 2; ++half) {
                float total = sum[request][half];
                total += simt::shuffleXor(total, 1);
                total += simt::shuffleXor(total, 2);
                if (lane % 4 == 0) {
                    sums[request * kSumStride + half * 8 + lane / 4] = total;
                }
            }
            if (norm) { // the same in all eight rows of the lanes
                float total = squares[request];
                total += simt::shuffleXor(total, 1);
                total += simt::shuffleXor(total, 2);
                if (lane == 0) {
                    worker.squares[warp * Config::kPaddedBatch + request] = total;
                }
            }
        }
    }
};

template <bool Tensor, class Config> struct SumsOf { using Type = TensorSums<Config>; };
template <class Config> struct SumsOf<false, Config> { using Type = StreamingSums<Config>; };

/// Multiplies all stages of the tile and leaves each warp's sums in shared memory.
template <class Config>
KERF_DEVICE void multiplyStages(WorkerState& worker, const DeviceOp& op, const WarpShare& share) {
    const RegionArguments& region = worker.region;
    const unsigned lane = worker.thread % 32;
    const std::uint32_t blocks = op.columns_a_stage / 32;
    const std::uint32_t stride = activationStride(op.columns_a_stage);
    typename SumsOf<Config::kTensorCores, Config>::Type sums;
    for (std::uint32_t stage = 0; stage < op.stages; ++stage) {
        const unsigned char* rows = nextActivations(worker);
        simt::waitPhase(worker.weights_full + worker.weight_at.slot, worker.weight_at.parity,
                        region.fault);
        const unsigned char* weights = worker.weights + worker.weight_at.slot * region.stage_bytes +
                                       share.row_block * blocks * 1024 + lane * 16;
        for (std::uint32_t block = share.first_block; block < blocks; block += share.column_warps) {
            const Words low = *reinterpret_cast<const Words*>(weights + block * 1024);
            const Words high = *reinterpret_cast<const Words*>(weights + block * 1024 + 512);
            // The warps of the row blocks see the same activations: each squares its share.
            const bool squares = op.norm != 0 && block % share.row_warps == share.row_block;
            sums.add(low, high, rows + block * 64, stride, squares);
        }
        simt::syncWarp();
        if (lane == 0) {
            simt::arrive(worker.weights_empty + worker.weight_at.slot);
        }
        worker.weight_at.advance(region.weight_stages);
        releaseActivations(worker);
    }
    sums.store(worker, worker.thread / 32, op.norm != 0);
}

/// The tile's sums of rows `row` and `row` + 1 for a request, from all warps.
template <class Config>
KERF_DEVICE void gather(const WorkerState& worker, const WarpShare& share, std::uint32_t row,
                        std::uint32_t request, float& first, float& second) {
    first = 0;
    second = 0;
    for (std::uint32_t part = 0; part < share.column_warps; ++part) {
        const std::uint32_t warp = part * share.row_warps + row / 16;
        const float* sums =
            worker.sums + (warp * Config::kPaddedBatch + request) * kSumStride + row % 16;
        first += sums[0];
        second += sums[1];
    }
}

template <class Config>
KERF_DEVICE float gatherSquares(const WorkerState& worker, std::uint32_t request) {
    float total = 0;
    for (std::uint32_t warp = 0; warp < Config::kConsumerWarps; ++warp) {
        total += worker.squares[warp * Config::kPaddedBatch + request];
    }
    return total;
}

KERF_DEVICE float normFactor(const RegionArguments& region, const DeviceOp& op, float squares) {
    return op.norm == 0
               ? 1.0F
               : simt::inverseRoot(squares / static_cast<float>(op.columns) + region.norm_epsilon);
}

/// Leaves this split's sums in memory: [row block][split][request][rows_a_tile], then the squares
/// of every request.
template <class Config>
KERF_DEVICE void storePartials(const WorkerState& worker, const DeviceOp& op,
                               const WarpShare& share, float* partials) {
    const std::uint32_t pairs = op.rows_a_tile / 2;
    const std::uint32_t batch = worker.region.batch;
    for (std::uint32_t i = worker.thread; i < pairs * batch; i += Config::kConsumers) {
        float first = 0;
        float second = 0;
        gather<Config>(worker, share, i % pairs * 2, i / pairs, first, second);
        *reinterpret_cast<std::uint64_t*>(partials + std::uint64_t{i} * 2) =
            bitsOfFloat(first) | (static_cast<std::uint64_t>(bitsOfFloat(second)) << 32);
    }
    if (op.norm != 0) {
        for (std::uint32_t request = worker.thread; request < batch;
             request += Config::kConsumers) {
            partials[std::uint64_t{batch} * op.rows_a_tile + request] =
                gatherSquares<Config>(worker, request);
        }
    }
}

/// Returns false when another split of the same rows finishes them.
template <class Config>
KERF_DEVICE bool productTile(WorkerState& worker, const DeviceOp& op, std::uint32_t tile,
                             std::uint32_t position) {
    const RegionArguments& region = worker.region;
    const WarpShare share = WarpShare::of<Config>(op, worker.thread / 32);
    const std::uint32_t block = tile % op.row_blocks;
    multiplyStages<Config>(worker, op, share);
    consumersMeet<Config>();
    if constexpr (Config::has(Epilogue::BestOfTile)) {
        if (op.epilogue == Epilogue::BestOfTile) { // never split: the plan sees to it
            const auto logits = [&](std::uint32_t row, std::uint32_t request, float& first,
                                    float& second) {
                gather<Config>(worker, share, row, request, first, second);
                const float factor = normFactor(region, op, gatherSquares<Config>(worker, request));
                first *= factor;
                second *= factor;
            };
            bestOfTile<Config>(worker, op, block, logits);
            return true;
        }
    }
    const std::uint32_t pairs = op.rows_a_tile / 2;
    const std::uint64_t partial_floats =
        std::uint64_t{region.batch} * op.rows_a_tile + region.batch;
    float* partials = op.partials + block * op.splits * partial_floats;
    if (op.splits > 1) {
        storePartials<Config>(worker, op, share, partials + tile / op.row_blocks * partial_floats);
        if (!lastToArrive<Config>(worker, op.arrivals + block, op.splits)) {
            return false;
        }
    }
    for (std::uint32_t i = worker.thread; i < pairs * region.batch; i += Config::kConsumers) {
        const std::uint32_t request = i / pairs;
        float first = 0;
        float second = 0;
        float squares = 0;
        if (op.splits > 1) { // in a fixed order, so that the result does not depend on who is last
            for (std::uint32_t split = 0; split < op.splits; ++split) {
                const float* from = partials + split * partial_floats;
                const std::uint64_t pair = simt::loadCoherent(
                    reinterpret_cast<const unsigned long long*>(from + std::uint64_t{i} * 2));
                first += floatOfBits(static_cast<std::uint32_t>(pair));
                second += floatOfBits(static_cast<std::uint32_t>(pair >> 32));
                if (op.norm != 0) {
                    squares += simt::loadCoherent(
                        from + std::uint64_t{region.batch} * op.rows_a_tile + request);
                }
            }
        } else {
            gather<Config>(worker, share, i % pairs * 2, request, first, second);
            if (op.norm != 0) {
                squares = gatherSquares<Config>(worker, request);
            }
        }
        const float factor = normFactor(region, op, squares);
        finishPair<Config>(region, op, block * op.rows_a_tile + i % pairs * 2, request, position,
                           first * factor, second * factor);
    }
    return true;
}

} // namespace kerf::lab

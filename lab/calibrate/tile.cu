// SPDX-License-Identifier: GPL-3.0-or-later
// A tile whose data is on chip: 8 consumer warps, each a dot product of one row of 2048 bf16 with
// 1, 2 or 4 vectors held in registers, by plain multiply-adds.
#include "lab/calibrate/bench.h"
#include "lab/common/lab_error.h"

#include <cmath>
#include <cstdint>
#include <cuda_bf16.h>

namespace kerf::lab {
namespace {

constexpr int kRows = 8;
constexpr int kColumns = 2048;
constexpr int kChunks = kColumns / (32 * 8); ///< of 8 values a lane
constexpr int kFewTiles = 200;
constexpr int kManyTiles = 1200;

__device__ float low(std::uint32_t pair) {
    return __uint_as_float(pair << 16);
}
__device__ float high(std::uint32_t pair) {
    return __uint_as_float(pair & 0xffff0000u);
}

/// `weights`: one ring of tiles; `vectors`: Batch of kColumns; `sums`: by (block, stage, row,
/// vector): blocks that wrote the same words would wait for one another in L2.
template <int Batch>
__global__ void __launch_bounds__(kWorkerThreads, 1)
    computeTiles(const uint4* weights, const uint4* vectors, int tiles, bool barrier, float* sums) {
    extern __shared__ __align__(128) uint4 ring[];
    constexpr int kTileWords = kTileBytes / sizeof(uint4);
    for (int i = static_cast<int>(threadIdx.x); i < kRingStages * kTileWords; i += kWorkerThreads) {
        ring[i] = weights[i];
    }
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (warp >= kRows) {
        return; // the producer warp has nothing to do: the data is there
    }
    uint4 x[Batch][kChunks];
#pragma unroll
    for (int b = 0; b < Batch; ++b) {
#pragma unroll
        for (int c = 0; c < kChunks; ++c) {
            x[b][c] = vectors[b * kColumns / 8 + c * 32 + lane];
        }
    }
    float* own_sums = sums + std::size_t{blockIdx.x} * kRingStages * kRows * Batch;
    for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % kRingStages;
        const uint4* row = ring + stage * kTileWords + warp * (kColumns / 8);
        float part[Batch][4] = {}; // a chain of adds each: one alone would wait for itself
#pragma unroll
        for (int c = 0; c < kChunks; ++c) {
            const uint4 w = row[c * 32 + lane];
            const std::uint32_t pairs[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (int b = 0; b < Batch; ++b) {
                const std::uint32_t others[4] = {x[b][c].x, x[b][c].y, x[b][c].z, x[b][c].w};
#pragma unroll
                for (int p = 0; p < 4; ++p) {
                    part[b][p] = fmaf(low(pairs[p]), low(others[p]), part[b][p]);
                    part[b][p] = fmaf(high(pairs[p]), high(others[p]), part[b][p]);
                }
            }
        }
        float sum[Batch];
#pragma unroll
        for (int b = 0; b < Batch; ++b) {
            sum[b] = (part[b][0] + part[b][1]) + (part[b][2] + part[b][3]);
#pragma unroll
            for (int step = 16; step > 0; step /= 2) {
                sum[b] += __shfl_xor_sync(0xffffffffu, sum[b], step);
            }
        }
        if (lane == 0) {
#pragma unroll
            for (int b = 0; b < Batch; ++b) {
                own_sums[(stage * kRows + warp) * Batch + b] = sum[b];
            }
        }
        if (barrier) { // of the consumer warps
            asm volatile("bar.sync 1, 256;" ::: "memory");
        }
    }
}

float bf16(std::uint16_t bits) {
    const __nv_bfloat16_raw raw{bits};
    return __bfloat162float(__nv_bfloat16(raw));
}

/// Values in ±[1, 2) from a linear congruential sequence.
std::vector<std::uint16_t> randomBf16(std::size_t count, std::uint32_t seed) {
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t& value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<std::uint16_t>(0x3f80u | (seed >> 25) | ((seed >> 9) & 0x8000u));
    }
    return values;
}

class Tiles {
public:
    explicit Tiles(Bench& bench) : bench_(bench) {}

    template <int Batch> Summary measure(int blocks, bool barrier) {
        const auto weights = randomBf16(std::size_t(kRingBytes) / 2, 1);
        const auto vectors = randomBf16(std::size_t(Batch) * kColumns, 2);
        DeviceArray<std::uint16_t> device_weights(weights.size());
        DeviceArray<std::uint16_t> device_vectors(vectors.size());
        DeviceArray<float> sums(std::size_t(blocks) * kRingStages * kRows * Batch);
        device_weights.upload(weights);
        device_vectors.upload(vectors);
        sums.clear(bench_.stream.get());
        allowRing(computeTiles<Batch>);
        const Summary us = slopeUs(bench_, kFewTiles, kManyTiles, [&](int tiles) {
            return bench_.stream.elapsedUs([&] {
                computeTiles<Batch><<<blocks, kWorkerThreads, kRingBytes, bench_.stream.get()>>>(
                    reinterpret_cast<const uint4*>(device_weights.data()),
                    reinterpret_cast<const uint4*>(device_vectors.data()), tiles, barrier,
                    sums.data());
            });
        });
        check(sums.download(), weights, vectors, Batch);
        return us;
    }

private:
    static void check(const std::vector<float>& sums, const std::vector<std::uint16_t>& weights,
                      const std::vector<std::uint16_t>& vectors, int batch) {
        constexpr double kBound = 1e-5; // float32 sums against the terms' magnitudes
        const int results = kRingStages * kRows * batch;
        for (int row = 0; row < kRingStages * kRows; ++row) {
            for (int b = 0; b < batch; ++b) {
                double exact = 0;
                double magnitude = 0;
                for (int k = 0; k < kColumns; ++k) {
                    const double term = double(bf16(weights[std::size_t(row) * kColumns + k])) *
                                        bf16(vectors[std::size_t(b) * kColumns + k]);
                    exact += term;
                    magnitude += std::abs(term);
                }
                for (std::size_t i = row * batch + b; i < sums.size(); i += results) { // each block
                    if (!(std::abs(sums[i] - exact) < kBound * magnitude)) {
                        throw LabError("calibrate: a tile's dot product is wrong");
                    }
                }
            }
        }
    }

    Bench& bench_;
};

} // namespace

void measureTile(Bench& bench) {
    Tiles tiles(bench);
    const Summary on_chip = tiles.measure<1>(bench.sms, false);
    const double gbps = kTileBytes / on_chip.median / 1e3;
    bench.add("on_chip_gbps_per_sm", "GB/s",
              {gbps, gbps * on_chip.spread / on_chip.median, on_chip.count},
              "weights that 8 warps of an SM take from shared memory: tiles of 8 rows x 2048 bf16 "
              "times one vector in registers");
    bench.add("tile_on_chip_us", "us", on_chip,
              "8 rows x 2048 bf16 in shared memory times one vector in registers, 8 warps, a row "
              "each; all SMs");
    bench.add("tile_on_chip_barrier_us", "us", tiles.measure<1>(bench.sms, true),
              "the same with a barrier of the 8 warps after each tile");
    bench.add("tile_on_chip_batch2_us", "us", tiles.measure<2>(bench.sms, false),
              "the same without the barrier, 2 vectors");
    bench.add("tile_on_chip_batch4_us", "us", tiles.measure<4>(bench.sms, false),
              "the same without the barrier, 4 vectors");
}

} // namespace kerf::lab

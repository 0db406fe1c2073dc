// SPDX-License-Identifier: GPL-3.0-or-later
// A dependent step that computes: wait for all SMs, load the activations, one tile of products from
// shared memory, write, signal. What a small op inside a region costs beside its weights.
#include "lab/calibrate/bench.h"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

#include <cmath>
#include <cstdint>

namespace kerf::lab {
namespace {

constexpr int kRows = 8; ///< a warp each
constexpr int kColumns = 2048;
constexpr int kChunks = kColumns / (32 * 8); ///< of 8 values a lane
constexpr int kVectorWords = kColumns / 8;   ///< of 16 bytes
constexpr int kFewSteps = 100;
constexpr int kManySteps = 900;

struct ProductSteps {
    int steps = 0;
    int tiles = 0; ///< a step, all in shared memory
};

__device__ float low(std::uint32_t pair) {
    return __uint_as_float(pair << 16);
}
__device__ float high(std::uint32_t pair) {
    return __uint_as_float(pair & 0xffff0000u);
}

__device__ inline void consumerBarrier() {
    asm volatile("bar.sync 1, 256;" ::: "memory");
}

/// `vectors`: two of kColumns bf16, all ones; each step writes its rows' sums behind them, so that
/// the values read never change and the sums can be checked.
__global__ void __launch_bounds__(kWorkerThreads, 1)
    productSteps(const uint4* weights, const uint4* vectors, float* sums, ProductSteps job,
                 unsigned* meeting, unsigned* fault) {
    extern __shared__ __align__(128) uint4 ring[];
    __shared__ __align__(16) uint4 loaded[kVectorWords];
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
    int consumed = 0;
    for (int step = 0; step < job.steps; ++step) {
        if (threadIdx.x == 0) {
            waitAtLeast(meeting, static_cast<unsigned>(step) * gridDim.x, fault);
        }
        consumerBarrier();
        loaded[threadIdx.x] = __ldcg(vectors + (step % 2) * kVectorWords + threadIdx.x);
        consumerBarrier();
        uint4 x[kChunks];
#pragma unroll
        for (int c = 0; c < kChunks; ++c) {
            x[c] = loaded[c * 32 + lane];
        }
        for (int tile = 0; tile < job.tiles; ++tile, ++consumed) {
            const uint4* row = ring + consumed % kRingStages * kTileWords + warp * (kColumns / 8);
            float part[4] = {};
#pragma unroll
            for (int c = 0; c < kChunks; ++c) {
                const uint4 w = row[c * 32 + lane];
                const std::uint32_t pairs[4] = {w.x, w.y, w.z, w.w};
                const std::uint32_t others[4] = {x[c].x, x[c].y, x[c].z, x[c].w};
#pragma unroll
                for (int p = 0; p < 4; ++p) {
                    part[p] = fmaf(low(pairs[p]), low(others[p]), part[p]);
                    part[p] = fmaf(high(pairs[p]), high(others[p]), part[p]);
                }
            }
            float sum = (part[0] + part[1]) + (part[2] + part[3]);
#pragma unroll
            for (int shift = 16; shift > 0; shift /= 2) {
                sum += __shfl_xor_sync(0xffffffffu, sum, shift);
            }
            if (lane == 0) {
                sums[(blockIdx.x * kRingStages + consumed % kRingStages) * kRows + warp] = sum;
            }
        }
        consumerBarrier();
        if (threadIdx.x == 0) {
            addRelease(meeting, 1);
        }
    }
}

} // namespace

void measureProductStep(Bench& bench) {
    constexpr std::uint16_t kOne = 0x3f80; // bf16
    const std::vector<std::uint16_t> weights(std::size_t(kRingBytes) / 2, kOne);
    const std::vector<std::uint16_t> vectors(2 * std::size_t(kColumns), kOne);
    DeviceArray<std::uint16_t> device_weights(weights.size());
    DeviceArray<std::uint16_t> device_vectors(vectors.size());
    DeviceArray<float> sums(std::size_t(bench.sms) * kRingStages * kRows);
    DeviceArray<unsigned> meeting(1);
    device_weights.upload(weights);
    device_vectors.upload(vectors);
    allowRing(productSteps);
    Series series{"product_step_us_by_tiles",
                  "tiles",
                  "us",
                  {},
                  "step of a persistent kernel: wait for all SMs, load 4 KB of activations to "
                  "shared memory and from there to the registers of 8 warps, so many tiles of 8 "
                  "rows x 2048 bf16 that are in shared memory, write 8 sums a tile, signal"};
    for (const int tiles : {0, 1, 2, 4}) {
        sums.clear(bench.stream.get());
        const Summary us = slopeUs(bench, kFewSteps, kManySteps, [&](int steps) {
            meeting.clear(bench.stream.get());
            return bench.stream.elapsedUs([&] {
                productSteps<<<bench.sms, kWorkerThreads, kRingBytes, bench.stream.get()>>>(
                    reinterpret_cast<const uint4*>(device_weights.data()),
                    reinterpret_cast<const uint4*>(device_vectors.data()), sums.data(),
                    {steps, tiles}, meeting.data(), bench.watchdog.flag());
            });
        });
        bench.watchdog.check("product steps");
        const std::vector<float> found = sums.download();
        for (const float sum : found) {
            if (tiles > 0 && sum != float(kColumns)) {
                throw LabError("calibrate: a product step computed wrong sums");
            }
        }
        series.points.push_back({double(tiles), us});
    }
    bench.found.series.push_back(series);
}

} // namespace kerf::lab

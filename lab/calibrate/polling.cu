// SPDX-License-Identifier: GPL-3.0-or-later
// What waiting SMs cost those that stream: half of the SMs stream, the other half polls.
#include "lab/calibrate/stream.cuh"
#include "lab/common/lab_error.h"

namespace kerf::lab {
namespace {

constexpr std::uint64_t kBufferTiles = 256 * 1024;
constexpr int kFewTiles = 256;
constexpr int kManyTiles = 768;

/// Even blocks stream and then raise `done`; odd ones poll it with as many threads as they have,
/// or end at once when `poll` is false.
__global__ void streamAndPoll(const std::uint32_t* words, StreamJob job, bool poll,
                              unsigned* checksum, unsigned* done, unsigned* fault) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ __align__(8) std::uint64_t full[kRingStages];
    const unsigned streamers = gridDim.x / 2;
    if (blockIdx.x % 2 == 0) {
        if (threadIdx.x == 0) {
            atomicAdd(checksum,
                      streamTiles(words, job, blockIdx.x / 2, streamers, ring, full, fault));
            addRelease(done, 1);
        }
    } else if (poll) {
        waitAtLeast(done, streamers, fault);
    }
}

} // namespace

void measurePolling(Bench& bench) {
    allowRing(streamAndPoll);
    PatternBuffer buffer(bench, kBufferTiles);
    DeviceArray<unsigned> counters(2 * kCounterStride);
    const int streamers = bench.sms / 2;
    const auto measure = [&](const char* name, int threads, bool poll, const char* how) {
        const Summary us = slopeUs(bench, kFewTiles, kManyTiles, [&](int tiles) {
            StreamJob job{0, std::uint64_t(tiles) * streamers, tiles, kRingStages};
            job.first_tile = buffer.takeCold(job.window_tiles);
            counters.clear(bench.stream.get());
            const double run_us = bench.stream.elapsedUs([&] {
                streamAndPoll<<<2 * streamers, threads, kRingBytes, bench.stream.get()>>>(
                    buffer.data(), job, poll, counters.data(), counters.data() + kCounterStride,
                    bench.watchdog.flag());
            });
            bench.watchdog.check("streaming beside pollers");
            if (counters.download().front() != expectedChecksum(job, streamers)) {
                throw LabError("calibrate: streaming beside pollers brought wrong data");
            }
            return run_us;
        });
        const double gbps = streamers * double(kTileBytes) / us.median / 1e3;
        bench.add(name, "GB/s", {gbps, gbps * us.spread / us.median, us.count}, how);
    };
    measure("stream_half_idle_gbps", 1, false, "every second SM streams, the others are idle");
    measure("stream_half_polling_gbps", 1, true,
            "every second SM streams, one thread on each other polls one counter");
    measure("stream_half_polling_288_gbps", kWorkerThreads, true,
            "the same with 288 polling threads on each");
}

} // namespace kerf::lab

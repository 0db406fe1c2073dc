// SPDX-License-Identifier: GPL-3.0-or-later
// A dependent step while weights stream: what an event and an activation load cost when the same SM
// and the same L2 carry bulk copies. One warp streams tiles through a ring, eight consume them.
#include "lab/calibrate/pattern.cuh"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

#include <algorithm>
#include <memory>

namespace kerf::lab {
namespace {

constexpr int kConsumers = 256;
constexpr int kConsumerWarps = kConsumers / 32;
constexpr int kWords = 1024; ///< 4 KB activation
constexpr int kOwn = 8;      ///< words that a block writes
constexpr std::uint64_t kBufferTiles = 256 * 1024;

enum class Load { None, Shared, Registers };
/// How tiles are streamed. Consumed: `tiles` a step, each waited for. Free: as fast as they come,
/// nobody waits for them.
enum class Pace { Consumed, Free };

struct StepJob {
    unsigned steps = 0;
    int tiles = 0; ///< a step and worker
    std::uint64_t first_tile = 0;
    std::uint64_t window_tiles = 1;
};

__device__ inline void consumerBarrier() {
    asm volatile("bar.sync 1, 256;" ::: "memory");
}

__device__ inline void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier))
                 : "memory");
}

template <Load how, Pace pace>
__global__ void __launch_bounds__(kWorkerThreads, 1)
    streamingSteps(const std::uint32_t* weights, std::uint32_t* vectors, StepJob job,
                   unsigned* checksum, unsigned* meeting, unsigned* fault) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ __align__(8) std::uint64_t full[kRingStages];
    __shared__ __align__(8) std::uint64_t empty[kRingStages];
    __shared__ __align__(16) std::uint32_t loaded[kWords];
    __shared__ unsigned finished;
    if (threadIdx.x == 0) {
        finished = 0;
        for (int stage = 0; stage < kRingStages; ++stage) {
            initBarrier(full + stage, 1);
            initBarrier(empty + stage, kConsumerWarps);
        }
        publishBarriers();
    }
    __syncthreads();
    if (threadIdx.x >= kConsumers) { // the producer warp
        if (threadIdx.x != kConsumers) {
            return;
        }
        const int most = pace == Pace::Free ? 1 << 30 : static_cast<int>(job.steps) * job.tiles;
        int started = 0;
        for (; started < most; ++started) {
            const int stage = started % kRingStages;
            const unsigned parity = static_cast<unsigned>(started / kRingStages + 1) & 1;
            if (started >= kRingStages) { // the first round is free
                waitPhase(pace == Pace::Free ? full + stage : empty + stage, parity, fault);
            }
            if (pace == Pace::Free && *static_cast<volatile unsigned*>(&finished) != 0) {
                break;
            }
            const std::uint64_t tile =
                job.first_tile +
                (std::uint64_t(started) * gridDim.x + blockIdx.x) % job.window_tiles;
            startBulkCopy(ring + stage * kTileBytes, weights + tile * kWordsPerTile, kTileBytes,
                          full + stage);
        }
        if (pace == Pace::Free) { // no copy may be under way when the block ends
            for (int tile = max(0, started - kRingStages); tile < started; ++tile) {
                waitPhase(full + tile % kRingStages, static_cast<unsigned>(tile / kRingStages) & 1,
                          fault);
            }
        }
        return;
    }
    const int total = static_cast<int>(gridDim.x) * kOwn;
    const int mine = static_cast<int>(blockIdx.x) * kOwn + static_cast<int>(threadIdx.x);
    int consumed = 0;
    unsigned sum = 0;
    for (unsigned step = 0; step < job.steps; ++step) {
        const auto* from = reinterpret_cast<const uint4*>(vectors + (step % 2) * total);
        std::uint32_t* to = vectors + ((step + 1) % 2) * total;
        if (threadIdx.x == 0) {
            waitAtLeast(meeting, step * gridDim.x, fault);
        }
        consumerBarrier();
        std::uint32_t next = 0;
        if (how == Load::Shared) {
            reinterpret_cast<uint4*>(loaded)[threadIdx.x] = __ldcg(from + threadIdx.x);
            consumerBarrier();
            next = loaded[(7 * mine + 3) % kWords] + 1;
        } else if (how == Load::Registers) {
            uint4 part[kWords / 128];
#pragma unroll
            for (int i = 0; i < kWords / 128; ++i) {
                part[i] = __ldcg(from + 32 * i + threadIdx.x % 32);
            }
#pragma unroll
            for (int i = 0; i < kWords / 128; ++i) {
                next ^= part[i].x ^ part[i].y ^ part[i].z ^ part[i].w;
            }
            next = __reduce_xor_sync(0xffffffffu, next) + mine;
        }
        if (pace == Pace::Consumed) {
            for (int i = 0; i < job.tiles; ++i, ++consumed) {
                const int stage = consumed % kRingStages;
                waitPhase(full + stage, static_cast<unsigned>(consumed / kRingStages) & 1, fault);
                const auto* data =
                    reinterpret_cast<const volatile std::uint32_t*>(ring + stage * kTileBytes);
                if (threadIdx.x == 0) {
                    sum += data[0] + data[kWordsPerTile - 1];
                }
                __syncwarp();
                if (threadIdx.x % 32 == 0) {
                    arrive(empty + stage);
                }
            }
        }
        if (static_cast<int>(threadIdx.x) < kOwn) {
            to[mine] = next;
        }
        consumerBarrier();
        if (threadIdx.x == 0) {
            addRelease(meeting, 1);
        }
    }
    if (threadIdx.x == 0) {
        *static_cast<volatile unsigned*>(&finished) = 1;
        atomicAdd(checksum, sum);
    }
}

class StreamingSteps {
public:
    explicit StreamingSteps(Bench& bench)
        : bench_(bench), buffer_(bench, kBufferTiles), checksum_(1), meeting_(1) {}

    /// µs of one step as a kernel of its own, a node of a graph of such kernels; or with a 4-byte
    /// memset node before each.
    template <Load how> Summary measureLaunch(int tiles, bool with_memset = false) {
        allowRing(streamingSteps<how, Pace::Consumed>);
        DeviceArray<std::uint32_t> vectors(2 * std::size_t(bench_.sms) * kOwn);
        vectors.clear(bench_.stream.get());
        const std::uint64_t node_tiles = std::uint64_t(tiles) * bench_.sms;
        const auto chain = [&](int length) {
            return std::make_unique<Graph>(bench_.stream, [&](cudaStream_t stream) {
                for (int i = 0; i < length; ++i) {
                    StepJob job;
                    job.steps = 1;
                    job.tiles = tiles;
                    job.window_tiles = std::max<std::uint64_t>(node_tiles, 1);
                    // All nodes of a graph read other tiles: 8 GB in turn.
                    job.first_tile = node_tiles * i % (kBufferTiles - node_tiles);
                    if (with_memset) {
                        KERF_CUDA(cudaMemsetAsync(meeting_.data(), 0, sizeof(unsigned), stream));
                    }
                    streamingSteps<how, Pace::Consumed>
                        <<<bench_.sms, kWorkerThreads, kRingBytes, stream>>>(
                            buffer_.data(), vectors.data(), job, checksum_.data(), meeting_.data(),
                            bench_.watchdog.flag());
                }
            });
        };
        constexpr int kFew = 20;
        constexpr int kMany = 120;
        const auto few = chain(kFew);
        const auto many = chain(kMany);
        buffer_.refill(bench_);
        const Summary us = slopeUs(bench_, kFew, kMany, [&](int length) {
            buffer_.refill(bench_); // the tiles of the run before may still be in L2
            const Graph& graph = length == kFew ? *few : *many;
            return bench_.stream.elapsedUs([&] { graph.launch(bench_.stream.get()); });
        });
        bench_.watchdog.check("streaming kernels");
        return us;
    }

    template <Load how, Pace pace> Summary measure(int tiles) {
        allowRing(streamingSteps<how, pace>);
        const int few = 100;
        const int many = tiles > 1 ? 400 : 900;
        std::vector<std::uint32_t> start(2 * std::size_t(bench_.sms) * kOwn);
        for (std::size_t i = 0; i < start.size() / 2; ++i) {
            start[i] = 2654435761u * static_cast<std::uint32_t>(i);
        }
        DeviceArray<std::uint32_t> vectors(start.size());
        return slopeUs(bench_, few, many, [&](int steps) {
            StepJob job;
            job.steps = static_cast<unsigned>(steps);
            job.tiles = tiles;
            if (pace == Pace::Free) {
                job.window_tiles = 200 * 1024;
            } else if (tiles > 0) {
                job.window_tiles = std::uint64_t(steps) * tiles * bench_.sms;
            }
            job.first_tile = buffer_.takeCold(job.window_tiles);
            vectors.upload(start);
            checksum_.clear(bench_.stream.get());
            meeting_.clear(bench_.stream.get());
            const double us = bench_.stream.elapsedUs([&] {
                streamingSteps<how, pace>
                    <<<bench_.sms, kWorkerThreads, kRingBytes, bench_.stream.get()>>>(
                        buffer_.data(), vectors.data(), job, checksum_.data(), meeting_.data(),
                        bench_.watchdog.flag());
            });
            bench_.watchdog.check("streaming steps");
            if (pace == Pace::Consumed) {
                std::uint32_t sum = 0;
                for (std::uint64_t i = 0; tiles > 0 && i < job.window_tiles; ++i) {
                    sum += tileChecksum(job.first_tile + i);
                }
                if (checksum_.download().front() != sum) {
                    throw LabError("calibrate: streaming steps consumed wrong data");
                }
            }
            return us;
        });
    }

private:
    Bench& bench_;
    PatternBuffer buffer_;
    DeviceArray<unsigned> checksum_;
    DeviceArray<unsigned> meeting_;
};

} // namespace

void measureStreamingStep(Bench& bench) {
    StreamingSteps steps(bench);
    Series shared{"streaming_step_us_by_tiles",
                  "tiles",
                  "us",
                  {},
                  "dependent step with a 4 KB activation load to shared memory, while each SM "
                  "streams and consumes so many cold tiles of 32 KB a step"};
    Series registers{"streaming_step_registers_us_by_tiles",
                     "tiles",
                     "us",
                     {},
                     "the same with every consumer warp loading the 4 KB to registers"};
    for (const int tiles : {0, 1, 2, 4}) {
        shared.points.push_back(
            {double(tiles), steps.measure<Load::Shared, Pace::Consumed>(tiles)});
        registers.points.push_back(
            {double(tiles), steps.measure<Load::Registers, Pace::Consumed>(tiles)});
    }
    bench.add("step_beside_full_stream_us", "us", steps.measure<Load::Shared, Pace::Free>(0),
              "dependent step with a 4 KB activation load to shared memory while all SMs stream "
              "cold tiles as fast as they come");
    bench.add("step_registers_beside_full_stream_us", "us",
              steps.measure<Load::Registers, Pace::Free>(0),
              "the same with every consumer warp loading the 4 KB to registers");
    Series none_launch{"streaming_kernel_us_by_tiles",
                       "tiles",
                       "us",
                       {},
                       "so many cold tiles of 32 KB an SM, loaded and seen, as a kernel of its own "
                       "(192 KB of shared memory): a node of a graph of such kernels"};
    Series shared_launch{"streaming_kernel_activation_us_by_tiles",
                         "tiles",
                         "us",
                         {},
                         "the same with a 4 KB activation load to shared memory first"};
    Series memset_launch{
        "memset_and_streaming_kernel_us_by_tiles",
        "tiles",
        "us",
        {},
        "the kernel without activations, with a 4-byte memset node that clears its "
        "counter before each"};
    for (const int tiles : {0, 1, 2, 4, 8, 16}) {
        memset_launch.points.push_back(
            {double(tiles), steps.measureLaunch<Load::None>(tiles, true)});
        none_launch.points.push_back({double(tiles), steps.measureLaunch<Load::None>(tiles)});
        shared_launch.points.push_back({double(tiles), steps.measureLaunch<Load::Shared>(tiles)});
    }
    bench.found.series.insert(bench.found.series.end(),
                              {shared, registers, none_launch, shared_launch, memset_launch});

    const auto figure = [&](const char* name) { return findFigure(bench.found, name)->value; };
    const Summary barrier = findSeries(bench.found, "barrier_us_by_workers")->points.back().y;
    const double l2_us =
        kWords * sizeof(std::uint32_t) * bench.sms / figure("l2_gbps").median / 1e3;
    Summary latency = difference(shared.points[0].y, barrier);
    latency.median -= l2_us;
    bench.add("dependent_latency_us", "us", latency,
              "step of a persistent kernel (wait for all SMs, block barrier, load 4 KB from L2 to "
              "shared memory, block barrier, write, block barrier, signal) less the grid barrier "
              "of lone threads and the 4 KB at the L2 rate");
    Summary memset = difference(memset_launch.points[0].y, none_launch.points[0].y);
    memset.median -= figure("launch_gap_us").median;
    bench.add("memset_us", "us", memset,
              "4-byte memset node before each persistent kernel that writes 8 words a block and "
              "signals them, less those kernels alone and a launch gap");
    bench.add("drain_us", "us",
              difference(none_launch.points[0].y, figure("empty_persistent_kernel_us")),
              "persistent kernel whose blocks each write 8 words and signal them at their end, "
              "less an empty persistent kernel, each a node of a chain");
}

} // namespace kerf::lab

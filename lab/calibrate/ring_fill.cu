// SPDX-License-Identifier: GPL-3.0-or-later
// When each tile of a ring's first fill arrives, and when a launch's activations do beside it. Each
// launch is a node of a graph of such launches, as the kernels of a model are.
#include "lab/calibrate/pattern.cuh"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

#include <algorithm>

namespace kerf::lab {
namespace {

constexpr int kNodes = 40;
constexpr int kFirstNode = 4;           ///< those before it start into an idle memory
constexpr int kMostTiles = 16;          ///< a worker and launch
constexpr int kActivationWarps = 2;     ///< behind one warp a stage
constexpr int kActivationWords = 1024;  ///< 4 KB
constexpr int kOwn = 8;                 ///< words that a block writes
constexpr int kLogged = kMostTiles + 1; ///< activations, then tiles
constexpr std::uint64_t kBufferTiles = 256 * 1024;

struct Fill {
    int tiles = 0; ///< a worker
    long long hold_cycles = 0;
    std::uint64_t first_tile = 0;
};

__device__ inline void startTile(const std::uint32_t* words, const Fill& fill, int tile,
                                 unsigned char* ring, std::uint64_t* full) {
    const std::uint64_t at = fill.first_tile + std::uint64_t(tile) * gridDim.x + blockIdx.x;
    const int stage = tile % kRingStages;
    startBulkCopy(ring + stage * kTileBytes, words + at * kWordsPerTile, kTileBytes, full + stage);
}

/// Up to kRingStages tiles at once. A warp a stage waits for its tile; two warps read the
/// activations that the launch before has written. Cycles since the block's first instruction.
__global__ void __launch_bounds__(kWorkerThreads, 1)
    timeFill(const std::uint32_t* words, std::uint32_t* vectors, Fill fill, long long* cycles,
             unsigned* checksums, unsigned* fault) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ __align__(8) std::uint64_t full[kRingStages];
    const long long begin = clock64();
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kRingStages; ++stage) {
            initBarrier(full + stage, 1);
        }
        publishBarriers();
    }
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x % 32);
    unsigned sum = 0;
    if (warp == kRingStages + kActivationWarps) { // the producer
        if (lane == 0) {
            for (int tile = 0; tile < fill.tiles; ++tile) {
                startTile(words, fill, tile, ring, full);
            }
        }
    } else if (warp < kRingStages) {
        if (lane == 0 && warp < fill.tiles) {
            waitPhase(full + warp, 0, fault);
            const auto* data =
                reinterpret_cast<const volatile std::uint32_t*>(ring + warp * kTileBytes);
            sum = data[0];
            asm volatile("" : "+r"(sum)::"memory"); // the clock is read after this
            cycles[blockIdx.x * kLogged + 1 + warp] = clock64() - begin;
            atomicAdd(checksums + blockIdx.x, sum + data[kWordsPerTile - 1]);
        }
    } else {
        constexpr int kReads = kActivationWords / 4 / (32 * kActivationWarps);
        const auto* from = reinterpret_cast<const uint4*>(vectors);
        uint4 part[kReads];
#pragma unroll
        for (int i = 0; i < kReads; ++i) {
            part[i] = __ldcg(from + 32 * kActivationWarps * i + threadIdx.x - 32 * kRingStages);
        }
#pragma unroll
        for (int i = 0; i < kReads; ++i) {
            sum ^= part[i].x ^ part[i].y ^ part[i].z ^ part[i].w;
        }
        asm volatile("" : "+r"(sum)::"memory");
        if (threadIdx.x == 32 * kRingStages) {
            cycles[blockIdx.x * kLogged] = clock64() - begin;
        }
        sum = __reduce_xor_sync(0xffffffffu, sum);
    }
    __syncthreads();
    if (threadIdx.x < kOwn) {
        vectors[kActivationWords + blockIdx.x * kOwn + threadIdx.x] = sum;
    }
}

/// Any number of tiles; one thread takes them in order, holds each for `hold_cycles` and then gives
/// its stage to the next.
__global__ void __launch_bounds__(kWorkerThreads, 1)
    timeStream(const std::uint32_t* words, Fill fill, long long* cycles, unsigned* checksums,
               unsigned* fault) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ __align__(8) std::uint64_t full[kRingStages];
    const long long begin = clock64();
    if (threadIdx.x != 0) {
        return;
    }
    for (int stage = 0; stage < kRingStages; ++stage) {
        initBarrier(full + stage, 1);
    }
    publishBarriers();
    for (int tile = 0; tile < min(fill.tiles, kRingStages); ++tile) {
        startTile(words, fill, tile, ring, full);
    }
    unsigned sum = 0;
    for (int tile = 0; tile < fill.tiles; ++tile) {
        const int stage = tile % kRingStages;
        waitPhase(full + stage, static_cast<unsigned>(tile / kRingStages) & 1, fault);
        const auto* data =
            reinterpret_cast<const volatile std::uint32_t*>(ring + stage * kTileBytes);
        sum += data[0];
        asm volatile("" : "+r"(sum)::"memory");
        const long long there = clock64();
        cycles[blockIdx.x * kLogged + 1 + tile] = there - begin;
        sum += data[kWordsPerTile - 1];
        while (clock64() - there < fill.hold_cycles) {
        }
        if (tile + kRingStages < fill.tiles) {
            startTile(words, fill, tile + kRingStages, ring, full);
        }
    }
    checksums[blockIdx.x] += sum;
}

enum class Taken { AsTheyCome, InOrder };

class RingFill {
public:
    explicit RingFill(Bench& bench)
        : bench_(bench), buffer_(bench, kBufferTiles),
          vectors_(kActivationWords + std::size_t(bench.sms) * kOwn),
          cycles_(std::size_t(kNodes) * bench.sms * kLogged), checksums_(bench.sms) {
        allowRing(timeFill);
        allowRing(timeStream);
    }

    struct Times {
        std::vector<std::vector<double>> median_us;  ///< over launches and SMs
        std::vector<std::vector<double>> slowest_us; ///< of a launch's SMs, median over launches
        std::vector<double> launch_us;               ///< of the whole graph, by its launches
    };
    /// By logged event (activations, then tiles): µs since the block's start, one a repeat.
    Times measure(int tiles, Taken taken, double hold_us) {
        Times times{std::vector<std::vector<double>>(kLogged),
                    std::vector<std::vector<double>>(kLogged),
                    {}};
        for (int i = 0; i <= bench_.repeats / 3; ++i) {
            buffer_.refill(bench_);
            const double graph_us = run(tiles, taken, hold_us);
            if (i > 0) { // the first warms up
                times.launch_us.push_back(graph_us / kNodes);
            }
            const std::vector<long long> cycles = cycles_.download();
            for (int event = 0; event <= tiles && i > 0; ++event) {
                std::vector<double> us;
                std::vector<double> slowest;
                for (int node = kFirstNode; node < kNodes; ++node) {
                    double worst = 0;
                    for (int block = 0; block < bench_.sms; ++block) {
                        us.push_back(bench_.cyclesToUs(static_cast<double>(
                            cycles[(std::size_t(node) * bench_.sms + block) * kLogged + event])));
                        worst = std::max(worst, us.back());
                    }
                    slowest.push_back(worst);
                }
                times.median_us[event].push_back(median(us));
                times.slowest_us[event].push_back(median(slowest));
            }
        }
        return times;
    }

private:
    double run(int tiles, Taken taken, double hold_us) {
        checksums_.clear(bench_.stream.get());
        const std::uint64_t node_tiles = std::uint64_t(tiles) * bench_.sms;
        const auto fillOf = [&](int node) {
            Fill fill;
            fill.tiles = tiles;
            fill.hold_cycles = static_cast<long long>(hold_us * bench_.sm_clock_mhz);
            fill.first_tile = node_tiles * node;
            return fill;
        };
        const Graph graph(bench_.stream, [&](cudaStream_t stream) {
            for (int node = 0; node < kNodes; ++node) {
                long long* cycles = cycles_.data() + std::size_t(node) * bench_.sms * kLogged;
                if (taken == Taken::AsTheyCome) {
                    timeFill<<<bench_.sms, kWorkerThreads, kRingBytes, stream>>>(
                        buffer_.data(), vectors_.data(), fillOf(node), cycles, checksums_.data(),
                        bench_.watchdog.flag());
                } else {
                    timeStream<<<bench_.sms, kWorkerThreads, kRingBytes, stream>>>(
                        buffer_.data(), fillOf(node), cycles, checksums_.data(),
                        bench_.watchdog.flag());
                }
            }
        });
        const double us = bench_.stream.elapsedUs([&] { graph.launch(bench_.stream.get()); });
        bench_.watchdog.check("ring fill");
        const std::vector<unsigned> sums = checksums_.download();
        for (int block = 0; block < bench_.sms; ++block) {
            std::uint32_t expected = 0;
            for (int node = 0; node < kNodes; ++node) {
                for (int tile = 0; tile < tiles; ++tile) {
                    expected += tileChecksum(fillOf(node).first_tile +
                                             std::uint64_t(tile) * bench_.sms + block);
                }
            }
            if (sums[block] != expected) {
                throw LabError("calibrate: a ring's fill brought wrong data");
            }
        }
        return us;
    }

    Bench& bench_;
    PatternBuffer buffer_;
    DeviceArray<std::uint32_t> vectors_;
    DeviceArray<long long> cycles_;
    DeviceArray<unsigned> checksums_;
};

/// One point a tile.
Series byTile(const std::string& name, const std::vector<std::vector<double>>& by_event, int tiles,
              std::string how) {
    Series series{name, "tile", "us", {}, std::move(how)};
    for (int tile = 1; tile <= tiles; ++tile) {
        series.points.push_back({double(tile), summarise(by_event[tile])});
    }
    return series;
}

} // namespace

void measureRingFill(Bench& bench) {
    RingFill fill(bench);
    Series activations{"activation_us_by_tiles_in_flight",
                       "tiles",
                       "us",
                       {},
                       "a launch's first read of 4 KB that the launch before has written, since "
                       "the block's first instruction, beside so many bulk copies of 32 KB issued "
                       "at its start; all SMs, median"};
    std::vector<Series> arrivals;
    const auto add = [&](const std::string& name, const RingFill::Times& times, int tiles,
                         const std::string& how) {
        arrivals.push_back(byTile(name + "_us_by_tile", times.median_us, tiles, how));
        arrivals.push_back(byTile(name + "_slowest_us_by_tile", times.slowest_us, tiles,
                                  "the same, slowest SM of a launch"));
    };
    for (const int tiles : {0, 1, 2, 3, 4, 6}) {
        const auto times = fill.measure(tiles, Taken::AsTheyCome, 0);
        activations.points.push_back({double(tiles), summarise(times.median_us[0])});
        if (tiles > 0) {
            add("fill_of_" + std::to_string(tiles), times, tiles,
                "arrival of each cold tile of 32 KB when an SM issues " + std::to_string(tiles) +
                    " at a launch's start, since the block's first instruction; all SMs at once, "
                    "median");
        }
    }
    for (const double hold_us : {0.0, 0.34}) {
        Series launches{hold_us > 0 ? "stream_held_launch_us_by_tiles"
                                    : "stream_launch_us_by_tiles",
                        "tiles",
                        "us",
                        {},
                        "a launch of the next series, a node of a graph of such launches"};
        for (const int tiles : {1, 2, 4, 8, 16}) {
            const auto times = fill.measure(tiles, Taken::InOrder, hold_us);
            launches.points.push_back({double(tiles), summarise(times.launch_us)});
            add("stream_of_" + std::to_string(tiles) + (hold_us > 0 ? "_held" : ""), times, tiles,
                "when a thread that takes tiles in order" +
                    std::string(hold_us > 0 ? ", each for 0.34 us," : "") +
                    " has each; ring of 6; since the block's first instruction, median");
        }
        arrivals.push_back(launches);
    }
    bench.found.series.push_back(activations);
    bench.found.series.insert(bench.found.series.end(), arrivals.begin(), arrivals.end());
}

} // namespace kerf::lab

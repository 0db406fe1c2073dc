// SPDX-License-Identifier: GPL-3.0-or-later
// Bandwidth by number of workers and bytes in flight, from device memory and from L2: by bulk
// copies, and by plain loads of many threads.
#include "lab/calibrate/stream.cuh"
#include "lab/common/lab_error.h"

#include <algorithm>

namespace kerf::lab {
namespace {

constexpr int kFewTiles = 256; ///< a worker; runs of few and many give a slope
constexpr int kManyTiles = 768;
constexpr int kWindowTilesInL2 = 512; ///< 16 MB
constexpr int kLoadsInFlight = 2;     ///< a thread, of plain loads
constexpr std::uint64_t kBufferTiles = 256 * 1024;

__global__ void streamBulk(const std::uint32_t* words, StreamJob job, unsigned* checksum,
                           long long* cycles, unsigned* fault) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ __align__(8) std::uint64_t full[kRingStages];
    const long long begin = clock64();
    atomicAdd(checksum, streamTiles(words, job, blockIdx.x, gridDim.x, ring, full, fault));
    cycles[blockIdx.x] = clock64() - begin;
}

/// 16 bytes a load, two loads in flight a thread: what ordinary kernels keep.
__global__ void streamLoads(const uint4* data, std::uint64_t rounds, unsigned* checksum) {
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    const std::uint64_t self = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        uint4 loaded[kLoadsInFlight];
#pragma unroll
        for (int i = 0; i < kLoadsInFlight; ++i) {
            loaded[i] = __ldcg(data + (round * kLoadsInFlight + i) * threads + self);
        }
#pragma unroll
        for (int i = 0; i < kLoadsInFlight; ++i) {
            sum += loaded[i].x + loaded[i].y + loaded[i].z + loaded[i].w;
        }
    }
    atomicAdd(checksum, sum);
}

class Reader {
public:
    explicit Reader(Bench& bench)
        : bench_(bench), buffer_(bench, kBufferTiles), checksum_(1), cycles_(bench.sms) {
        allowRing(streamBulk);
    }

    /// GB/s that `workers` SMs read by bulk copies with `stages` tiles in flight each.
    Summary bulkGbps(int workers, int stages, bool in_l2) {
        const StreamJob shape{0, kWindowTilesInL2, kManyTiles, stages};
        if (in_l2) {
            runBulk(shape, bench_.sms); // fills L2
        }
        const auto run = [&](int tiles) {
            StreamJob job = shape;
            job.tiles_per_worker = tiles;
            if (!in_l2) {
                job.window_tiles = std::uint64_t(tiles) * workers;
                job.first_tile = buffer_.takeCold(job.window_tiles);
            }
            return runBulk(job, workers);
        };
        return gbps(workers * double(kTileBytes), slopeUs(bench_, kFewTiles, kManyTiles, run));
    }

    /// Adds how unequally `workers` SMs share the memory while all of them read.
    void measureShares(int workers, const std::string& name) {
        std::vector<double> slowest;
        std::vector<double> fastest;
        for (int i = 0; i < bench_.repeats; ++i) {
            StreamJob job{0, std::uint64_t(kManyTiles) * workers, kManyTiles, kRingStages};
            job.first_tile = buffer_.takeCold(job.window_tiles);
            runBulk(job, workers);
            std::vector<long long> cycles = cycles_.download();
            cycles.resize(workers);
            const auto [least, most] = std::minmax_element(cycles.begin(), cycles.end());
            const double bytes = double(kManyTiles) * kTileBytes;
            fastest.push_back(bytes / bench_.cyclesToUs(double(*least)) / 1e3);
            slowest.push_back(bytes / bench_.cyclesToUs(double(*most)) / 1e3);
        }
        bench_.add(name + "_slowest_sm_gbps", "GB/s", summarise(slowest),
                   "rate of the SM that ends last, of " + std::to_string(workers) +
                       " that stream equal amounts from device memory");
        bench_.add(name + "_fastest_sm_gbps", "GB/s", summarise(fastest),
                   "rate of the SM that ends first, of " + std::to_string(workers));
    }

    /// GB/s that `blocks` of `threads` read by plain loads.
    Summary loadGbps(int blocks, int threads) {
        constexpr int kFewRounds = 64;
        constexpr int kManyRounds = 192;
        const std::uint64_t round_bytes =
            std::uint64_t(blocks) * threads * kLoadsInFlight * sizeof(uint4);
        const auto run = [&](int rounds) {
            const std::uint64_t tiles = (round_bytes * rounds + kTileBytes - 1) / kTileBytes;
            const std::uint64_t first = buffer_.takeCold(tiles);
            checksum_.clear(bench_.stream.get());
            const double us = bench_.stream.elapsedUs([&] {
                streamLoads<<<blocks, threads, 0, bench_.stream.get()>>>(
                    reinterpret_cast<const uint4*>(buffer_.data() + first * kWordsPerTile), rounds,
                    checksum_.data());
            });
            checkLoads(first * kWordsPerTile, round_bytes * rounds / sizeof(std::uint32_t));
            return us;
        };
        return gbps(double(round_bytes), slopeUs(bench_, kFewRounds, kManyRounds, run));
    }

private:
    static Summary gbps(double bytes, const Summary& us) {
        const double rate = bytes / us.median / 1e3;
        return {rate, rate * us.spread / us.median, us.count};
    }

    double runBulk(const StreamJob& job, int workers) {
        checksum_.clear(bench_.stream.get());
        const double us = bench_.stream.elapsedUs([&] {
            streamBulk<<<workers, 1, kRingBytes, bench_.stream.get()>>>(
                buffer_.data(), job, checksum_.data(), cycles_.data(), bench_.watchdog.flag());
        });
        bench_.watchdog.check("streaming by bulk copies");
        if (checksum_.download().front() != expectedChecksum(job, workers)) {
            throw LabError("calibrate: streaming by bulk copies brought wrong data");
        }
        return us;
    }

    /// Sums of every word are costly on the host: only the first run is checked.
    void checkLoads(std::uint64_t first_word, std::uint64_t words) {
        if (loads_checked_) {
            return;
        }
        std::uint32_t sum = 0;
        for (std::uint64_t i = first_word; i < first_word + words; ++i) {
            sum += patternWord(i);
        }
        if (checksum_.download().front() != sum) {
            throw LabError("calibrate: plain loads brought wrong data");
        }
        loads_checked_ = true;
    }

    Bench& bench_;
    PatternBuffer buffer_;
    DeviceArray<unsigned> checksum_;
    DeviceArray<long long> cycles_; ///< of each worker of the last bulk run
    bool loads_checked_ = false;
};

std::vector<int> workerCounts(int sms) {
    std::vector<int> counts;
    for (const int count : {1, 2, 4, 8, sms / 8, sms / 4, sms / 2, sms * 3 / 4, sms}) {
        if (count >= 1 && (counts.empty() || count > counts.back())) {
            counts.push_back(count);
        }
    }
    return counts;
}

} // namespace

void measureBandwidth(Bench& bench) {
    Reader reader(bench);
    for (const int stages : {1, 2, 3, kRingStages}) {
        const std::string depth = std::to_string(stages) + "_stages";
        Series cold{"bulk_gbps_" + depth,
                    "SMs",
                    "GB/s",
                    {},
                    "bulk copies of 32 KB from device memory, never read before, ring of " + depth};
        Series warm{"l2_bulk_gbps_" + depth,
                    "SMs",
                    "GB/s",
                    {},
                    "bulk copies of 32 KB, 16 MB read again and again, ring of " + depth};
        for (const int workers : workerCounts(bench.sms)) {
            cold.points.push_back({double(workers), reader.bulkGbps(workers, stages, false)});
            warm.points.push_back({double(workers), reader.bulkGbps(workers, stages, true)});
        }
        if (stages == kRingStages) {
            bench.add("memory_gbps", "GB/s", cold.points.back().y,
                      "bulk copies of 32 KB from device memory, 6 in flight an SM, all SMs, equal "
                      "shares: the slowest SM decides");
            bench.add("l2_gbps", "GB/s", warm.points.back().y,
                      "bulk copies of 32 KB, 6 in flight an SM, all SMs, 16 MB read repeatedly");
            bench.add("bulk_gbps_per_sm", "GB/s", cold.points.front().y,
                      "bulk copies from device memory by one SM, 6 x 32 KB in flight");
        }
        bench.found.series.push_back(cold);
        bench.found.series.push_back(warm);
    }
    reader.measureShares(bench.sms, "all");
    reader.measureShares(bench.sms / 2, "half");
    std::vector<int> blocks = workerCounts(bench.sms);
    blocks.push_back(2 * bench.sms);
    for (const int threads : {256, 512, 1024}) {
        Series loads{"read_gbps_" + std::to_string(threads) + "_threads",
                     "blocks",
                     "GB/s",
                     {},
                     "read by plain loads of 16 bytes, two in flight a thread, from device memory"};
        for (const int count : blocks) {
            loads.points.push_back({double(count), reader.loadGbps(count, threads)});
        }
        bench.found.series.push_back(loads);
    }
}

} // namespace kerf::lab

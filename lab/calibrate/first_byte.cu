// SPDX-License-Identifier: GPL-3.0-or-later
// How long one bulk copy takes from its issue until its data is seen in shared memory.
#include "lab/calibrate/pattern.cuh"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

#include <algorithm>

namespace kerf::lab {
namespace {

constexpr int kSteps = 48;
constexpr int kSmallBytes = 16;

struct Access {
    std::uint64_t first_tile = 0;
    std::uint64_t step_tiles = 0;  ///< between a block's steps
    std::uint64_t block_tiles = 0; ///< between blocks
    unsigned bytes = 0;
    int warm_passes = 0; ///< reads of the same data before the timed one
};

/// Each step: all blocks meet, then every one times one copy. Writes cycles by (block, step).
__global__ void timeCopies(const std::uint32_t* words, Access access, long long* cycles,
                           unsigned* checksums, unsigned* meeting, unsigned* fault) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ __align__(8) std::uint64_t arrived;
    initBarrier(&arrived, 1);
    publishBarriers();
    unsigned parity = 0;
    unsigned met = 0;
    unsigned sum = 0;
    const auto* copied = reinterpret_cast<const volatile std::uint32_t*>(ring);
    for (int pass = 0; pass <= access.warm_passes; ++pass) {
        for (int step = 0; step < kSteps; ++step) {
            const std::uint64_t tile =
                access.first_tile + step * access.step_tiles + blockIdx.x * access.block_tiles;
            addRelease(meeting, 1);
            waitAtLeast(meeting, ++met * gridDim.x, fault);
            const long long begin = clock64();
            startBulkCopy(ring, words + tile * kWordsPerTile, access.bytes, &arrived);
            waitPhase(&arrived, parity, fault);
            const unsigned first = copied[0];
            sum += first; // the clock is read after this
            asm volatile("" : "+r"(sum)::"memory");
            const long long end = clock64();
            parity ^= 1;
            cycles[blockIdx.x * kSteps + step] = end - begin;
            sum += copied[access.bytes / sizeof(std::uint32_t) - 1];
        }
    }
    checksums[blockIdx.x] = sum;
}

std::uint32_t expectedSum(const Access& access, int block) {
    std::uint32_t sum = 0;
    for (int step = 0; step < kSteps; ++step) {
        const std::uint64_t word = (access.first_tile + step * access.step_tiles +
                                    static_cast<std::uint64_t>(block) * access.block_tiles) *
                                   kWordsPerTile;
        sum += patternWord(word) + patternWord(word + access.bytes / sizeof(std::uint32_t) - 1);
    }
    return sum * static_cast<std::uint32_t>(access.warm_passes + 1);
}

struct Latency {
    std::vector<double> median_us;  ///< over blocks and steps, one a repeat
    std::vector<double> slowest_us; ///< of a step's blocks, median over steps
};

class FirstByte {
public:
    explicit FirstByte(Bench& bench)
        : bench_(bench), buffer_(bench, 256 * 1024), cycles_(bench.sms * kSteps),
          checksums_(bench.sms), meeting_(1) {
        allowRing(timeCopies);
    }

    /// `warm`: data that was read just before, else data that L2 does not hold.
    /// `far_tiles`: distance between a lone block's steps.
    Latency measure(int blocks, unsigned bytes, bool warm, std::uint64_t far_tiles) {
        Latency latency;
        buffer_.refill(bench_); // else words that the measurement before touched are still in L2
        for (int i = 0; i <= bench_.repeats; ++i) {
            Access access;
            access.bytes = bytes;
            access.block_tiles = 1;
            access.step_tiles = blocks == 1 ? far_tiles : static_cast<std::uint64_t>(blocks);
            if (warm) { // many blocks read one tile each again and again, to stay inside L2
                access.warm_passes = 1;
                access.step_tiles = blocks == 1 ? 1 : 0;
            }
            access.first_tile =
                buffer_.takeCold(access.step_tiles * kSteps + static_cast<std::uint64_t>(blocks));
            run(access, blocks, latency, i == 0); // the first warms up code and clocks
        }
        return latency;
    }

private:
    void run(const Access& access, int blocks, Latency& latency, bool discard) {
        meeting_.clear(bench_.stream.get());
        timeCopies<<<blocks, 1, kRingBytes, bench_.stream.get()>>>(
            buffer_.data(), access, cycles_.data(), checksums_.data(), meeting_.data(),
            bench_.watchdog.flag());
        KERF_CUDA(cudaGetLastError());
        bench_.watchdog.check("first byte of a copy");
        const std::vector<unsigned> sums = checksums_.download();
        for (int block = 0; block < blocks; ++block) {
            if (sums[block] != expectedSum(access, block)) {
                throw LabError("calibrate: a bulk copy brought wrong data");
            }
        }
        if (discard) {
            return;
        }
        const std::vector<long long> cycles = cycles_.download();
        std::vector<double> all;
        std::vector<double> slowest;
        for (int step = 0; step < kSteps; ++step) {
            double worst = 0;
            for (int block = 0; block < blocks; ++block) {
                const double us =
                    bench_.cyclesToUs(static_cast<double>(cycles[block * kSteps + step]));
                all.push_back(us);
                worst = std::max(worst, us);
            }
            slowest.push_back(worst);
        }
        latency.median_us.push_back(median(all));
        latency.slowest_us.push_back(median(slowest));
    }

    Bench& bench_;
    PatternBuffer buffer_;
    DeviceArray<long long> cycles_;
    DeviceArray<unsigned> checksums_;
    DeviceArray<unsigned> meeting_;
};

} // namespace

void measureFirstByte(Bench& bench) {
    constexpr std::uint64_t kNear = 1;
    constexpr std::uint64_t kFar = 1024; // 32 MB: another page each step
    FirstByte first_byte(bench);
    const auto add = [&](const char* name, int blocks, unsigned bytes, bool warm,
                         std::uint64_t far_tiles, const char* how) {
        const Latency latency = first_byte.measure(blocks, bytes, warm, far_tiles);
        bench.add(name, "us", summarise(latency.median_us), how);
        if (blocks > 1) {
            bench.add(std::string(name) + "_slowest", "us", summarise(latency.slowest_us),
                      "the same, slowest block of a step");
        }
    };
    add("ramp_us", bench.sms, kSmallBytes, false, kNear,
        "16-byte bulk copy from device memory, issue until its data is read from shared memory, "
        "all SMs at once; median over SMs");
    add("cold_16b_lone_us", 1, kSmallBytes, false, kNear, "the same on one SM, 32 KB apart");
    add("cold_16b_lone_far_us", 1, kSmallBytes, false, kFar, "the same on one SM, 32 MB apart");
    add("cold_32k_lone_us", 1, kTileBytes, false, kNear, "32 KB from device memory, one SM");
    add("cold_32k_us", bench.sms, kTileBytes, false, kNear,
        "32 KB from device memory, all SMs at once");
    add("l2_16b_lone_us", 1, kSmallBytes, true, kNear, "16 bytes from L2, one SM");
    add("l2_16b_us", bench.sms, kSmallBytes, true, kNear, "16 bytes from L2, all SMs at once");
    add("l2_32k_lone_us", 1, kTileBytes, true, kNear, "32 KB from L2, one SM");
    add("l2_32k_us", bench.sms, kTileBytes, true, kNear, "32 KB from L2, all SMs at once");
}

} // namespace kerf::lab

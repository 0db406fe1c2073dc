// SPDX-License-Identifier: GPL-3.0-or-later
// What a consumer pays after an event: the activation load from L2 and the block barriers, from a
// chain of dependent steps in one persistent kernel.
#include "lab/calibrate/bench.h"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

namespace kerf::lab {
namespace {

constexpr int kFewSteps = 100;
constexpr int kManySteps = 900;
constexpr int kConsumerWarps = 8;
constexpr int kRegisterLoads = 8; ///< of 16 bytes a lane: 4 KB a warp
constexpr int kRegisterWords = kRegisterLoads * 32 * 4;

enum class Load { None, Shared, Registers };

/// `vectors` are two of gridDim.x * own words, read and written in turn. A step: all blocks meet;
/// each loads the first `words` of the vector, then writes its `own` words of the other.
/// Shared: word j becomes the (7 j + 3)-th loaded plus 1. Registers: the xor of all loaded plus j.
/// None: word j plus 1.
template <Load how>
__global__ void dependentSteps(std::uint32_t* vectors, int words, int own, unsigned steps,
                               unsigned* meeting, unsigned* fault) {
    extern __shared__ __align__(128) std::uint32_t loaded[];
    const int total = static_cast<int>(gridDim.x) * own;
    const int mine = static_cast<int>(blockIdx.x) * own + static_cast<int>(threadIdx.x);
    const bool writes = static_cast<int>(threadIdx.x) < own;
    for (unsigned step = 0; step < steps; ++step) {
        const std::uint32_t* from = vectors + (step % 2) * total;
        std::uint32_t* to = vectors + ((step + 1) % 2) * total;
        std::uint32_t next = 0;
        if (how == Load::Shared) {
            for (int i = static_cast<int>(threadIdx.x); i < words / 4; i += kWorkerThreads) {
                reinterpret_cast<uint4*>(loaded)[i] =
                    __ldcg(reinterpret_cast<const uint4*>(from) + i);
            }
            __syncthreads();
            next = loaded[(7 * mine + 3) % words] + 1;
        } else if (how == Load::Registers) {
            if (threadIdx.x < kConsumerWarps * 32) { // every consumer warp loads all of it
                uint4 part[kRegisterLoads];          // all in flight at once
#pragma unroll
                for (int i = 0; i < kRegisterLoads; ++i) {
                    part[i] =
                        __ldcg(reinterpret_cast<const uint4*>(from) + 32 * i + threadIdx.x % 32);
                }
#pragma unroll
                for (int i = 0; i < kRegisterLoads; ++i) {
                    next ^= part[i].x ^ part[i].y ^ part[i].z ^ part[i].w;
                }
                next = __reduce_xor_sync(0xffffffffu, next) + mine;
            }
        } else if (writes) {
            next = __ldcg(from + mine) + 1;
        }
        if (writes) {
            to[mine] = next;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            addRelease(meeting, 1);
            waitAtLeast(meeting, (step + 1) * gridDim.x, fault);
        }
        __syncthreads();
    }
}

class Steps {
public:
    explicit Steps(Bench& bench) : bench_(bench), meeting_(1) {}

    template <Load how> Summary measure(int words, int own) {
        allowRing(dependentSteps<how>);
        const int total = bench_.sms * own;
        std::vector<std::uint32_t> start(2 * static_cast<std::size_t>(total));
        for (int i = 0; i < total; ++i) {
            start[i] = 2654435761u * static_cast<std::uint32_t>(i);
        }
        DeviceArray<std::uint32_t> vectors(start.size());
        const auto run = [&](int steps) {
            vectors.upload(start);
            meeting_.clear(bench_.stream.get());
            const double us = bench_.stream.elapsedUs([&] {
                dependentSteps<how>
                    <<<bench_.sms, kWorkerThreads, kRingBytes, bench_.stream.get()>>>(
                        vectors.data(), words, own, static_cast<unsigned>(steps), meeting_.data(),
                        bench_.watchdog.flag());
            });
            bench_.watchdog.check("dependent steps");
            return us;
        };
        const Summary us = slopeUs(bench_, kFewSteps, kManySteps, run);
        checkLast<how>(vectors.download(), start, words, total);
        return us;
    }

private:
    /// The last run had kManySteps, an even number: its result lies in the first vector.
    template <Load how>
    static void checkLast(const std::vector<std::uint32_t>& result,
                          const std::vector<std::uint32_t>& start, int words, int total) {
        std::vector<std::uint32_t> vector(start.begin(), start.begin() + total);
        std::vector<std::uint32_t> next(vector.size());
        for (int step = 0; step < kManySteps; ++step) {
            std::uint32_t all = 0;
            for (int i = 0; i < words; ++i) {
                all ^= vector[i];
            }
            for (int j = 0; j < total; ++j) {
                next[j] = how == Load::Shared      ? vector[(7 * j + 3) % words] + 1
                          : how == Load::Registers ? all + j
                                                   : vector[j] + 1;
            }
            vector.swap(next);
        }
        for (int j = 0; j < total; ++j) {
            if (result[j] != vector[j]) {
                throw LabError("calibrate: dependent steps gave a wrong vector");
            }
        }
    }

    Bench& bench_;
    DeviceArray<unsigned> meeting_;
};

} // namespace

void measureDependent(Bench& bench) {
    constexpr int kOwnWords = 8;      // 4.2 KB vectors on 132 SMs
    constexpr int kOwnWordsWide = 64; // 33 KB
    const auto bytes = [](int words) { return words * int(sizeof(std::uint32_t)); };
    Steps steps(bench);
    const Summary none = steps.measure<Load::None>(0, kOwnWords);
    bench.add("step_without_load_us", "us", none,
              "a step of a persistent kernel, 288 threads an SM: write the own part, block "
              "barrier, grid barrier, block barrier, read the own part");
    Series shared{"step_us_by_loaded_bytes",
                  "bytes",
                  "us",
                  {},
                  "the step with a load of so many bytes from L2 to shared memory by all threads "
                  "and one more block barrier"};
    for (const int words : {128, 1024}) {
        shared.points.push_back(
            {double(bytes(words)), steps.measure<Load::Shared>(words, kOwnWords)});
    }
    for (const int words : {4096, 8192}) {
        shared.points.push_back(
            {double(bytes(words)), steps.measure<Load::Shared>(words, kOwnWordsWide)});
    }
    const Summary in_registers = steps.measure<Load::Registers>(kRegisterWords, kOwnWords);
    bench.add("step_registers_4k_us", "us", in_registers,
              "the step with every consumer warp loading 4 KB to registers, no barrier after it");
    const Summary event = findSeries(bench.found, "barrier_us_by_workers")->points.back().y;
    bench.add("dependent_512_us", "us", difference(shared.points[0].y, event),
              "step of a persistent kernel (288 threads an SM: load 512 bytes from L2 to shared "
              "memory, block barrier, write, block barrier, grid barrier, block barrier) less the "
              "grid barrier of lone threads");
    bench.add("dependent_4k_us", "us", difference(shared.points[1].y, event), "the same with 4 KB");
    bench.found.series.push_back(shared);
}

} // namespace kerf::lab

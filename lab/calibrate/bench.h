// SPDX-License-Identifier: GPL-3.0-or-later
// What every measurement shares: the device, where results go, and how a slope is taken.
#pragma once

#include "lab/common/calibration.h"
#include "lab/common/cuda.h"

#include <string>
#include <utility>

namespace kerf::lab {

constexpr int kWorkerThreads = 288;                  ///< 1 producer warp and 8 consumer warps
constexpr unsigned kTileBytes = 32 * 1024;           ///< 8 rows of 2048 bf16
constexpr int kRingStages = 6;                       ///< fills an SM's shared memory
constexpr int kRingBytes = kRingStages * kTileBytes; ///< and keeps a second block off the SM

struct Bench {
    Stream stream;
    Watchdog watchdog;
    int sms = 0;
    int repeats = 0;
    double sm_clock_mhz = 0;
    Calibration found;

    void add(std::string name, std::string unit, const Summary& value, std::string how) {
        found.figures.push_back({std::move(name), std::move(unit), value, std::move(how)});
    }
    [[nodiscard]] double cyclesToUs(double cycles) const { return cycles / sm_clock_mhz; }
};

/// µs that one more unit takes: the slope between runs of `few` and `many` units, so that what a
/// run costs once cancels. `run_us(n)` runs n units and gives its µs.
template <class Run> Summary slopeUs(const Bench& bench, int few, int many, const Run& run_us) {
    std::vector<double> slopes;
    run_us(few); // warm-up: module load, clocks
    run_us(many);
    for (int i = 0; i < bench.repeats; ++i) {
        const double few_us = run_us(few);
        const double many_us = run_us(many);
        slopes.push_back((many_us - few_us) / (many - few));
    }
    return summarise(slopes);
}

/// One block an SM for kernels that wait for one another.
template <class Kernel> void allowRing(Kernel kernel) {
    KERF_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRingBytes));
}

void measureLaunch(Bench& bench);        ///< graph nodes, memset, prologue
void measureFirstByte(Bench& bench);     ///< latency of bulk copies
void measureBandwidth(Bench& bench);     ///< bulk copies and loads, by workers and bytes in flight
void measureEvents(Bench& bench);        ///< one way, fan-in, observe, grid barrier
void measurePolling(Bench& bench);       ///< what pollers cost streamers
void measureDependent(Bench& bench);     ///< activation load after an event
void measureStreamingStep(Bench& bench); ///< the same while weights stream
void measureRingFill(Bench& bench);      ///< when each tile of a first fill arrives
void measureProductStep(Bench& bench);   ///< a dependent step that computes
void measureDispatch(Bench& bench);      ///< static slot, dynamic queue
void measureTile(Bench& bench);          ///< a tile whose data is on chip

} // namespace kerf::lab

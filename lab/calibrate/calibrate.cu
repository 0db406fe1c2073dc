// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/calibrate/bench.h"
#include "lab/calibrate/calibrate.h"
#include "lab/calibrate/environment.h"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

#include <chrono>
#include <cstdio>

namespace kerf::lab {
namespace {

constexpr int kHopper = 9; ///< bulk copies and programmatic launch begin here

/// Runs `cycles` cycles and writes how many nanoseconds they took.
__global__ void runCycles(long long cycles, unsigned long long* taken_ns) {
    const unsigned long long begin_ns = globalTimerNs();
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
    *taken_ns = globalTimerNs() - begin_ns;
}

double smClockMhz(Bench& bench) {
    constexpr long long kCycles = 40'000'000; // 20 ms: also wakes the clocks
    DeviceArray<unsigned long long> taken_ns(1);
    double mhz = 0;
    for (int i = 0; i < 3; ++i) {
        runCycles<<<1, 1, 0, bench.stream.get()>>>(kCycles, taken_ns.data());
        KERF_CUDA(cudaGetLastError());
        mhz = 1e3 * static_cast<double>(kCycles) / static_cast<double>(taken_ns.download().front());
    }
    return mhz;
}

cudaDeviceProp chooseDevice(int device) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        throw LabError("calibrate: no CUDA device here. Run kerf-lab on a machine with a GPU and "
                       "its driver.");
    }
    if (device >= count) {
        throw LabError("calibrate: there is no device " + std::to_string(device) + "; there are " +
                       std::to_string(count) + ", from 0.");
    }
    cudaDeviceProp properties{};
    KERF_CUDA(cudaGetDeviceProperties(&properties, device));
    if (properties.major < kHopper) {
        throw LabError(std::string("calibrate: ") + properties.name + " has compute capability " +
                       std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                       "; bulk copies and programmatic launch need 9.0 (Hopper) or later.");
    }
    if (properties.sharedMemPerBlockOptin < kRingBytes + 1024 ||
        properties.multiProcessorCount < 16) {
        throw LabError(std::string("calibrate: ") + properties.name +
                       " is too small: a block needs 193 KB of shared memory, and the GPU 16 SMs.");
    }
    KERF_CUDA(cudaSetDevice(device));
    return properties;
}

struct Part {
    const char* name;
    void (*measure)(Bench&);
};
// Dependent steps need the barrier that events measure.
constexpr Part kParts[] = {
    {"launch", measureLaunch},
    {"first byte", measureFirstByte},
    {"bandwidth", measureBandwidth},
    {"events", measureEvents},
    {"polling", measurePolling},
    {"dependent load", measureDependent},
    {"streaming step", measureStreamingStep},
    {"ring fill", measureRingFill},
    {"product step", measureProductStep},
    {"dispatch", measureDispatch},
    {"tile", measureTile},
};

} // namespace

Calibration calibrate(int device, bool quick) {
    const cudaDeviceProp properties = chooseDevice(device);
    Bench bench;
    bench.sms = properties.multiProcessorCount;
    bench.repeats = quick ? 5 : 31;
    bench.found.environment = readEnvironment(properties);
    bench.found.environment.quick = quick;
    bench.found.limits = readLimits(properties);
    bench.sm_clock_mhz = smClockMhz(bench);
    bench.found.environment.sm_clock_before_mhz = bench.sm_clock_mhz;
    for (const Part& part : kParts) {
        const auto begin = std::chrono::steady_clock::now();
        part.measure(bench);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::fprintf(stderr, "%s: %.1f s\n", part.name, took.count());
    }
    bench.found.environment.sm_clock_after_mhz = smClockMhz(bench);
    return bench.found;
}

} // namespace kerf::lab

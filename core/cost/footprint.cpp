// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/footprint.h"

#include <algorithm>

namespace kerf::cost {
namespace {

// CUDA occupancy rules, the same from compute capability 7.0 to 9.0 (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability", and the occupancy calculator's allocation
// granularities).
constexpr int kWarpThreads = 32;
constexpr int kRegistersPerWarpUnit = 256; ///< registers are given to a warp in these units
constexpr int kSchedulersPerSm = 4; ///< each holds a quarter of the registers and whole warps
constexpr int kSharedUnitBytes = 128;
constexpr int kThreadsPerBlockMax = 1024;
constexpr int kRegistersPerThreadMax = 255;

constexpr int roundUp(int value, int unit) {
    return (value + unit - 1) / unit * unit;
}

} // namespace

Footprint maximum(const Footprint& a, const Footprint& b) {
    return {.threads = std::max(a.threads, b.threads),
            .registers = std::max(a.registers, b.registers),
            .shared_bytes = std::max(a.shared_bytes, b.shared_bytes)};
}

int blocksPerSm(const Footprint& footprint, const Hardware& hardware) {
    if (footprint.threads <= 0 || footprint.threads > kThreadsPerBlockMax ||
        footprint.registers < 0 || footprint.registers > kRegistersPerThreadMax ||
        footprint.shared_bytes < 0 ||
        footprint.shared_bytes > hardware.shared_bytes_per_block_max) {
        return 0;
    }
    const int warps = roundUp(footprint.threads, kWarpThreads) / kWarpThreads;
    const int by_warps = hardware.max_threads_per_sm / kWarpThreads / warps;

    int by_registers = hardware.max_blocks_per_sm;
    if (footprint.registers > 0) {
        const int registers_per_warp =
            roundUp(footprint.registers * kWarpThreads, kRegistersPerWarpUnit);
        const int warps_per_scheduler =
            hardware.registers_per_sm / kSchedulersPerSm / registers_per_warp;
        by_registers = warps_per_scheduler * kSchedulersPerSm / warps;
    }

    const int shared_per_block = roundUp(
        footprint.shared_bytes + hardware.shared_bytes_reserved_per_block, kSharedUnitBytes);
    const int by_shared = shared_per_block > 0 ? hardware.shared_bytes_per_sm / shared_per_block
                                               : hardware.max_blocks_per_sm;
    return std::min({hardware.max_blocks_per_sm, by_warps, by_registers, by_shared});
}

} // namespace kerf::cost

// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a kernel's source on the CPU, thread by thread, so that what it computes and whether its
// waits can hang is tested where there is no GPU. It says nothing about time. Threads switch at
// warp-wide calls, barriers and waits only; which warp goes on and when a copy lands is drawn from
// a seed, so one kernel can be run through many interleavings. Memory is sequentially consistent:
// a missing fence is not found, a missing wait is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace kerf::lab::simt {

struct GridShape {
    unsigned blocks = 1;
    unsigned threads = 32;        ///< a block; whole warps
    std::size_t shared_bytes = 0; ///< dynamic shared memory of a block; filled with NaN patterns
};

/// What a run did, for tests.
struct RunCounts {
    std::uint64_t switches = 0; ///< threads resumed
    std::uint64_t copies = 0;   ///< bulk copies that landed
};

/// Runs `kernel` once on every thread of the grid, which gets its block's shared memory. All blocks
/// are resident, as in a persistent kernel.
/// Throws LabError when no thread can go on (names what they wait for), when lanes of a warp meet
/// in different warp-wide calls, and what the kernel throws.
RunCounts runGrid(const GridShape& shape, std::uint64_t seed,
                  const std::function<void(std::byte* shared)>& kernel);

} // namespace kerf::lab::simt

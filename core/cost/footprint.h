// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/hardware.h"

namespace kerf::cost {

/// What a block needs of an SM.
struct Footprint {
    int threads = 0;
    int registers = 0;    ///< a thread
    int shared_bytes = 0; ///< static and dynamic
    bool operator==(const Footprint&) const = default;
};

/// The least footprint that can hold both.
[[nodiscard]] Footprint maximum(const Footprint& a, const Footprint& b);

/// Resident blocks an SM: the CUDA occupancy rules (warp-granular registers, reserved shared
/// memory, threads, blocks). 0 when a block does not fit at all.
[[nodiscard]] int blocksPerSm(const Footprint& footprint, const Hardware& hardware);

} // namespace kerf::cost

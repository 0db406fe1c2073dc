// SPDX-License-Identifier: GPL-3.0-or-later
// Random weights and inputs by position: any value can be made anywhere, on CPU or GPU, without the
// ones before it.
#pragma once

#include "lab/model/bfloat16.h"

#include <cstdint>

namespace kerf::lab {

/// Uniform in [−range, range), rounded to bfloat16. `tensor` and `index` name the value.
KERF_BOTH BFloat16 randomValue(std::uint64_t seed, std::uint32_t tensor, std::uint64_t index,
                               float range) {
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014) over a mix of the three.
    std::uint64_t z =
        (seed ^ (tensor + 1ULL) * 0xd1342543de82ef95ULL) + 0x9e3779b97f4a7c15ULL * (index + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    const float unit = static_cast<float>(z >> 40) * (1.0F / 16777216.0F);
    return toBFloat16((2.0F * unit - 1.0F) * range);
}

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
// bfloat16 without a vendor's header: the same source on CPU, nvcc and NVRTC.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define KERF_BOTH __host__ __device__ inline
#define KERF_BOTH_CONSTEXPR __host__ __device__ constexpr
#else
#define KERF_BOTH inline
#define KERF_BOTH_CONSTEXPR constexpr
#endif

namespace kerf::lab {

struct BFloat16 {
    std::uint16_t bits;
};

KERF_BOTH float floatOfBits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    union { // NVRTC has no memcpy for the host side
        std::uint32_t from;
        float to;
    } value{bits};
    return value.to;
#endif
}

KERF_BOTH std::uint32_t bitsOfFloat(float value) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(value);
#else
    union {
        float from;
        std::uint32_t to;
    } bits{value};
    return bits.to;
#endif
}

KERF_BOTH float toFloat(BFloat16 value) {
    return floatOfBits(static_cast<std::uint32_t>(value.bits) << 16);
}

/// To the nearest, ties to even; NaN stays NaN.
KERF_BOTH BFloat16 toBFloat16(float value) {
    const std::uint32_t bits = bitsOfFloat(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return {static_cast<std::uint16_t>(0x7fff)};
    }
    return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

/// Two values as a word, the first in the low half.
KERF_BOTH std::uint32_t packPair(float first, float second) {
    return toBFloat16(first).bits | (static_cast<std::uint32_t>(toBFloat16(second).bits) << 16);
}
KERF_BOTH float lowHalf(std::uint32_t pair) {
    return floatOfBits(pair << 16);
}
KERF_BOTH float highHalf(std::uint32_t pair) {
    return floatOfBits(pair & 0xffff0000U);
}

} // namespace kerf::lab

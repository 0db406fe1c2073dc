// SPDX-License-Identifier: GPL-3.0-or-later
// Data that checks itself: each word of the streamed buffer is a function of its index.
#pragma once

#include "lab/calibrate/bench.h"

#include <cstdint>

namespace kerf::lab {

constexpr std::uint64_t kWordsPerTile = kTileBytes / sizeof(std::uint32_t);

__host__ __device__ inline std::uint32_t patternWord(std::uint64_t index) {
    return static_cast<std::uint32_t>(index * 2654435761ull >> 7);
}

/// What a reader of tile `tile` adds up: its first and its last word.
__host__ __device__ inline std::uint32_t tileChecksum(std::uint64_t tile) {
    return patternWord(tile * kWordsPerTile) + patternWord((tile + 1) * kWordsPerTile - 1);
}

/// `tiles` tiles of the pattern in device memory, read through a window that moves on so that no
/// read finds its data in L2.
class PatternBuffer {
public:
    PatternBuffer(Bench& bench, std::uint64_t tiles);
    [[nodiscard]] const std::uint32_t* data() const { return words_.data(); }
    /// Writes the pattern again: 60 MB of L2 keep nothing of what small reads touched before.
    void refill(Bench& bench);
    /// First tile of `count` tiles that were not read for a whole round of the buffer.
    std::uint64_t takeCold(std::uint64_t count);

private:
    DeviceArray<std::uint32_t> words_;
    std::uint64_t tiles_;
    std::uint64_t next_ = 0;
    std::uint64_t rounds_ = 0;
};

} // namespace kerf::lab

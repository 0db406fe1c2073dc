// SPDX-License-Identifier: GPL-3.0-or-later
// A ring of bulk copies that one thread keeps full: what a producer warp of a megakernel does.
#pragma once

#include "lab/calibrate/pattern.cuh"
#include "lab/common/sync.cuh"

namespace kerf::lab {

struct StreamJob {
    std::uint64_t first_tile = 0;
    std::uint64_t window_tiles = 0; ///< tiles wrap around after this many
    int tiles_per_worker = 0;
    int stages = kRingStages;
};

/// Tile i of worker w of `workers` is the (i * workers + w)-th. Returns the sum of tileChecksum.
__device__ inline unsigned streamTiles(const std::uint32_t* words, const StreamJob& job,
                                       unsigned worker, unsigned workers, unsigned char* ring,
                                       std::uint64_t* full, unsigned* fault) {
    for (int stage = 0; stage < job.stages; ++stage) {
        initBarrier(full + stage, 1);
    }
    publishBarriers();
    const auto start = [&](int tile) {
        const std::uint64_t at =
            job.first_tile + (std::uint64_t(tile) * workers + worker) % job.window_tiles;
        const int stage = tile % job.stages;
        startBulkCopy(ring + stage * kTileBytes, words + at * kWordsPerTile, kTileBytes,
                      full + stage);
    };
    for (int tile = 0; tile < min(job.stages, job.tiles_per_worker); ++tile) {
        start(tile);
    }
    unsigned sum = 0;
    for (int tile = 0; tile < job.tiles_per_worker; ++tile) {
        const int stage = tile % job.stages;
        waitPhase(full + stage, (tile / job.stages) & 1, fault);
        const auto* data =
            reinterpret_cast<const volatile std::uint32_t*>(ring + stage * kTileBytes);
        sum += data[0] + data[kWordsPerTile - 1];
        if (tile + job.stages < job.tiles_per_worker) {
            start(tile + job.stages);
        }
    }
    return sum;
}

/// The sum that all workers together must return.
inline std::uint32_t expectedChecksum(const StreamJob& job, int workers) {
    std::uint32_t sum = 0;
    const std::uint64_t tiles = std::uint64_t(job.tiles_per_worker) * workers;
    for (std::uint64_t i = 0; i < tiles; ++i) {
        sum += tileChecksum(job.first_tile + i % job.window_tiles);
    }
    return sum;
}

} // namespace kerf::lab

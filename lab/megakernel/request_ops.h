// SPDX-License-Identifier: GPL-3.0-or-later
// The two ends of a step, a tile a request: the token's row of the embedding, and the best token.
#pragma once

#include "lab/megakernel/epilogue.h"
#include "lab/megakernel/worker_state.h"

namespace kerf::lab {

template <class Config>
KERF_DEVICE void embeddingTile(WorkerState& worker, const DeviceOp& op, std::uint32_t request) {
    const RegionArguments& region = worker.region;
    nextActivations(worker); // says that the event has come
    const std::uint32_t token = simt::loadCoherent(region.tokens + request);
    const std::uint32_t row = token < region.vocabulary ? token : 0;
    const auto* from = reinterpret_cast<const std::uint64_t*>(
        op.weights + static_cast<std::uint64_t>(row) * op.output_width);
    auto* to = reinterpret_cast<std::uint64_t*>(op.output + static_cast<std::uint64_t>(request) *
                                                                op.output_width);
    for (std::uint32_t i = worker.thread; i < op.output_width / 4; i += Config::kConsumers) {
        to[i] = from[i];
    }
    releaseActivations(worker);
}

template <class Config>
KERF_DEVICE void bestTile(WorkerState& worker, const DeviceOp& op, std::uint32_t request) {
    const RegionArguments& region = worker.region;
    nextActivations(worker);
    releaseActivations(worker);
    const Candidate* candidates =
        op.candidates + static_cast<std::uint64_t>(request) * op.row_blocks;
    Candidate best{-3.0e38F, 0xffffffffU};
    for (std::uint32_t i = worker.thread; i < op.row_blocks; i += Config::kConsumers) {
        const std::uint64_t bits =
            simt::loadCoherent(reinterpret_cast<const unsigned long long*>(candidates + i));
        const Candidate other{floatOfBits(static_cast<std::uint32_t>(bits)),
                              static_cast<std::uint32_t>(bits >> 32)};
        best = beats(other, best) ? other : best;
    }
    best = bestOfWarp(best);
    auto* best_of_warps = reinterpret_cast<Candidate*>(worker.sums);
    if (worker.thread % 32 == 0) {
        best_of_warps[worker.thread / 32] = best;
    }
    consumersMeet<Config>();
    if (worker.thread == 0) {
        for (unsigned warp = 1; warp < Config::kConsumerWarps; ++warp) {
            best = beats(best_of_warps[warp], best) ? best_of_warps[warp] : best;
        }
        region.tokens[request] = best.row < region.vocabulary ? best.row : 0;
    }
}

} // namespace kerf::lab

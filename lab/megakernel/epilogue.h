// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a product's sums. Rows come in packed order (layout.h), two at a time.
#pragma once

#include "lab/megakernel/worker_state.h"

namespace kerf::lab {

/// Whether a beats b: larger, or equal and of a lower row.
KERF_DEVICE bool beats(const Candidate& a, const Candidate& b) {
    return a.value > b.value || (a.value == b.value && a.row < b.row);
}

/// The best of a warp's candidates, in every lane.
KERF_DEVICE Candidate bestOfWarp(Candidate best) {
    for (unsigned mask = 16; mask > 0; mask /= 2) {
        const Candidate other{simt::shuffleXor(best.value, mask), simt::shuffleXor(best.row, mask)};
        best = beats(other, best) ? other : best;
    }
    return best;
}

/// Rotates a pair of a q or k head, or keeps a pair of a v head, and puts it where it belongs.
KERF_DEVICE void rotaryAppend(const RegionArguments& region, const DeviceOp& op,
                              std::uint32_t packed, std::uint32_t request, std::uint32_t position,
                              float first, float second) {
    const std::uint32_t dim = region.head_dim;
    const std::uint32_t group_rows = (region.shared_heads + 2) * dim;
    const std::uint32_t group = packed / group_rows;
    const std::uint32_t slot = packed % group_rows / dim;
    const std::uint32_t within = packed % dim;
    const std::uint64_t cached =
        ((std::uint64_t{request} * region.kv_heads + group) * region.context + position) * dim;
    if (slot == region.shared_heads + 1) {
        op.values[cached + within] = toBFloat16(first);
        op.values[cached + within + 1] = toBFloat16(second);
        return;
    }
    const float* turn = region.rotary + (position * (dim / 2) + within / 2) * 2;
    const float a = first * turn[0] - second * turn[1];
    const float b = second * turn[0] + first * turn[1];
    BFloat16* to = slot == region.shared_heads
                       ? op.keys + cached
                       : op.output + std::uint64_t{request} * op.output_width +
                             (group * region.shared_heads + slot) * dim;
    to[within / 2] = toBFloat16(a);
    to[within / 2 + dim / 2] = toBFloat16(b);
}

/// Finishes packed rows `row` (even) and `row` + 1 of a request.
template <class Config>
KERF_DEVICE void finishPair(const RegionArguments& region, const DeviceOp& op, std::uint32_t row,
                            std::uint32_t request, [[maybe_unused]] std::uint32_t position,
                            float first, float second) {
    BFloat16* output = op.output + std::uint64_t{request} * op.output_width;
    if constexpr (Config::has(Epilogue::RotaryAppend)) {
        if (op.epilogue == Epilogue::RotaryAppend) {
            rotaryAppend(region, op, row, request, position, first, second);
        }
    }
    if constexpr (Config::has(Epilogue::GatedSilu)) {
        if (op.epilogue == Epilogue::GatedSilu) {
            output[row / 2] = toBFloat16(first / (1.0F + simt::exponential(-first)) * second);
        }
    }
    if constexpr (Config::has(Epilogue::Residual)) {
        if (op.epilogue == Epilogue::Residual) {
            auto* pair = reinterpret_cast<std::uint32_t*>(output + row);
            const std::uint32_t before = simt::loadCoherent(pair);
            *pair = packPair(lowHalf(before) + first, highHalf(before) + second);
        }
    }
    if constexpr (Config::has(Epilogue::Store)) {
        if (op.epilogue == Epilogue::Store) {
            *reinterpret_cast<std::uint32_t*>(output + row) = packPair(first, second);
        }
    }
}

/// The best row of the tile for each request; a warp a request. `logits(row, request, first,
/// second)` gives rows `row` and `row` + 1 of the tile.
template <class Config, class Logits>
KERF_DEVICE void bestOfTile(const WorkerState& worker, const DeviceOp& op, std::uint32_t block,
                            const Logits& logits) {
    const RegionArguments& region = worker.region;
    const unsigned lane = worker.thread % 32;
    for (std::uint32_t request = worker.thread / 32; request < region.batch;
         request += Config::kConsumerWarps) {
        Candidate best{-3.0e38F, 0xffffffffU};
        for (std::uint32_t row = lane * 2; row < op.rows_a_tile; row += 64) {
            const std::uint32_t packed = block * op.rows_a_tile + row;
            float first = 0;
            float second = 0;
            logits(row, request, first, second);
            if (region.logits != nullptr) {
                float* to = region.logits + std::uint64_t{request} * region.vocabulary + packed;
                to[0] = first;
                to[1] = second;
            }
            const Candidate a{first, packed};
            const Candidate b{second, packed + 1};
            best = beats(a, best) ? a : best;
            best = beats(b, best) ? b : best;
        }
        best = bestOfWarp(best);
        if (lane == 0) {
            op.candidates[std::uint64_t{request} * op.row_blocks + block] = best;
        }
    }
}

} // namespace kerf::lab

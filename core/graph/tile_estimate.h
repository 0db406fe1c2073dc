// SPDX-License-Identifier: GPL-3.0-or-later
// Tier 1: what a fusion group costs inside a megakernel, estimated from its recorded kernels.
#pragma once

#include "core/cost/footprint.h"
#include "core/cost/ncu_match.h"
#include "core/graph/chain.h"
#include "core/graph/fusion_rules.h"

namespace kerf::graph {

/// A recorded kernel as the estimate needs it; µs corrected for tracing.
struct RecordedKernel {
    workload::OpRole role = workload::OpRole::Other;
    std::string_view name;
    std::uint32_t blocks = 1;
    cost::Footprint footprint;
    double duration_us = 0;
};

/// What the estimate of one group starts from.
struct EstimateInput {
    std::vector<RecordedKernel> members; ///< in order
    std::size_t anchor = 0;              ///< index into members
    double reference_anchor_us = 0;      ///< anchor's duration at the smallest recorded batch
    RecordedKernel reference_anchor;     ///< anchor there
    std::optional<cost::KernelCounters> counters;           ///< of the anchor, if it was counted
    std::optional<cost::KernelCounters> reference_counters; ///< of the reference anchor
    double empty_kernel_us = 0; ///< duration of a kernel that does next to nothing
    int batch = 1;
};

/// Ops with more blocks are simulated as this many larger tiles.
inline constexpr std::uint32_t kMaxTilesAnOp = 4096;

/// The parts of ChainOp that an estimate fills.
struct TileEstimate {
    sim::TileOp tile;
    cost::Footprint footprint;
    Tier tier = Tier::Estimated;
    double relative_error = 0;
    std::string source;
};

/// Rules (docs/cost-model.md, "Tier 1"): weights from the smallest batch's duration at the
/// bandwidth that its blocks can draw, re-cut into ring-sized tiles; where the recorded time is
/// well above that, the op is bound by arithmetic and keeps its blocks as tiles; helper kernels
/// become consumer time. Tier 2: counted bytes take the place of those weights, and counted shares
/// of peak that of the recorded time in telling what binds.
[[nodiscard]] TileEstimate estimateTiles(const EstimateInput& input, const FusionRules& rules,
                                         const cost::Hardware& hardware);

/// Adds the work of the helper kernels (all members but the anchor) to the consumer time of `tile`;
/// of those roles in `done` the tile has it already.
void addHelpers(sim::TileOp& tile, const EstimateInput& input, const FusionRules& rules,
                const std::vector<workload::OpRole>& done, int workers);

/// Output rows and columns of one block, from names like "nvjet_sm90_tst_64x8_64x16_…" or
/// "…tilesize128x64x64…" or "…_64x128_64x3_…"; zero where the name does not say.
struct BlockTile {
    int a = 0;
    int b = 0;
};
[[nodiscard]] BlockTile blockTileOf(std::string_view kernelName);

} // namespace kerf::graph

// SPDX-License-Identifier: GPL-3.0-or-later
// The first-output path as a chain of tile ops with loops, and the sites where it may be cut.
#pragma once

#include "core/cost/footprint.h"
#include "core/sim/region_graph.h"
#include "core/workload/op.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::graph {

using SiteIndex = std::int32_t;             ///< index into Chain::sites
inline constexpr SiteIndex kPathStart = -1; ///< as the start of a region
/// As the end of a region: one past the last site, i.e. Chain::sites.size().
struct Chain;
[[nodiscard]] SiteIndex pathEnd(const Chain& chain);

/// Where the figures of a tile op come from (DESIGN.md 5).
enum class Tier : std::uint8_t { Estimated, Counters, Benchmarked };
[[nodiscard]] std::string_view toString(Tier tier);

/// An op of the chain: one recorded op or a fusion group, as it runs inside a megakernel and as its
/// recorded kernels run conventionally.
struct ChainOp {
    std::size_t stage = 0;            ///< index into Workload::stages
    std::vector<std::size_t> members; ///< indices into Stage::ops (first layer for folded ones)
    workload::OpRole role = workload::OpRole::Other; ///< of the anchor
    std::string key;   ///< stable over batch sizes: "talker_step/layer/product.1"
    std::string label; ///< short, for pictures: "qkv", "attn", "down"
    sim::TileOp tile;  ///< its cost inside a megakernel
    cost::Footprint footprint;
    Tier tier = Tier::Estimated;
    double relative_error = 0;             ///< one standard deviation of its megakernel cost
    std::string source;                    ///< provenance of the cost, one sentence
    std::vector<std::uint32_t> follows{1}; ///< the ops that it waits for, counted back along the
                                           ///< walk; several where branches join
    double conventional_us = 0;           ///< durations and gaps of its members, corrected; members
                                          ///< in the shadow of a longer branch count nothing
    double conventional_first_gap_us = 0; ///< of which the gap before the first member
};

/// A boundary between two ops where a cut is allowed. A cut at a site repeats each time that the
/// walk passes it: inside a layer in every layer, inside a loop in every iteration.
struct Site {
    std::string key;           ///< stable over batch sizes: "talker_step/layer/before product.1"
    std::string label;         ///< for people: "talker_step, each layer, before attention"
    std::size_t after_op = 0;  ///< ChainOp left of it on the strip (undefined at a path's first op)
    std::size_t before_op = 0; ///< ChainOp right of it on the strip
    std::int64_t passes = 1;   ///< how often the walk passes it
};

/// An element of the chain's structure.
struct Item {
    enum class Kind : std::uint8_t { Op, Site, Loop };
    Kind kind = Kind::Op;
    std::size_t index = 0; ///< ops: into Chain::ops; sites: into Chain::sites
    // Loops only:
    std::vector<Item> body;
    int count = 1;                    ///< iterations, ≥ 2
    std::size_t entry = 0;            ///< the first iteration starts at body[entry]
    SiteIndex back_site = kPathStart; ///< passed between two iterations; kPathStart: no cut there
    std::string label;                ///< "layer", "code_predictor_step", "frame"
};

/// Each site is at one place in `items`. Between two neighbouring sites lies at least one op (a
/// site beside another names the same cut twice).
struct Chain {
    std::vector<ChainOp> ops;
    std::vector<Site> sites;
    std::vector<Item> items;
    std::vector<std::string> notes; ///< about the costs, for the user: one sentence each
};

/// A stretch of the walk between two cuts with no cut in between. `from` is kPathStart or a site,
/// `to` a site or pathEnd(). `from` is passed in the last iteration when `to` lies behind the loop,
/// in the same iteration when `to` follows in the body, else in the one before (of the innermost
/// loop around both). In nested loops the way from `from` back to `to` may also lead out of that
/// loop and through the next iteration of a loop around it: `loops_left` counts the loops around
/// both that it leaves. The three together name one stretch.
struct Region {
    SiteIndex from = kPathStart;
    SiteIndex to = 0;
    std::int32_t loops_left = 0; ///< 0 unless cuts lie in nested loops only
    auto operator<=>(const Region&) const = default;
};

/// The ops of a region in order: single ops and whole loops (without sites, entered at their first
/// item), ready to be lowered. Consecutive equal iterations are kept as loops. Empty when no op
/// lies between the two, or when the walk has no such stretch.
[[nodiscard]] std::vector<Item> opsOf(const Chain& chain, Region region);

/// One step of the whole walk, loops unrolled: an op, or a site passed.
struct WalkStep {
    bool is_site = false;
    std::size_t index = 0;
};
[[nodiscard]] std::vector<WalkStep> unroll(const Chain& chain);

} // namespace kerf::graph

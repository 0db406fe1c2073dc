// SPDX-License-Identifier: GPL-3.0-or-later
// What the composition strip draws: the folded path as blocks, its sites, loops and regions.
// No widgets; the mapping between sites and x is here.
#pragma once

#include "core/graph/chain.h"
#include "core/graph/composition.h"

#include <QString>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kerf::views {

/// Executions of each op of the chain along the whole path.
[[nodiscard]] std::vector<std::int64_t> executionsOf(const graph::Chain& chain);

struct StripBlock {
    std::size_t op = 0; ///< index into Chain::ops
    double left = 0;    ///< px
    double right = 0;
};
/// A site between two blocks, where a handle can stand. Back sites of loops are in StripLoop.
struct StripSite {
    graph::SiteIndex site = 0;
    double x = 0; ///< px
};
struct StripLoop {
    double left = 0;
    double right = 0;
    int count = 1;
    int row = 0;        ///< 0: innermost; layers have a row of their own above the stage names
    bool layer = false; ///< a folded layer
    QString label;
    graph::SiteIndex back_site = graph::kPathStart; ///< kPathStart: cannot be cut
};
struct StripStage {
    std::size_t stage = 0;
    double left = 0;
    double right = 0;
    QString name;
};

/// The strip at one width. Everything left to right; coordinates in device-independent pixels.
struct StripLayout {
    double width = 0;
    std::vector<StripBlock> blocks; ///< one an op, in the order of the chain's items
    std::vector<StripSite> sites;   ///< x strictly ascending
    std::vector<StripLoop> loops;   ///< outer before inner
    std::vector<StripStage> stages;
    int loop_rows = 0; ///< rows of brackets that are no layers
};

/// Lays the chain out from `left` to `left + width`. A block's width grows with the square root of
/// its share of the conventional path, so that small ops stay visible beside large ones; no block
/// is narrower than a floor (3 px, less where the ops do not fit). `stageNames` by stage index.
[[nodiscard]] StripLayout layOut(const graph::Chain& chain,
                                 const std::vector<std::string>& stageNames, double left,
                                 double width);

/// Index into StripLayout::sites of the site nearest to `x`; -1 where there is none.
[[nodiscard]] int nearestSite(const StripLayout& layout, double x);
/// Position of a site; the loop's left end for a back site; the strip's left end for kPathStart.
[[nodiscard]] double xOf(const StripLayout& layout, graph::SiteIndex site);
/// Index into StripLayout::sites; -1 for back sites and kPathStart.
[[nodiscard]] int orderOf(const StripLayout& layout, graph::SiteIndex site);

/// A region as a stretch of the strip: where it runs in the last iteration of every loop. A region
/// that goes on round a loop has two stretches, one right of its handle and one at the loop's
/// start.
struct StripRegion {
    double left = 0;
    double right = 0;
    std::size_t first_block = 0; ///< index into StripLayout::blocks
    std::size_t last_block = 0;
    graph::SiteIndex start = graph::kPathStart; ///< the cut that starts it; its mode belongs there
    graph::Mode mode = graph::Mode::Conventional;
    int number = 0;         ///< megakernels from 1, left to right; one number for one start
    bool continues = false; ///< came here round a loop: lies left of its start
    bool round_loop =
        false; ///< goes on round a loop: another stretch of the same start continues it
    /// Starts that run these blocks in first iterations only and nowhere else; they switch modes
    /// together with `start`.
    std::set<graph::SiteIndex> first_iteration_starts;
};
[[nodiscard]] std::vector<StripRegion> regionsOnStrip(const graph::Chain& chain,
                                                      const StripLayout& layout,
                                                      const graph::Composition& composition);
/// Index of the region at `x` (the nearest one in gaps); -1 without regions.
[[nodiscard]] int regionAt(const std::vector<StripRegion>& regions, double x);
/// "megakernel 2" or "conventional"; with ↻ behind where it goes on round a loop, and before where
/// it came round one.
[[nodiscard]] QString titleOf(const StripRegion& region);

/// Mode of the region that starts at `start`.
[[nodiscard]] graph::Mode modeAt(const graph::Composition& composition, graph::SiteIndex start);

} // namespace kerf::views

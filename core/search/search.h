// SPDX-License-Identifier: GPL-3.0-or-later
// Exact search over cuts by dynamic programming on region costs. See docs/search.md.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/graph/composition.h"

#include <functional>
#include <set>
#include <vector>

namespace kerf::search {

/// Cost of one launch of a region in µs, boundary included; additive over a composition.
/// Must be finite, or +infinity for a region that cannot run (footprint does not fit).
/// Must be callable from several threads.
using RegionCost = std::function<double(graph::Region, graph::Mode)>;

struct Constraints {
    bool allow_mixed = true; ///< false: no composition with both modes
    int max_megakernels = 0; ///< most distinct megakernel regions (see regionsOf); 0: any
    std::set<graph::SiteIndex> forbidden; ///< never cut here
    std::set<graph::SiteIndex> pinned;    ///< always cut here
};

/// Every distinct region that launches something and that some composition under `constraints` can
/// use, in order of `from`. Errors: a contradiction in the constraints (names the site).
[[nodiscard]] Expected<std::vector<graph::Region>> usableRegions(const graph::Chain& chain,
                                                                 const Constraints& constraints);

struct Scored {
    graph::Composition composition;
    double cost_us = 0; ///< sum of region costs
};

/// The `top` best compositions under `constraints`, best first, no two with the same regions and
/// modes (see graph::normalised; pinned cuts always stay). Costs are asked in parallel, each region
/// and mode once. Without allow_mixed the fully conventional path is among the candidates. Exact:
/// no composition that was left out is better. Ties go to fewer cuts, then to the earlier site,
/// then to conventional. Never empty. Errors: contradiction in the constraints (names the site); no
/// composition of finite cost; a cost that is NaN (names the region); cancelled.
[[nodiscard]] Expected<std::vector<Scored>> bestCompositions(const graph::Chain& chain,
                                                             const RegionCost& cost,
                                                             const Constraints& constraints,
                                                             std::size_t top, Progress& progress);

/// The best composition with at most k distinct megakernels for each k from 1 to
/// `constraints.max_megakernels` (must be ≥ 1), from one search. A k for which the best is that of
/// k − 1 has no entry of its own, nor has one for which nothing can run; so the times fall along
/// the list. Otherwise as bestCompositions().
[[nodiscard]] Expected<std::vector<Scored>> bestByMegakernels(const graph::Chain& chain,
                                                              const RegionCost& cost,
                                                              const Constraints& constraints,
                                                              Progress& progress);

/// Sum of region costs of one composition. µs.
[[nodiscard]] double additiveCostUs(const graph::Chain& chain,
                                    const graph::Composition& composition, const RegionCost& cost);

} // namespace kerf::search

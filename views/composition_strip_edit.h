// SPDX-License-Identifier: GPL-3.0-or-later
// What an edit on the strip makes of a composition. Pure: no widgets, no signals.
#pragma once

#include "views/composition_strip_model.h"

#include <optional>

namespace kerf::views {

/// The cuts that have a handle (no back sites), left to right.
[[nodiscard]] std::vector<graph::SiteIndex> handlesOf(const StripLayout& layout,
                                                      const graph::Composition& composition);

/// Where the handle at `cut` lands when it is dragged to `x`: the nearest site between its
/// neighbours, which it cannot pass.
[[nodiscard]] graph::SiteIndex dragTarget(const StripLayout& layout,
                                          const graph::Composition& composition,
                                          graph::SiteIndex cut, double x);
/// One site to the left (-1) or right (+1); nothing where a neighbour or the end is in the way.
[[nodiscard]] std::optional<graph::SiteIndex> stepTarget(const StripLayout& layout,
                                                         const graph::Composition& composition,
                                                         graph::SiteIndex cut, int direction);
/// `composition` with its cut at `from` at `to` instead; the region keeps its mode.
[[nodiscard]] graph::Composition withCutMoved(graph::Composition composition, graph::SiteIndex from,
                                              graph::SiteIndex to);

/// The uncut site inside `region` that is nearest to `x`.
[[nodiscard]] std::optional<graph::SiteIndex> freeSiteNear(const StripLayout& layout,
                                                           const graph::Composition& composition,
                                                           const StripRegion& region, double x);
/// With a new cut; both halves keep the mode that the region has.
[[nodiscard]] graph::Composition withCut(graph::Composition composition, graph::SiteIndex site,
                                         graph::Mode mode);
/// Without the cut; the merged region has the mode of its left part.
[[nodiscard]] graph::Composition withoutCut(graph::Composition composition, graph::SiteIndex site);
/// With the other mode for the region, in first iterations too.
[[nodiscard]] graph::Composition withModeToggled(graph::Composition composition,
                                                 const StripRegion& region);
/// With the other mode for what starts at one cut (or kPathStart) only.
[[nodiscard]] graph::Composition withModeToggled(graph::Composition composition,
                                                 graph::SiteIndex start);

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// What tooltips and screen readers say about parts of the strip.
#pragma once

#include "core/search/predictor.h"
#include "views/composition_strip_model.h"

namespace kerf::views {

/// Rich text: label and stage, recorded kernels, conventional time and share of the path, where the
/// cost inside a megakernel comes from ("est." where it is estimated).
[[nodiscard]] QString opToolTip(const search::Case& theCase, std::size_t op);
/// Rich text: where the cut is, how often the path passes it.
[[nodiscard]] QString siteToolTip(const graph::Chain& chain, graph::SiteIndex site);
/// Rich text: mode, ops, share of the conventional path.
[[nodiscard]] QString regionToolTip(const search::Case& theCase, const StripLayout& layout,
                                    const StripRegion& region);
[[nodiscard]] QString loopToolTip(const StripLoop& loop, bool cut);
/// Plain text: all regions in order, for screen readers.
[[nodiscard]] QString summaryOf(const graph::Chain& chain, const StripLayout& layout,
                                const std::vector<StripRegion>& regions);

} // namespace kerf::views

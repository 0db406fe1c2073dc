// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/composition_strip_edit.h"

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

/// Orders (in StripLayout::sites) that a handle may take: between its neighbours, without them.
struct Range {
    int first = 0;
    int last = 0;
};

Range rangeOf(const StripLayout& layout, const graph::Composition& composition, int order) {
    const auto isCut = [&](int i) {
        return composition.cuts.contains(layout.sites[static_cast<std::size_t>(i)].site);
    };
    Range range{order, order};
    while (range.first > 0 && !isCut(range.first - 1)) {
        --range.first;
    }
    while (range.last + 1 < static_cast<int>(layout.sites.size()) && !isCut(range.last + 1)) {
        ++range.last;
    }
    return range;
}

graph::Mode other(graph::Mode mode) {
    return mode == graph::Mode::Megakernel ? graph::Mode::Conventional : graph::Mode::Megakernel;
}

void setMode(graph::Composition& composition, graph::SiteIndex start, graph::Mode mode) {
    if (start == graph::kPathStart) {
        composition.first_mode = mode;
    } else if (const auto cut = composition.cuts.find(start); cut != composition.cuts.end()) {
        cut->second = mode;
    }
}

} // namespace

std::vector<graph::SiteIndex> handlesOf(const StripLayout& layout,
                                        const graph::Composition& composition) {
    std::vector<graph::SiteIndex> handles;
    for (const StripSite& site : layout.sites) {
        if (composition.cuts.contains(site.site)) {
            handles.push_back(site.site);
        }
    }
    return handles;
}

graph::SiteIndex dragTarget(const StripLayout& layout, const graph::Composition& composition,
                            graph::SiteIndex cut, double x) {
    const int order = orderOf(layout, cut);
    if (order < 0) {
        return cut;
    }
    const Range range = rangeOf(layout, composition, order);
    const int target = std::clamp(nearestSite(layout, x), range.first, range.last);
    return layout.sites[static_cast<std::size_t>(target)].site;
}

std::optional<graph::SiteIndex> stepTarget(const StripLayout& layout,
                                           const graph::Composition& composition,
                                           graph::SiteIndex cut, int direction) {
    const int order = orderOf(layout, cut);
    if (order < 0) {
        return std::nullopt;
    }
    const Range range = rangeOf(layout, composition, order);
    const int target = order + direction;
    if (target < range.first || target > range.last) {
        return std::nullopt;
    }
    return layout.sites[static_cast<std::size_t>(target)].site;
}

graph::Composition withCutMoved(graph::Composition composition, graph::SiteIndex from,
                                graph::SiteIndex to) {
    auto node = composition.cuts.extract(from);
    if (!node.empty()) {
        node.key() = to;
        composition.cuts.insert(std::move(node));
    }
    return composition;
}

std::optional<graph::SiteIndex> freeSiteNear(const StripLayout& layout,
                                             const graph::Composition& composition,
                                             const StripRegion& region, double x) {
    std::optional<graph::SiteIndex> best;
    double bestDistance = 0;
    // The gaps at both ends belong to the region: at a loop's start they may hold an uncut entry.
    const auto& blocks = layout.blocks;
    const double low = region.first_block > 0 ? blocks[region.first_block - 1].right : region.left;
    const double high =
        region.last_block + 1 < blocks.size() ? blocks[region.last_block + 1].left : region.right;
    for (const StripSite& site : layout.sites) {
        if (site.x <= low || site.x >= high || composition.cuts.contains(site.site)) {
            continue;
        }
        const double distance = std::abs(site.x - x);
        if (!best || distance < bestDistance) {
            best = site.site;
            bestDistance = distance;
        }
    }
    return best;
}

graph::Composition withCut(graph::Composition composition, graph::SiteIndex site,
                           graph::Mode mode) {
    composition.cuts.emplace(site, mode);
    return composition;
}

graph::Composition withoutCut(graph::Composition composition, graph::SiteIndex site) {
    composition.cuts.erase(site);
    return composition;
}

graph::Composition withModeToggled(graph::Composition composition, const StripRegion& region) {
    const graph::Mode mode = other(region.mode);
    setMode(composition, region.start, mode);
    for (const graph::SiteIndex start : region.first_iteration_starts) {
        setMode(composition, start, mode);
    }
    return composition;
}

graph::Composition withModeToggled(graph::Composition composition, graph::SiteIndex start) {
    setMode(composition, start, other(modeAt(composition, start)));
    return composition;
}

} // namespace kerf::views

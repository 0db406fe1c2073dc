// SPDX-License-Identifier: GPL-3.0-or-later
// What the search needs to know of the chain before it starts: which sites it may cut, and the cost
// of each region that some composition can use, asked once.
#pragma once

#include "core/graph/walk.h"
#include "core/search/search.h"

namespace kerf::search {

/// What the search may do at a site.
enum class SiteUse : std::uint8_t {
    Never, ///< forbidden, or a cut there separates nothing
    Free,
    Pinned,
};
/// By site. Errors: a site that the chain lacks, or that is both forbidden and pinned.
[[nodiscard]] Expected<std::vector<SiteUse>> siteUses(const graph::Chain& chain,
                                                      const Constraints& constraints);

/// A region as a link between two cuts.
struct Link {
    double us = 0;        ///< of one launch; +infinity where it cannot be
    bool launches = true; ///< false: no op between the path's start or end and a cut there
};

class LinkCosts {
public:
    /// Asks `cost` in parallel for every region of `modes` that some composition can use.
    /// Errors: a cost that is NaN or −infinity (names the region); cancelled.
    [[nodiscard]] static Expected<LinkCosts> ask(const graph::Chain& chain,
                                                 const std::vector<SiteUse>& uses,
                                                 const std::vector<graph::Mode>& modes,
                                                 const RegionCost& cost, Progress& progress);

    /// See usableRegions().
    [[nodiscard]] static Expected<std::vector<graph::Region>>
    regions(const graph::Chain& chain, const Constraints& constraints);

    /// The region that leads forward from `from` to `to`.
    [[nodiscard]] Link forward(graph::SiteIndex from, graph::SiteIndex to, graph::Mode mode) const {
        return links_[index({from, to, 0}, mode)];
    }
    /// The region that leads from `from` through the next iteration of the loop at `depth` (the
    /// outermost loop has depth 1) to `to`.
    [[nodiscard]] Link around(graph::SiteIndex from, graph::SiteIndex to, std::size_t depth,
                              graph::Mode mode) const;
    /// Distinct regions and modes asked.
    [[nodiscard]] std::size_t asked() const { return asked_; }

private:
    explicit LinkCosts(const graph::Chain& chain);
    [[nodiscard]] std::int32_t loopsLeft(graph::SiteIndex from, graph::SiteIndex to,
                                         std::size_t depth) const;
    [[nodiscard]] std::size_t index(const graph::Region& region, graph::Mode mode) const {
        const auto from = static_cast<std::size_t>(region.from - graph::kPathStart);
        const auto to = static_cast<std::size_t>(region.to);
        const auto left = static_cast<std::size_t>(region.loops_left);
        return ((from * width_ + to) * levels_ + left) * 2 + (mode == graph::Mode::Megakernel);
    }
    friend class RegionFinder;

    std::vector<graph::Place> places_; ///< by site
    std::size_t width_ = 1;            ///< sites and the path's end
    std::size_t levels_ = 1;           ///< most loops around a site, at least 1
    std::vector<Link> links_;
    std::size_t asked_ = 0;
};

} // namespace kerf::search

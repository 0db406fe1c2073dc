// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/link_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <oneapi/tbb/parallel_for.h>

namespace kerf::search {
namespace {

using graph::kPathStart;
using graph::Mode;
using graph::Region;
using graph::SiteIndex;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string nameOf(const graph::Chain& chain, SiteIndex site) {
    if (site == kPathStart) {
        return "the path's start";
    }
    return site == graph::pathEnd(chain) ? "the path's end"
                                         : chain.sites[static_cast<std::size_t>(site)].label;
}

/// Where sites stand beside the path's ends or beside each other.
struct Neighbours {
    std::vector<bool> separates;  ///< by site: some op runs before and some after one of its passes
    std::vector<bool> opens_path; ///< by site: no op runs before its first pass
    std::vector<bool> ends_path;  ///< by site: no op runs after its last pass
    std::vector<std::pair<SiteIndex, SiteIndex>> adjacent; ///< passed with no op in between

    explicit Neighbours(const graph::Chain& chain)
        : separates(chain.sites.size()), opens_path(chain.sites.size()),
          ends_path(chain.sites.size()) {
        const std::vector<graph::WalkStep> steps = graph::unroll(chain);
        const auto is_op = [](const graph::WalkStep& step) { return !step.is_site; };
        const auto first_op = std::find_if(steps.begin(), steps.end(), is_op);
        const auto behind_last_op = std::find_if(steps.rbegin(), steps.rend(), is_op).base();
        std::vector<SiteIndex> run; // sites since the last op
        for (auto step = steps.begin(); step != steps.end(); ++step) {
            if (is_op(*step)) {
                run.clear();
                continue;
            }
            const bool opens = step < first_op;
            const bool ends = step >= behind_last_op;
            opens_path[step->index] = opens_path[step->index] || opens;
            ends_path[step->index] = ends;
            separates[step->index] = separates[step->index] || (!opens && !ends);
            const auto site = static_cast<SiteIndex>(step->index);
            for (const SiteIndex before : run) {
                adjacent.emplace_back(before, site);
            }
            run.push_back(site);
        }
        std::sort(adjacent.begin(), adjacent.end());
        adjacent.erase(std::unique(adjacent.begin(), adjacent.end()), adjacent.end());
    }
};

} // namespace

Expected<std::vector<SiteUse>> siteUses(const graph::Chain& chain, const Constraints& constraints) {
    for (const auto* named : {&constraints.forbidden, &constraints.pinned}) {
        for (const SiteIndex site : *named) {
            if (site < 0 || site >= graph::pathEnd(chain)) {
                return fail(
                    fmt::format("no site {} in a chain of {} sites", site, chain.sites.size()), {},
                    "Name a site of this chain.");
            }
            if (constraints.forbidden.contains(site) && constraints.pinned.contains(site)) {
                return fail(
                    fmt::format("the cut \"{}\" is both forbidden and pinned", nameOf(chain, site)),
                    {}, "Free it of one of the two.");
            }
        }
    }
    const Neighbours neighbours(chain);
    std::vector<SiteUse> uses(chain.sites.size(), SiteUse::Never);
    for (std::size_t site = 0; site < uses.size(); ++site) {
        if (neighbours.separates[site] &&
            !constraints.forbidden.contains(static_cast<SiteIndex>(site))) {
            uses[site] = constraints.pinned.contains(static_cast<SiteIndex>(site)) ? SiteUse::Pinned
                                                                                   : SiteUse::Free;
        }
    }
    return uses;
}

/// Follows the chain's structure as the search does, with sets of cuts in place of their costs.
class RegionFinder {
public:
    RegionFinder(const graph::Chain& chain, const std::vector<SiteUse>& uses, LinkCosts& costs)
        : chain_(chain), uses_(uses), neighbours_(chain), costs_(costs) {}

    /// Distinct regions that launch something, in order of `from`.
    [[nodiscard]] std::vector<Region> find() {
        const SiteIndex end = graph::pathEnd(chain_);
        const Ends path = sequence(chain_.items, 0);
        for (const SiteIndex first : path.firsts()) {
            if (neighbours_.opens_path[static_cast<std::size_t>(first)]) {
                mark({kPathStart, first}, {0, false});
            } else {
                found_.push_back({kPathStart, first});
            }
        }
        for (const SiteIndex last : path.lasts()) {
            if (neighbours_.ends_path[static_cast<std::size_t>(last)]) {
                mark({last, end}, {0, false});
            } else {
                found_.push_back({last, end});
            }
        }
        if (path.through) {
            found_.push_back({kPathStart, end});
        }
        std::sort(found_.begin(), found_.end());
        found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
        return std::move(found_);
    }

private:
    /// How a part of the path can be cut: without any cut, or with a first and a last one.
    struct Ends {
        bool through = true;
        std::vector<std::pair<SiteIndex, SiteIndex>> cuts;

        [[nodiscard]] std::vector<SiteIndex> firsts() const {
            return distinct([](const auto& cut) { return cut.first; });
        }
        [[nodiscard]] std::vector<SiteIndex> lasts() const {
            return distinct([](const auto& cut) { return cut.second; });
        }

    private:
        template <class Get> [[nodiscard]] std::vector<SiteIndex> distinct(Get get) const {
            std::vector<SiteIndex> sites;
            std::transform(cuts.begin(), cuts.end(), std::back_inserter(sites), get);
            std::sort(sites.begin(), sites.end());
            sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
            return sites;
        }
    };

    [[nodiscard]] Ends site(SiteIndex index) const {
        const SiteUse use = uses_[static_cast<std::size_t>(index)];
        Ends ends{use != SiteUse::Pinned, {}};
        if (use != SiteUse::Never) {
            ends.cuts.emplace_back(index, index);
        }
        return ends;
    }

    [[nodiscard]] Ends sequence(std::span<const graph::Item> items, std::size_t depth) {
        Ends ends;
        for (const graph::Item& item : items) {
            if (item.kind == graph::Item::Kind::Site) {
                append(ends, site(static_cast<SiteIndex>(item.index)));
            } else if (item.kind == graph::Item::Kind::Loop) {
                append(ends, loop(item, depth + 1));
            }
        }
        return ends;
    }

    void append(Ends& ends, const Ends& next) {
        const std::vector<SiteIndex> firsts = ends.firsts();
        const std::vector<SiteIndex> lasts = next.lasts();
        for (const SiteIndex from : ends.lasts()) {
            for (const SiteIndex to : next.firsts()) {
                need({from, to});
            }
        }
        if (!next.through) {
            ends.cuts.clear();
        }
        if (ends.through) {
            ends.cuts.insert(ends.cuts.end(), next.cuts.begin(), next.cuts.end());
        }
        for (const SiteIndex first : firsts) {
            for (const SiteIndex last : lasts) {
                ends.cuts.emplace_back(first, last);
            }
        }
        ends.through = ends.through && next.through;
    }

    [[nodiscard]] Ends loop(const graph::Item& item, std::size_t depth) {
        const std::span<const graph::Item> body(item.body);
        const Ends entered = sequence(body.subspan(item.entry), depth);
        Ends again;
        if (item.back_site != kPathStart) {
            append(again, site(item.back_site));
        }
        append(again, sequence(body.first(item.entry), depth));
        for (const SiteIndex from : entered.lasts()) {
            for (const SiteIndex to : again.firsts()) {
                need({from, to});
            }
        }
        for (const SiteIndex from : again.lasts()) {
            for (const SiteIndex to : entered.firsts()) {
                need({from, to});
            }
        }
        Ends ends{entered.through && again.through, {}};
        for (const auto& [first, last] : entered.cuts) {
            if (again.through) {
                needAround(last, first, depth);
            }
            ends.cuts.emplace_back(first, last);
        }
        if (entered.through) {
            for (const auto& [first, last] : again.cuts) {
                if (item.count > 2) {
                    needAround(last, first, depth);
                }
                ends.cuts.emplace_back(first, last);
            }
        }
        return ends;
    }

    void needAround(SiteIndex from, SiteIndex to, std::size_t depth) {
        need({from, to, costs_.loopsLeft(from, to, depth)});
    }

    void need(const Region& region) {
        const bool may_be_empty =
            std::binary_search(neighbours_.adjacent.begin(), neighbours_.adjacent.end(),
                               std::pair(region.from, region.to));
        if (may_be_empty && graph::opsOf(chain_, region).empty()) {
            mark(region, {kInfinity, false});
        } else {
            found_.push_back(region);
        }
    }

    void mark(const Region& region, Link link) {
        for (const Mode mode : {Mode::Conventional, Mode::Megakernel}) {
            costs_.links_[costs_.index(region, mode)] = link;
        }
    }

    const graph::Chain& chain_;
    const std::vector<SiteUse>& uses_;
    Neighbours neighbours_;
    LinkCosts& costs_;
    std::vector<Region> found_;
};

LinkCosts::LinkCosts(const graph::Chain& chain)
    : places_(chain.sites.size()), width_(chain.sites.size() + 1) {
    for (std::size_t site = 0; site < places_.size(); ++site) {
        if (auto place = graph::placeOf(chain, static_cast<SiteIndex>(site))) {
            places_[site] = std::move(*place);
            levels_ = std::max(levels_, places_[site].loops());
        }
    }
    links_.assign((width_ + 1) * width_ * levels_ * 2, Link{kInfinity, false});
}

std::int32_t LinkCosts::loopsLeft(SiteIndex from, SiteIndex to, std::size_t depth) const {
    const std::size_t common = graph::commonLoops(places_[static_cast<std::size_t>(from)],
                                                  places_[static_cast<std::size_t>(to)]);
    return static_cast<std::int32_t>(common - depth);
}

Link LinkCosts::around(SiteIndex from, SiteIndex to, std::size_t depth, Mode mode) const {
    return links_[index({from, to, loopsLeft(from, to, depth)}, mode)];
}

Expected<LinkCosts> LinkCosts::ask(const graph::Chain& chain, const std::vector<SiteUse>& uses,
                                   const std::vector<Mode>& modes, const RegionCost& cost,
                                   Progress& progress) {
    LinkCosts costs(chain);
    const std::vector<Region> regions = RegionFinder(chain, uses, costs).find();
    costs.asked_ = regions.size() * modes.size();
    std::atomic<std::size_t> done = 0;
    oneapi::tbb::parallel_for(std::size_t{0}, costs.asked_, [&](std::size_t i) {
        if (progress.cancelled.load(std::memory_order_relaxed)) {
            return;
        }
        const Region& region = regions[i / modes.size()];
        const Mode mode = modes[i % modes.size()];
        costs.links_[costs.index(region, mode)] = {cost(region, mode), true};
        constexpr std::size_t kReportEvery = 256;
        if (const std::size_t finished = ++done; finished % kReportEvery == 0) {
            progress.step(static_cast<double>(finished) / static_cast<double>(costs.asked_),
                          "predicting regions");
        }
    });
    if (progress.cancelled) {
        return fail("cancelled");
    }
    for (const Region& region : regions) {
        for (const Mode mode : modes) {
            const double us = costs.links_[costs.index(region, mode)].us;
            if (std::isnan(us) || us == -kInfinity) {
                return fail(fmt::format("the cost of the region from {} to {} is {} µs",
                                        nameOf(chain, region.from), nameOf(chain, region.to), us),
                            {}, "Check the costs of its ops.");
            }
        }
    }
    return costs;
}

Expected<std::vector<Region>> LinkCosts::regions(const graph::Chain& chain,
                                                 const Constraints& constraints) {
    const auto uses = siteUses(chain, constraints);
    if (!uses) {
        return tl::unexpected(uses.error());
    }
    LinkCosts costs(chain);
    return RegionFinder(chain, *uses, costs).find();
}

Expected<std::vector<Region>> usableRegions(const graph::Chain& chain,
                                            const Constraints& constraints) {
    return LinkCosts::regions(chain, constraints);
}

} // namespace kerf::search

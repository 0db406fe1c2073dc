// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/search.h"

#include "core/search/block.h"

#include <algorithm>
#include <cmath>

namespace kerf::search {
namespace {

using graph::Mode;

/// The path without megakernels; it counts as cut at every pinned site.
Scored conventional(const graph::Chain& chain, const std::vector<SiteUse>& uses,
                    const RegionCost& cost) {
    Scored result{graph::fullyConventional(), 0};
    for (std::size_t site = 0; site < uses.size(); ++site) {
        if (uses[site] == SiteUse::Pinned) {
            result.composition.cuts.emplace(static_cast<graph::SiteIndex>(site),
                                            Mode::Conventional);
        }
    }
    result.cost_us = additiveCostUs(chain, result.composition, cost);
    return result;
}

bool cheaper(const Scored& a, const Scored& b) {
    return std::pair(a.cost_us, a.composition.cuts.size()) <
           std::pair(b.cost_us, b.composition.cuts.size());
}

/// What a search found: its options and the set that can name their cuts.
struct Found {
    std::vector<SiteUse> uses;
    OptionSet set;
    Options options; ///< best first; with a limit on megakernels the best for each number of them
};

Expected<Found> find(const graph::Chain& chain, const RegionCost& cost,
                     const Constraints& constraints, std::size_t top, Progress& progress) {
    auto uses = siteUses(chain, constraints);
    if (!uses) {
        return tl::unexpected(uses.error());
    }
    const std::vector<Mode> modes = constraints.allow_mixed
                                        ? std::vector{Mode::Conventional, Mode::Megakernel}
                                        : std::vector{Mode::Megakernel};
    const auto costs = LinkCosts::ask(chain, *uses, modes, cost, progress);
    if (!costs) {
        return tl::unexpected(costs.error());
    }
    Found found{std::move(*uses), OptionSet(top, constraints.max_megakernels), {}};
    found.options =
        BlockBuilder(*costs, found.uses, modes, found.set).path(chain, progress.cancelled);
    if (progress.cancelled) {
        return fail("cancelled");
    }
    return found;
}

} // namespace

Expected<std::vector<Scored>> bestCompositions(const graph::Chain& chain, const RegionCost& cost,
                                               const Constraints& constraints, std::size_t top,
                                               Progress& progress) {
    const auto found = find(chain, cost, constraints, top, progress);
    if (!found) {
        return tl::unexpected(found.error());
    }
    std::vector<Scored> result;
    for (const Option& option : found->options) {
        result.push_back({found->set.composition(option), option.us});
    }
    if (!constraints.allow_mixed) {
        const Scored all_conventional = conventional(chain, found->uses, cost);
        if (std::isfinite(all_conventional.cost_us)) {
            result.insert(std::lower_bound(result.begin(), result.end(), all_conventional, cheaper),
                          all_conventional);
        }
    }
    result.resize(std::min(result.size(), std::max<std::size_t>(top, 1)));
    if (result.empty()) {
        return fail("no composition can run under these constraints", {},
                    "Pin fewer cuts, or allow conventional regions beside megakernels.");
    }
    return result;
}

Expected<std::vector<Scored>> bestByMegakernels(const graph::Chain& chain, const RegionCost& cost,
                                                const Constraints& constraints,
                                                Progress& progress) {
    const auto found = find(chain, cost, constraints, 1, progress);
    if (!found) {
        return tl::unexpected(found.error());
    }
    std::vector<Scored> result;
    for (int most = 1; most <= constraints.max_megakernels; ++most) {
        const auto best =
            std::find_if(found->options.begin(), found->options.end(),
                         [&](const Option& option) { return option.megakernels <= most; });
        if (best != found->options.end()) {
            Scored scored{found->set.composition(*best), best->us};
            if (result.empty() || result.back().composition != scored.composition) {
                result.push_back(std::move(scored));
            }
        }
    }
    return result;
}

double additiveCostUs(const graph::Chain& chain, const graph::Composition& composition,
                      const RegionCost& cost) {
    double total_us = 0;
    for (const graph::RegionUse& use : graph::regionsOf(chain, composition)) {
        total_us += static_cast<double>(use.count) * cost(use.region, use.mode);
    }
    return total_us;
}

} // namespace kerf::search

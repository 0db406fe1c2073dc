// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/composition.h"

#include "core/graph/walk.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace kerf::graph {
namespace {

/// Follows the walk and gathers the stretches between the cuts.
class RegionCounter {
public:
    RegionCounter(const Chain& chain, const Composition& composition)
        : composition_(composition), mode_(composition.first_mode) {
        for (const auto& [site, mode] : composition.cuts) {
            places_[site] = placeOf(chain, site).value_or(Place{{0}, false});
        }
    }

    void op(std::size_t) { has_ops_ = true; }
    void site(SiteIndex site) {
        const auto cut = composition_.cuts.find(site);
        if (cut == composition_.cuts.end()) {
            return;
        }
        finish(site);
        mode_ = cut->second;
    }
    void nextIteration(std::size_t depth) { outermost_wrap_ = std::min(outermost_wrap_, depth); }

    void finish(SiteIndex to) {
        Region region{from_, to};
        const auto from_place = places_.find(from_);
        const auto to_place = places_.find(to);
        if (from_place != places_.end() && to_place != places_.end()) {
            const std::size_t common = commonLoops(from_place->second, to_place->second);
            if (outermost_wrap_ < common) {
                region.loops_left = static_cast<std::int32_t>(common - outermost_wrap_);
            }
        }
        if (has_ops_) {
            const auto [known, is_new] = index_.try_emplace(region, uses_.size());
            if (is_new) {
                uses_.push_back({region, mode_, 0});
            }
            ++uses_[known->second].count;
            if (last_) {
                ++pairs_[{*last_, known->second}];
            }
            last_ = known->second;
        }
        from_ = to;
        has_ops_ = false;
        outermost_wrap_ = std::numeric_limits<std::size_t>::max();
    }

    [[nodiscard]] std::vector<RegionUse> takeUses() { return std::move(uses_); }
    [[nodiscard]] std::vector<RegionPair> pairs() const {
        std::vector<RegionPair> pairs;
        for (const auto& [pair, count] : pairs_) {
            pairs.push_back({pair.first, pair.second, count});
        }
        return pairs;
    }

private:
    const Composition& composition_;
    std::map<SiteIndex, Place> places_;
    std::map<Region, std::size_t> index_;
    std::vector<RegionUse> uses_;
    std::optional<std::size_t> last_; ///< the region launched last
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs_;
    SiteIndex from_ = kPathStart;
    Mode mode_;
    bool has_ops_ = false;
    std::size_t outermost_wrap_ = std::numeric_limits<std::size_t>::max();
};

} // namespace

std::string_view toString(Kind kind) {
    switch (kind) {
    case Kind::Conventional:
        return "conventional";
    case Kind::Monolith:
        return "monolith";
    case Kind::Pure:
        return "pure";
    case Kind::Mixed:
        return "mixed";
    }
    return "unknown";
}

Composition fullyConventional() {
    return {Mode::Conventional, {}};
}

Composition monolith() {
    return {Mode::Megakernel, {}};
}

Kind kindOf(const Composition& composition) {
    const auto differs = [&](const auto& cut) { return cut.second != composition.first_mode; };
    if (std::any_of(composition.cuts.begin(), composition.cuts.end(), differs)) {
        return Kind::Mixed;
    }
    if (composition.first_mode == Mode::Conventional) {
        return Kind::Conventional;
    }
    return composition.cuts.empty() ? Kind::Monolith : Kind::Pure;
}

std::vector<RegionUse> regionsOf(const Chain& chain, const Composition& composition) {
    RegionCounter counter(chain, composition);
    walk(chain.items, counter);
    counter.finish(pathEnd(chain));
    return counter.takeUses();
}

std::vector<RegionPair> consecutiveRegions(const Chain& chain, const Composition& composition) {
    RegionCounter counter(chain, composition);
    walk(chain.items, counter);
    counter.finish(pathEnd(chain));
    return counter.pairs();
}

Composition normalised(const Chain& chain, Composition composition) {
    while (!composition.cuts.empty()) {
        const std::vector<RegionUse> uses = regionsOf(chain, composition);
        // A region that launches nothing has no mode of its own: it takes the next one's.
        if (!uses.empty() && uses.front().region.from != kPathStart) {
            composition.first_mode = uses.front().mode;
        }
        std::set<SiteIndex> needed;
        for (const RegionUse& use : uses) {
            if (use.mode == Mode::Megakernel) {
                needed.insert(use.region.to);
            }
        }
        const auto superfluous = [&](const auto& cut) {
            return cut.second == Mode::Conventional && !needed.contains(cut.first);
        };
        if (std::erase_if(composition.cuts, superfluous) == 0) {
            break;
        }
    }
    return composition;
}

NamedComposition named(const Chain& chain, const Composition& composition) {
    NamedComposition result{composition.first_mode, {}, {}};
    for (const auto& [site, mode] : composition.cuts) {
        result.cuts.emplace(chain.sites.at(static_cast<std::size_t>(site)).key, mode);
    }
    return result;
}

Composition resolved(const Chain& chain, const NamedComposition& named,
                     std::vector<std::string>* missing) {
    Composition result{named.first_mode, {}};
    for (const auto& [key, mode] : named.cuts) {
        const auto site = std::find_if(chain.sites.begin(), chain.sites.end(),
                                       [&key = key](const Site& s) { return s.key == key; });
        if (site != chain.sites.end()) {
            result.cuts.emplace(static_cast<SiteIndex>(site - chain.sites.begin()), mode);
        } else if (missing) {
            missing->push_back(key);
        }
    }
    return result;
}

} // namespace kerf::graph

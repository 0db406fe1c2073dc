// SPDX-License-Identifier: GPL-3.0-or-later
// Random small chains, and a slow, obvious walk of their own for tests to compare with.
#pragma once

#include "core/graph/composition.h"

#include <algorithm>
#include <map>
#include <random>

namespace kerf::test {

/// Makes chains of ops and sites in nested loops. Between two neighbouring sites lies an op, except
/// that a chain may start or end with a site.
class ChainMaker {
public:
    explicit ChainMaker(unsigned seed) : random_(seed) {}

    graph::Chain make(std::size_t most_sites) {
        most_sites_ = most_sites;
        chain_ = {};
        chain_.items = sequence(0, upTo(3) + 1);
        return std::move(chain_);
    }
    /// 0 … most
    std::size_t upTo(std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(0, most)(random_);
    }
    std::mt19937& random() { return random_; }

private:
    std::size_t newSite() {
        chain_.sites.emplace_back();
        chain_.sites.back().key = "site " + std::to_string(chain_.sites.size() - 1);
        return chain_.sites.size() - 1;
    }
    bool maySite() { return chain_.sites.size() < most_sites_ && upTo(3) > 0; }
    graph::Item op() {
        chain_.ops.emplace_back();
        return {graph::Item::Kind::Op, chain_.ops.size() - 1, {}, 1, 0, graph::kPathStart, {}};
    }
    void maybeSite(std::vector<graph::Item>& items) {
        if (maySite()) {
            items.push_back({graph::Item::Kind::Site, newSite(), {}, 1, 0, graph::kPathStart, {}});
        }
    }
    /// Starts and ends with an op, or (at the path's ends) perhaps with a site.
    std::vector<graph::Item> sequence(int depth, std::size_t parts) {
        std::vector<graph::Item> items;
        if (depth == 0 && upTo(4) == 0) {
            maybeSite(items);
        }
        for (std::size_t part = 0; part < parts; ++part) {
            items.push_back(op());
            maybeSite(items);
            if (depth < 3 && upTo(1) == 0) {
                items.push_back(loop(depth));
                maybeSite(items);
            }
        }
        if (depth > 0 || upTo(4) > 0) {
            items.push_back(op());
        }
        return items;
    }
    graph::Item loop(int depth) {
        graph::Item item;
        item.kind = graph::Item::Kind::Loop;
        item.label = "loop";
        item.count = static_cast<int>(2 + upTo(2));
        item.body = sequence(depth + 1, upTo(2) + 1);
        if (upTo(1) == 0) {
            // A loop is entered at an item that is no site, so that no two sites meet.
            item.entry = upTo(item.body.size() - 1);
            while (item.body[item.entry].kind == graph::Item::Kind::Site) {
                --item.entry;
            }
        }
        if (maySite()) {
            item.back_site = static_cast<graph::SiteIndex>(newSite());
        }
        return item;
    }

    std::mt19937 random_;
    std::size_t most_sites_ = 0;
    graph::Chain chain_;
};

/// A stretch between two cuts as the slow walk meets it.
struct Stretch {
    graph::Region region;
    graph::Mode mode = graph::Mode::Megakernel;
    std::vector<std::size_t> ops;
};

/// Every stretch of the walk in order, also those without ops.
class SlowWalk {
public:
    static std::vector<Stretch> stretches(const graph::Chain& chain,
                                          const graph::Composition& composition) {
        SlowWalk walk(composition);
        walk.current_.mode = composition.first_mode;
        walk.run(chain.items);
        walk.finish(static_cast<graph::SiteIndex>(chain.sites.size()));
        return std::move(walk.done_);
    }

private:
    /// A loop being run, and which iteration.
    using Counters = std::vector<std::pair<const graph::Item*, int>>;

    explicit SlowWalk(const graph::Composition& composition) : composition_(composition) {}

    void run(const std::vector<graph::Item>& items, std::size_t begin = 0) {
        for (std::size_t i = begin; i < items.size(); ++i) {
            const graph::Item& item = items[i];
            if (item.kind == graph::Item::Kind::Op) {
                current_.ops.push_back(item.index);
            } else if (item.kind == graph::Item::Kind::Site) {
                pass(static_cast<graph::SiteIndex>(item.index));
            } else {
                counters_.emplace_back(&item, 0);
                for (int iteration = 0; iteration < item.count; ++iteration) {
                    counters_.back().second = iteration;
                    if (iteration > 0 && item.back_site != graph::kPathStart) {
                        pass(item.back_site);
                    }
                    run(item.body, iteration == 0 ? item.entry : 0);
                }
                counters_.pop_back();
            }
        }
    }
    void pass(graph::SiteIndex site) {
        if (const auto cut = composition_.cuts.find(site); cut != composition_.cuts.end()) {
            finish(site);
            current_.mode = cut->second;
        }
    }
    void finish(graph::SiteIndex to) {
        current_.region.to = to;
        current_.region.loops_left = loopsLeft();
        done_.push_back(current_);
        current_ = {{to, 0}, graph::Mode::Megakernel, {}};
        at_start_ = counters_;
    }
    /// Of the loops that both ends lie in, those inside of the outermost one that went on.
    int loopsLeft() const {
        std::size_t common = 0;
        while (common < std::min(at_start_.size(), counters_.size()) &&
               at_start_[common].first == counters_[common].first) {
            ++common;
        }
        for (std::size_t level = 0; level < common; ++level) {
            if (at_start_[level].second != counters_[level].second) {
                return static_cast<int>(common - level - 1);
            }
        }
        return 0;
    }

    const graph::Composition& composition_;
    Counters counters_;
    Counters at_start_;
    Stretch current_;
    std::vector<Stretch> done_;
};

/// The ops of items, loops run.
inline void expand(const std::vector<graph::Item>& items, std::vector<std::size_t>& ops) {
    for (const graph::Item& item : items) {
        if (item.kind == graph::Item::Kind::Op) {
            ops.push_back(item.index);
        }
        for (int i = 0; item.kind == graph::Item::Kind::Loop && i < item.count; ++i) {
            expand(item.body, ops);
        }
    }
}

} // namespace kerf::test

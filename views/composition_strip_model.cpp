// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/composition_strip_model.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kerf::views {
namespace {

using graph::Item;

constexpr double kBlockGap = 1;
constexpr double kStageGap = 5;
constexpr double kLoopGap = 5;
constexpr double kSiteGap = 7; ///< a site that shares its gap with others
constexpr double kBlockFloor = 3;

void countExecutions(const std::vector<Item>& items, std::int64_t times, std::size_t entry,
                     std::int64_t entries, std::vector<std::int64_t>& out) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = items[i];
        // `entries` of the `times` passes begin at `entry`.
        const std::int64_t passes = i < entry ? times - entries : times;
        if (item.kind == Item::Kind::Op) {
            out[item.index] += passes;
        } else if (item.kind == Item::Kind::Loop) {
            countExecutions(item.body, passes * item.count, item.entry, passes, out);
        }
    }
}

/// Walks the items once, left to right, and notes what stands in each gap between blocks.
struct Scan {
    struct Gap {
        std::vector<graph::SiteIndex> sites;
        bool loop_edge = false;
    };
    struct LoopSpan {
        const Item* loop = nullptr;
        std::size_t first = 0; ///< block
        std::size_t end = 0;   ///< one past the last block
        int height = 0;        ///< loops (no layers) nested inside
    };
    std::vector<std::size_t> ops; ///< one a block
    std::vector<Gap> gaps{Gap{}}; ///< gaps[i] lies before block i; one more than blocks
    std::vector<LoopSpan> loops;

    /// Returns the height of the tallest nest of loops in `items`.
    int run(const std::vector<Item>& items) {
        int height = 0;
        for (const Item& item : items) {
            switch (item.kind) {
            case Item::Kind::Op:
                ops.push_back(item.index);
                gaps.emplace_back();
                break;
            case Item::Kind::Site:
                gaps.back().sites.push_back(static_cast<graph::SiteIndex>(item.index));
                break;
            case Item::Kind::Loop: {
                const std::size_t slot = loops.size();
                loops.push_back({&item, ops.size(), 0, 0});
                gaps.back().loop_edge = true;
                const int inner = run(item.body);
                gaps.back().loop_edge = true;
                loops[slot].end = ops.size();
                loops[slot].height = inner;
                height = std::max(height, inner + (item.label == "layer" ? 0 : 1));
                break;
            }
            }
        }
        return height;
    }
};

double gapWidth(const Scan& scan, const graph::Chain& chain, std::size_t gap) {
    const Scan::Gap& g = scan.gaps[gap];
    const bool inside = gap > 0 && gap < scan.ops.size();
    double width = inside ? kBlockGap : 0;
    if (inside && chain.ops[scan.ops[gap - 1]].stage != chain.ops[scan.ops[gap]].stage) {
        width = std::max(width, kStageGap);
    }
    if (inside && g.loop_edge) {
        width = std::max(width, kLoopGap);
    }
    if (g.sites.size() > 1) {
        width = std::max(width, kSiteGap * static_cast<double>(g.sites.size()));
    }
    return width;
}

/// Which cut an op runs under: in the last iteration of every loop, and in any.
struct Owners {
    std::vector<graph::SiteIndex> last;
    std::vector<std::set<graph::SiteIndex>> any;

    void walk(const std::vector<Item>& items, std::size_t from,
              const graph::Composition& composition, graph::SiteIndex& start) {
        for (std::size_t i = from; i < items.size(); ++i) {
            const Item& item = items[i];
            if (item.kind == Item::Kind::Op) {
                last[item.index] = start;
                any[item.index].insert(start);
            } else if (item.kind == Item::Kind::Site) {
                const auto site = static_cast<graph::SiteIndex>(item.index);
                start = composition.cuts.contains(site) ? site : start;
            } else {
                // Three iterations show all: the first (from its entry), the second (which may
                // still carry what came before the loop), and the last.
                for (int iteration = 0; iteration < std::min(item.count, 3); ++iteration) {
                    if (iteration > 0 && composition.cuts.contains(item.back_site)) {
                        start = item.back_site;
                    }
                    walk(item.body, iteration == 0 ? item.entry : 0, composition, start);
                }
            }
        }
    }
};

} // namespace

std::vector<std::int64_t> executionsOf(const graph::Chain& chain) {
    std::vector<std::int64_t> executions(chain.ops.size(), 0);
    countExecutions(chain.items, 1, 0, 0, executions);
    return executions;
}

StripLayout layOut(const graph::Chain& chain, const std::vector<std::string>& stageNames,
                   double left, double width) {
    StripLayout layout;
    layout.width = width;
    Scan scan;
    layout.loop_rows = scan.run(chain.items);
    const std::size_t blocks = scan.ops.size();
    if (blocks == 0) {
        return layout;
    }

    const std::vector<std::int64_t> executions = executionsOf(chain);
    std::vector<double> weights;
    double weightSum = 0;
    for (const std::size_t op : scan.ops) {
        const double time = chain.ops[op].conventional_us * static_cast<double>(executions[op]);
        weights.push_back(std::sqrt(std::max(time, 0.0)));
        weightSum += weights.back();
    }
    double gapSum = 0;
    for (std::size_t gap = 0; gap < scan.gaps.size(); ++gap) {
        gapSum += gapWidth(scan, chain, gap);
    }
    // Where the gaps alone would eat the strip, everything shrinks together.
    const double gapScale = gapSum > width / 2 ? width / 2 / gapSum : 1;
    const double room = width - gapSum * gapScale;
    const double count = static_cast<double>(blocks);
    const double floor = std::min(kBlockFloor, room / count);
    const double spare = room - floor * count;

    double x = left;
    std::vector<double> gapLeft(scan.gaps.size());
    for (std::size_t gap = 0; gap < scan.gaps.size(); ++gap) {
        const double size = gapWidth(scan, chain, gap) * gapScale;
        gapLeft[gap] = x;
        const std::vector<graph::SiteIndex>& sites = scan.gaps[gap].sites;
        for (std::size_t i = 0; i < sites.size(); ++i) {
            const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(sites.size());
            layout.sites.push_back({sites[i], x + size * part});
        }
        x += size;
        if (gap < blocks) {
            const double share = weightSum > 0 ? weights[gap] / weightSum : 1 / count;
            const double right = x + floor + spare * share;
            layout.blocks.push_back({scan.ops[gap], x, right});
            x = right;
        }
    }

    for (const Scan::LoopSpan& span : scan.loops) {
        if (span.first == span.end) {
            continue;
        }
        layout.loops.push_back({.left = layout.blocks[span.first].left,
                                .right = layout.blocks[span.end - 1].right,
                                .count = span.loop->count,
                                .row = span.height,
                                .layer = span.loop->label == "layer",
                                .label = QString::fromStdString(span.loop->label),
                                .back_site = span.loop->back_site});
    }
    for (const StripBlock& block : layout.blocks) {
        const std::size_t stage = chain.ops[block.op].stage;
        if (layout.stages.empty() || layout.stages.back().stage != stage) {
            const QString name =
                stage < stageNames.size() ? QString::fromStdString(stageNames[stage]) : QString();
            layout.stages.push_back({stage, block.left, block.right, name});
        }
        layout.stages.back().right = block.right;
    }
    return layout;
}

int nearestSite(const StripLayout& layout, double x) {
    const auto& sites = layout.sites;
    if (sites.empty()) {
        return -1;
    }
    const auto after = std::lower_bound(sites.begin(), sites.end(), x,
                                        [](const StripSite& s, double at) { return s.x < at; });
    if (after == sites.begin()) {
        return 0;
    }
    if (after == sites.end() || x - (after - 1)->x < after->x - x) {
        return static_cast<int>(after - 1 - sites.begin());
    }
    return static_cast<int>(after - sites.begin());
}

int orderOf(const StripLayout& layout, graph::SiteIndex site) {
    for (std::size_t i = 0; i < layout.sites.size(); ++i) {
        if (layout.sites[i].site == site) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

double xOf(const StripLayout& layout, graph::SiteIndex site) {
    if (const int order = orderOf(layout, site); order >= 0) {
        return layout.sites[static_cast<std::size_t>(order)].x;
    }
    for (const StripLoop& loop : layout.loops) {
        if (loop.back_site == site && site != graph::kPathStart) {
            return loop.left;
        }
    }
    return layout.blocks.empty() ? 0 : layout.blocks.front().left;
}

graph::Mode modeAt(const graph::Composition& composition, graph::SiteIndex start) {
    const auto cut = composition.cuts.find(start);
    return cut == composition.cuts.end() ? composition.first_mode : cut->second;
}

std::vector<StripRegion> regionsOnStrip(const graph::Chain& chain, const StripLayout& layout,
                                        const graph::Composition& composition) {
    Owners owners{std::vector<graph::SiteIndex>(chain.ops.size(), graph::kPathStart),
                  std::vector<std::set<graph::SiteIndex>>(chain.ops.size())};
    graph::SiteIndex start = graph::kPathStart;
    owners.walk(chain.items, 0, composition, start);

    // A handle separates stretches even where both are the same region, round a loop.
    const auto handleBefore = [&](std::size_t block) {
        const double low = layout.blocks[block - 1].right;
        const double high = layout.blocks[block].left;
        return std::any_of(layout.sites.begin(), layout.sites.end(), [&](const StripSite& site) {
            return site.x >= low && site.x <= high && composition.cuts.contains(site.site);
        });
    };
    std::set<graph::SiteIndex> visible;
    std::map<graph::SiteIndex, int> numbers;
    std::vector<StripRegion> regions;
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
        const StripBlock& block = layout.blocks[i];
        const graph::SiteIndex owner = owners.last[block.op];
        if (regions.empty() || regions.back().start != owner || handleBefore(i)) {
            visible.insert(owner);
            StripRegion region{.left = block.left,
                               .right = block.right,
                               .first_block = i,
                               .last_block = i,
                               .start = owner,
                               .mode = modeAt(composition, owner),
                               .first_iteration_starts = {}};
            if (region.mode == graph::Mode::Megakernel) {
                region.number =
                    numbers.try_emplace(owner, static_cast<int>(numbers.size()) + 1).first->second;
            }
            regions.push_back(std::move(region));
        }
        regions.back().right = block.right;
        regions.back().last_block = i;
        regions.back().first_iteration_starts.insert(owners.any[block.op].begin(),
                                                     owners.any[block.op].end());
    }
    for (StripRegion& region : regions) {
        region.continues = region.start != graph::kPathStart &&
                           xOf(layout, region.start) > (region.left + region.right) / 2;
        std::erase_if(region.first_iteration_starts,
                      [&](graph::SiteIndex site) { return visible.contains(site); });
    }
    for (StripRegion& region : regions) {
        region.round_loop =
            !region.continues && std::any_of(regions.begin(), regions.end(), [&](const auto& r) {
                return r.continues && r.start == region.start;
            });
    }
    return regions;
}

int regionAt(const std::vector<StripRegion>& regions, double x) {
    int best = -1;
    double bestDistance = 0;
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const double distance = std::max({regions[i].left - x, x - regions[i].right, 0.0});
        if (best < 0 || distance < bestDistance) {
            best = static_cast<int>(i);
            bestDistance = distance;
        }
    }
    return best;
}

QString titleOf(const StripRegion& region) {
    const QString title = region.mode == graph::Mode::Megakernel
                              ? QStringLiteral("megakernel %1").arg(region.number)
                              : QStringLiteral("conventional");
    return region.continues    ? QStringLiteral("↻ ") + title
           : region.round_loop ? title + QStringLiteral(" ↻")
                               : title;
}

} // namespace kerf::views

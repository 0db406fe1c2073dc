// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/block.h"

#include <algorithm>
#include <array>

namespace kerf::search {
namespace {

using graph::kPathStart;
using graph::Mode;
using graph::SiteIndex;

constexpr std::array kAllFirstCuts{FirstCut::Megakernel, FirstCut::ConventionalNeeds,
                                   FirstCut::ConventionalNeeded};
constexpr std::array kAllModes{Mode::Conventional, Mode::Megakernel};

std::size_t rowOf(std::size_t site, FirstCut state) {
    return site * kFirstCuts + static_cast<std::size_t>(state);
}
std::size_t columnOf(std::size_t site, Mode mode) {
    return site * kModes + (mode == Mode::Megakernel ? 1 : 0);
}
Mode modeOf(FirstCut state) {
    return state == FirstCut::Megakernel ? Mode::Megakernel : Mode::Conventional;
}
/// After a region of `mode` inside the block has ended at its first cut.
FirstCut after(FirstCut state, Mode mode) {
    return state == FirstCut::ConventionalNeeds && mode == Mode::Megakernel
               ? FirstCut::ConventionalNeeded
               : state;
}

Options& slot(Block& block, std::size_t first, FirstCut state, std::size_t last, Mode mode) {
    auto& row = block.rows[rowOf(first, state)];
    row.resize(block.sites.size() * kModes);
    return row[columnOf(last, mode)];
}

} // namespace

const Options& Block::at(std::size_t first, FirstCut state, std::size_t last, Mode mode) const {
    static const Options none;
    const auto& row = rows[rowOf(first, state)];
    const std::size_t column = columnOf(last, mode);
    return column < row.size() ? row[column] : none;
}

Block BlockBuilder::site(SiteIndex index, SiteUse use) {
    Block block;
    block.through = use != SiteUse::Pinned;
    if (use == SiteUse::Never) {
        return block;
    }
    block.sites.push_back(index);
    block.rows.resize(kFirstCuts);
    for (const Mode mode : modes_) {
        // A pinned cut is never superfluous.
        const FirstCut state = mode == Mode::Megakernel ? FirstCut::Megakernel
                               : use == SiteUse::Pinned ? FirstCut::ConventionalNeeded
                                                        : FirstCut::ConventionalNeeds;
        slot(block, 0, state, 0, mode).push_back(options_.single(index, mode));
    }
    return block;
}

Block BlockBuilder::item(const graph::Item& item, std::size_t depth) {
    switch (item.kind) {
    case graph::Item::Kind::Site: {
        const auto index = static_cast<SiteIndex>(item.index);
        return site(index, uses_[item.index]);
    }
    case graph::Item::Kind::Loop:
        return loop(item, depth + 1);
    case graph::Item::Kind::Op:
        break;
    }
    return {};
}

void BlockBuilder::link(std::vector<PairSource>& sources, const Options& left, Link link,
                        SiteIndex from, Mode mode, FirstCut next) const {
    if (left.empty()) {
        return;
    }
    if (!link.launches && from == kPathStart) {
        // No op lies before the path's first cut: the start has that cut's mode, as its only name.
        if (mode != modeOf(next) || next == FirstCut::ConventionalNeeds) {
            return;
        }
    } else if (next == FirstCut::ConventionalNeeds && mode == Mode::Conventional) {
        return;
    }
    const bool is_megakernel = link.launches && mode == Mode::Megakernel;
    sources.push_back(
        {&left, nullptr, link.us, is_megakernel ? options_.oneMegakernel() : 0, 1, 1});
}

void BlockBuilder::append(Block& block, const Block& next) {
    const std::size_t old_size = block.sites.size();
    const std::size_t new_size = next.sites.size();
    if (new_size == 0) {
        return; // without sites it is only passed through
    }
    block.sites.insert(block.sites.end(), next.sites.begin(), next.sites.end());
    block.rows.resize(block.sites.size() * kFirstCuts);
    const std::size_t columns = block.sites.size() * kModes;
    std::vector<PairSource> sources;
    for (std::size_t row = 0; row < old_size * kFirstCuts && !*cancelled_; ++row) {
        auto& cells = block.rows[row];
        if (cells.empty()) {
            continue;
        }
        // Best ways to the next block's first cut …
        std::vector<Options> to_first(new_size * kFirstCuts);
        for (std::size_t first = 0; first < new_size; ++first) {
            for (const FirstCut state : kAllFirstCuts) {
                if (next.rows[rowOf(first, state)].empty()) {
                    continue;
                }
                sources.clear();
                for (std::size_t last = 0; last * kModes < cells.size(); ++last) {
                    for (const Mode mode : modes_) {
                        const SiteIndex from = block.sites[last];
                        link(sources, cells[columnOf(last, mode)],
                             costs_.forward(from, next.sites[first], mode), from, mode, state);
                    }
                }
                to_first[rowOf(first, state)] = options_.merge(sources);
            }
        }
        if (!next.through) {
            std::fill(cells.begin(), cells.end(), Options{});
        }
        cells.resize(columns);
        // … and on to its last.
        for (std::size_t column = 0; column < new_size * kModes; ++column) {
            sources.clear();
            for (std::size_t first = 0; first < to_first.size(); ++first) {
                const auto& onward = next.rows[first];
                if (!to_first[first].empty() && column < onward.size()) {
                    sources.push_back({&to_first[first], &onward[column], 0, 0, 1, 1});
                }
            }
            cells[old_size * kModes + column] = options_.merge(sources);
        }
    }
    if (block.through) {
        for (std::size_t row = 0; row < next.rows.size(); ++row) {
            if (!next.rows[row].empty()) {
                auto& cells = block.rows[old_size * kFirstCuts + row];
                cells.resize(old_size * kModes);
                cells.insert(cells.end(), next.rows[row].begin(), next.rows[row].end());
            }
        }
    }
    block.through = block.through && next.through;
}

Block BlockBuilder::loop(const graph::Item& item, std::size_t depth) {
    // Walked: entered · (again · entered)^(count − 1)
    const std::span<const graph::Item> body(item.body);
    Block entered;
    for (const graph::Item& child : body.subspan(item.entry)) {
        append(entered, this->item(child, depth));
    }
    Block again;
    if (item.back_site != kPathStart) {
        append(again, site(item.back_site, uses_[static_cast<std::size_t>(item.back_site)]));
    }
    for (const graph::Item& child : body.first(item.entry)) {
        append(again, this->item(child, depth));
    }

    const double times = item.count;
    const double wraps = item.count - 1;
    const std::size_t entered_size = entered.sites.size();
    const std::size_t again_size = again.sites.size();
    Block block;
    block.through = entered.through && again.through;
    block.sites = entered.sites;
    block.sites.insert(block.sites.end(), again.sites.begin(), again.sites.end());
    block.rows.resize(block.sites.size() * kFirstCuts);
    std::vector<PairSource> sources;

    // Cuts in `entered` (first … last), with or without cuts in `again`.
    for (std::size_t last = 0; last < entered_size && !*cancelled_; ++last) {
        for (const Mode mode : modes_) {
            const SiteIndex last_site = entered.sites[last];
            // One wrap with cuts in `again`: from `last` to each of its last cuts.
            std::vector<Options> to_again(again_size * kModes);
            for (std::size_t column = 0; column < to_again.size(); ++column) {
                sources.clear();
                for (std::size_t row = 0; row < again.rows.size(); ++row) {
                    if (column >= again.rows[row].size()) {
                        continue;
                    }
                    link(sources, again.rows[row][column],
                         costs_.forward(last_site, again.sites[row / kFirstCuts], mode), last_site,
                         mode, static_cast<FirstCut>(row % kFirstCuts));
                }
                to_again[column] = options_.merge(sources);
            }
            for (std::size_t first = 0; first < entered_size; ++first) {
                const SiteIndex first_site = entered.sites[first];
                // … and on to the next pass of `first`, by the mode of the region that ends there.
                std::array<Options, kModes> wrap;
                for (const Mode wrap_mode : modes_) {
                    sources.clear();
                    for (std::size_t cut = 0; cut < again_size; ++cut) {
                        // Whether `first` needs a megakernel before it is settled below.
                        link(sources, to_again[columnOf(cut, wrap_mode)],
                             costs_.forward(again.sites[cut], first_site, wrap_mode),
                             again.sites[cut], wrap_mode, FirstCut::Megakernel);
                    }
                    wrap[columnOf(0, wrap_mode)] = options_.merge(sources);
                }
                for (const FirstCut result : kAllFirstCuts) {
                    sources.clear();
                    for (const FirstCut state : kAllFirstCuts) {
                        const Options& once = entered.at(first, state, last, mode);
                        if (once.empty()) {
                            continue;
                        }
                        if (again.through && after(state, mode) == result) {
                            const Link direct = costs_.around(last_site, first_site, depth, mode);
                            sources.push_back(
                                {&once, nullptr, wraps * direct.us,
                                 mode == Mode::Megakernel ? options_.oneMegakernel() : 0, times,
                                 0});
                        }
                        for (const Mode wrap_mode : modes_) {
                            if (after(state, wrap_mode) == result) {
                                sources.push_back(
                                    {&once, &wrap[columnOf(0, wrap_mode)], 0, 0, times, wraps});
                            }
                        }
                    }
                    if (!sources.empty()) {
                        slot(block, first, result, last, mode) = options_.merge(sources);
                    }
                }
            }
        }
    }

    // Cuts in `again` only: count − 1 passes of it.
    for (std::size_t row = 0; entered.through && row < again.rows.size(); ++row) {
        const std::size_t first = row / kFirstCuts;
        const auto state = static_cast<FirstCut>(row % kFirstCuts);
        for (std::size_t last = 0; last < again_size; ++last) {
            for (const Mode mode : kAllModes) {
                const Options& once = again.at(first, state, last, mode);
                if (once.empty()) {
                    continue;
                }
                PairSource source{&once, nullptr, 0, 0, wraps, 0};
                FirstCut result = state;
                if (item.count > 2) {
                    const Link direct =
                        costs_.around(again.sites[last], again.sites[first], depth, mode);
                    source.extra_us = (wraps - 1) * direct.us;
                    source.extra_megakernels =
                        mode == Mode::Megakernel ? options_.oneMegakernel() : 0;
                    result = after(state, mode);
                }
                // Two states of one first cut can end in the same state: both stay.
                Options& target =
                    slot(block, entered_size + first, result, entered_size + last, mode);
                const Options other = std::move(target);
                const std::array both{source, PairSource{&other, nullptr, 0, 0, 1, 0}};
                target = options_.merge(both);
            }
        }
    }
    return block;
}

Options BlockBuilder::path(const graph::Chain& chain, const std::atomic<bool>& cancelled) {
    cancelled_ = &cancelled;
    // The start is a cut that is always there, so that everything has a first cut.
    Block block = site(kPathStart, SiteUse::Pinned);
    for (const graph::Item& item : chain.items) {
        append(block, this->item(item, 0));
        if (cancelled) {
            return {};
        }
    }
    std::vector<PairSource> sources;
    for (const FirstCut state : kAllFirstCuts) {
        for (std::size_t last = 0; last < block.sites.size(); ++last) {
            for (const Mode mode : modes_) {
                const SiteIndex from = block.sites[last];
                const Options& options = block.at(0, state, last, mode);
                const Link to_end = costs_.forward(from, graph::pathEnd(chain), mode);
                const bool is_megakernel = to_end.launches && mode == Mode::Megakernel;
                sources.push_back({&options, nullptr, to_end.us,
                                   is_megakernel ? options_.oneMegakernel() : 0, 1, 0});
            }
        }
    }
    return options_.merge(sources);
}

} // namespace kerf::search

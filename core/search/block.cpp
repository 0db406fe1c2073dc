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
    sources.push_back({&left, nullptr, link.us, link.launches ? megakernels(mode) : 0, 1, 0});
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

std::vector<Options> BlockBuilder::intoAgain(SiteIndex from, Mode mode, const Block& again) const {
    std::vector<Options> ways(again.sites.size() * kModes);
    std::vector<PairSource> sources;
    for (std::size_t column = 0; column < ways.size(); ++column) {
        sources.clear();
        for (std::size_t row = 0; row < again.rows.size(); ++row) {
            if (column < again.rows[row].size()) {
                link(sources, again.rows[row][column],
                     costs_.forward(from, again.sites[row / kFirstCuts], mode), from, mode,
                     static_cast<FirstCut>(row % kFirstCuts));
            }
        }
        ways[column] = options_.merge(sources);
    }
    return ways;
}

BlockBuilder::Wrap BlockBuilder::backTo(SiteIndex first, const std::vector<Options>& into_again,
                                        const Block& again) const {
    Wrap wrap;
    std::vector<PairSource> sources;
    for (const Mode mode : modes_) {
        sources.clear();
        for (std::size_t cut = 0; cut < again.sites.size(); ++cut) {
            // Whether `first` needs a megakernel before it is settled by the caller.
            link(sources, into_again[columnOf(cut, mode)],
                 costs_.forward(again.sites[cut], first, mode), again.sites[cut], mode,
                 FirstCut::Megakernel);
        }
        wrap[columnOf(0, mode)] = options_.merge(sources);
    }
    return wrap;
}

void BlockBuilder::cutInEntered(const Loop& parts, Block& block) const {
    const auto& [entered, again, count, depth] = parts;
    std::vector<PairSource> sources;
    for (std::size_t last = 0; last < entered.sites.size() && !*cancelled_; ++last) {
        for (const Mode mode : modes_) {
            const SiteIndex last_site = entered.sites[last];
            const std::vector<Options> into_again = intoAgain(last_site, mode, again);
            for (std::size_t first = 0; first < entered.sites.size(); ++first) {
                const SiteIndex first_site = entered.sites[first];
                const Wrap wrap = backTo(first_site, into_again, again);
                const Link direct = costs_.around(last_site, first_site, depth, mode);
                for (const FirstCut result : kAllFirstCuts) {
                    sources.clear();
                    for (const FirstCut state : kAllFirstCuts) {
                        const Options& once = entered.at(first, state, last, mode);
                        if (once.empty()) {
                            continue;
                        }
                        if (again.through && after(state, mode) == result) {
                            sources.push_back({&once, nullptr, (count - 1) * direct.us,
                                               megakernels(mode), double(count), 0});
                        }
                        for (const Mode wrap_mode : modes_) {
                            if (after(state, wrap_mode) == result) {
                                sources.push_back({&once, &wrap[columnOf(0, wrap_mode)], 0, 0,
                                                   double(count), double(count - 1)});
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
}

void BlockBuilder::cutInAgain(const Loop& parts, Block& block) const {
    const auto& [entered, again, count, depth] = parts;
    const std::size_t offset = entered.sites.size();
    for (std::size_t row = 0; row < again.rows.size(); ++row) {
        const std::size_t first = row / kFirstCuts;
        const auto state = static_cast<FirstCut>(row % kFirstCuts);
        for (std::size_t last = 0; last < again.sites.size(); ++last) {
            for (const Mode mode : modes_) {
                const Options& once = again.at(first, state, last, mode);
                if (once.empty()) {
                    continue;
                }
                PairSource source{&once, nullptr, 0, 0, double(count - 1), 0};
                FirstCut result = state;
                if (count > 2) {
                    const Link direct =
                        costs_.around(again.sites[last], again.sites[first], depth, mode);
                    source.extra_us = (count - 2) * direct.us;
                    source.extra_megakernels = megakernels(mode);
                    result = after(state, mode);
                }
                // Two states of one first cut can end in the same state: both stay.
                Options& target = slot(block, offset + first, result, offset + last, mode);
                const Options other = std::move(target);
                target =
                    options_.merge(std::array{source, PairSource{&other, nullptr, 0, 0, 1, 0}});
            }
        }
    }
}

Block BlockBuilder::loop(const graph::Item& item, std::size_t depth) {
    const std::span<const graph::Item> body(item.body);
    Loop parts{{}, {}, item.count, depth};
    for (const graph::Item& child : body.subspan(item.entry)) {
        append(parts.entered, this->item(child, depth));
    }
    if (item.back_site != kPathStart) {
        append(parts.again, site(item.back_site, uses_[static_cast<std::size_t>(item.back_site)]));
    }
    for (const graph::Item& child : body.first(item.entry)) {
        append(parts.again, this->item(child, depth));
    }
    Block block;
    block.through = parts.entered.through && parts.again.through;
    block.sites = parts.entered.sites;
    block.sites.insert(block.sites.end(), parts.again.sites.begin(), parts.again.sites.end());
    block.rows.resize(block.sites.size() * kFirstCuts);
    cutInEntered(parts, block);
    if (parts.entered.through) {
        cutInAgain(parts, block);
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
                sources.push_back(
                    {&options, nullptr, to_end.us, to_end.launches ? megakernels(mode) : 0, 1, 0});
            }
        }
    }
    return options_.merge(sources);
}

} // namespace kerf::search

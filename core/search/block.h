// SPDX-License-Identifier: GPL-3.0-or-later
// The recursion of the search: all ways to cut a part of the chain, by first and last cut. See
// docs/search.md.
#pragma once

#include "core/search/link_costs.h"
#include "core/search/options.h"

#include <span>
#include <vector>

namespace kerf::search {

/// The first cut of a block as what lies in front of it will see it.
enum class FirstCut : std::uint8_t {
    Megakernel,         ///< starts a megakernel
    ConventionalNeeds,  ///< starts a conventional region; superfluous unless a megakernel ends
                        ///< there, and none in the block does
    ConventionalNeeded, ///< starts a conventional region; a megakernel in the block ends there
};
inline constexpr std::size_t kFirstCuts = 3;
inline constexpr std::size_t kModes = 2; ///< of the region that starts at the last cut

/// A part of the chain with every way to cut it.
struct Block {
    std::vector<graph::SiteIndex> sites;
    bool through = true; ///< may be left without a cut
    /// rows[first site × kFirstCuts + FirstCut][last site × kModes + Mode], sites by their position
    /// in `sites`. A row that nothing reaches is empty.
    std::vector<std::vector<Options>> rows;

    [[nodiscard]] const Options& at(std::size_t first, FirstCut state, std::size_t last,
                                    graph::Mode mode) const;
};

/// Builds the blocks of one chain.
class BlockBuilder {
public:
    BlockBuilder(const LinkCosts& costs, const std::vector<SiteUse>& uses,
                 const std::vector<graph::Mode>& modes, OptionSet& options)
        : costs_(costs), uses_(uses), modes_(modes), options_(options) {}

    /// The whole path's best compositions, best first. `cancelled` ends it early with nothing.
    [[nodiscard]] Options path(const graph::Chain& chain, const std::atomic<bool>& cancelled);

private:
    [[nodiscard]] Block site(graph::SiteIndex index, SiteUse use);
    [[nodiscard]] Block item(const graph::Item& item, std::size_t depth);
    [[nodiscard]] Block loop(const graph::Item& item, std::size_t depth);
    void append(Block& block, const Block& next);

    /// Adds `left` followed by the region from its cut to the next block's first cut, if they may
    /// stand beside each other.
    void link(std::vector<PairSource>& sources, const Options& left, Link link,
              graph::SiteIndex from, graph::Mode mode, FirstCut next) const;

    const LinkCosts& costs_;
    const std::vector<SiteUse>& uses_;
    const std::vector<graph::Mode>& modes_;
    OptionSet& options_;
    const std::atomic<bool>* cancelled_ = nullptr;
};

} // namespace kerf::search

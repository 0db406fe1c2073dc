// SPDX-License-Identifier: GPL-3.0-or-later
// The recursion of the search: all ways to cut a part of the chain, by first and last cut. See
// docs/search.md.
#pragma once

#include "core/search/link_costs.h"
#include "core/search/options.h"

#include <array>
#include <atomic>
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

    /// A loop as it is walked: entered · (again · entered)^(count − 1).
    struct Loop {
        Block entered; ///< from the entry to the end
        Block again;   ///< the back site and what lies in front of the entry
        int count = 2;
        std::size_t depth = 1;
    };
    /// By the mode of the region that ends the wrap.
    using Wrap = std::array<Options, kModes>;

    /// Cuts in `entered`, with or without cuts in `again`.
    void cutInEntered(const Loop& parts, Block& block) const;
    /// Cuts in `again` only: count − 1 passes of it.
    void cutInAgain(const Loop& parts, Block& block) const;
    /// Best ways from a last cut in `entered` to each last cut in `again`.
    [[nodiscard]] std::vector<Options> intoAgain(graph::SiteIndex from, graph::Mode mode,
                                                 const Block& again) const;
    /// … and on to the next pass of `first` in `entered`.
    [[nodiscard]] Wrap backTo(graph::SiteIndex first, const std::vector<Options>& into_again,
                              const Block& again) const;

    /// Adds `left` followed by the region from its cut to the next block's first cut, if they may
    /// stand beside each other.
    void link(std::vector<PairSource>& sources, const Options& left, Link link,
              graph::SiteIndex from, graph::Mode mode, FirstCut next) const;

    /// What one more region adds to the count of megakernels.
    [[nodiscard]] std::int32_t megakernels(graph::Mode mode) const {
        return mode == graph::Mode::Megakernel ? options_.oneMegakernel() : 0;
    }

    const LinkCosts& costs_;
    const std::vector<SiteUse>& uses_;
    const std::vector<graph::Mode>& modes_;
    OptionSet& options_;
    const std::atomic<bool>* cancelled_ = nullptr;
};

} // namespace kerf::search

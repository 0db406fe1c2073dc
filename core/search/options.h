// SPDX-License-Identifier: GPL-3.0-or-later
// The best few ways to cut a part of the path, and how two parts' ways combine.
#pragma once

#include "core/graph/composition.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kerf::search {

/// One way to cut a part of the path.
struct Option {
    double us = 0; ///< regions strictly between its first and last cut
    std::int32_t cuts = 0;
    std::int32_t megakernels = 0; ///< distinct megakernel regions; 0 where they are not limited
    std::int32_t node = 0;        ///< names its cuts in the OptionSet that made it
};
/// Best first.
using Options = std::vector<Option>;

/// Pairs of a left and a right option: left_times × left + right_times × right + extra.
struct PairSource {
    const Options* left = nullptr;
    const Options* right = nullptr; ///< null: the left ones alone
    double extra_us = 0;
    std::int32_t extra_megakernels = 0;
    double left_times = 1;
    double right_times = 1;
};

/// Makes options and keeps, of each merge, what some best whole can still need: those that have
/// fewer than `top` better ones with at most as many megakernels. That is exact, because what
/// follows is open to all options of a merge alike. Order: time, fewer cuts, the earlier cut,
/// conventional before megakernel.
class OptionSet {
public:
    /// `most_megakernels` 0: not limited, and not counted.
    OptionSet(std::size_t top, int most_megakernels);

    /// Megakernels that one more megakernel region adds to the count.
    [[nodiscard]] std::int32_t oneMegakernel() const { return limit_ > 0 ? 1 : 0; }
    /// The cut at `site`, or the path's start (kPathStart), alone.
    [[nodiscard]] Option single(graph::SiteIndex site, graph::Mode mode);
    [[nodiscard]] Options merge(std::span<const PairSource> sources);
    [[nodiscard]] graph::Composition composition(const Option& option) const;

private:
    struct Node {
        graph::SiteIndex site = graph::kPathStart;
        graph::Mode mode = graph::Mode::Megakernel;
        std::int32_t left = kNone;
        std::int32_t right = kNone;
    };
    struct Candidate {
        Option sum;
        std::int32_t right_node = kNone;
        std::size_t source = 0;
        std::size_t left_rank = 0;
        std::size_t right_rank = 0;
    };
    using Cuts = std::vector<std::pair<graph::SiteIndex, graph::Mode>>;

    [[nodiscard]] bool before(const Candidate& a, const Candidate& b) const;
    [[nodiscard]] Cuts cutsOf(const Candidate& candidate) const;
    void collect(std::int32_t node, Cuts& cuts) const;
    void push(std::span<const PairSource> sources, std::size_t source, std::size_t left_rank,
              std::size_t right_rank);
    void accept(const Candidate& candidate, Options& best);

    static constexpr std::int32_t kNone = -1;
    std::size_t top_;
    std::int32_t limit_;
    std::vector<Node> nodes_;
    std::vector<Candidate> heap_;
};

} // namespace kerf::search

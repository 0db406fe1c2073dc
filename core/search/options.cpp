// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/options.h"

#include <algorithm>
#include <cmath>

namespace kerf::search {

OptionSet::OptionSet(std::size_t top, int most_megakernels)
    : top_(std::max<std::size_t>(top, 1)), limit_(std::max(most_megakernels, 0)) {}

Option OptionSet::single(graph::SiteIndex site, graph::Mode mode) {
    nodes_.push_back({site, mode, kNone, kNone});
    const auto node = static_cast<std::int32_t>(nodes_.size() - 1);
    return {0, site == graph::kPathStart ? 0 : 1, 0, node};
}

Options OptionSet::merge(std::span<const PairSource> sources) {
    heap_.clear();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        push(sources, i, 0, 0);
    }
    const auto behind = [this](const Candidate& a, const Candidate& b) { return before(b, a); };
    if (limit_ == 0 && heap_.size() > top_) {
        // The best `top` sums lie among the sources with the `top` best heads.
        const auto last = heap_.begin() + static_cast<std::ptrdiff_t>(top_);
        std::nth_element(heap_.begin(), last - 1, heap_.end(),
                         [this](const auto& a, const auto& b) { return before(a, b); });
        heap_.erase(last, heap_.end());
    }
    std::make_heap(heap_.begin(), heap_.end(), behind);

    Options best;
    while (!heap_.empty() && (limit_ > 0 || best.size() < top_)) {
        std::pop_heap(heap_.begin(), heap_.end(), behind);
        const Candidate candidate = heap_.back();
        heap_.pop_back();
        accept(candidate, best); // where it is not: its successors may need fewer megakernels
        // Each pair has one predecessor: along the left list only in the right list's first column.
        for (const bool along_right : {false, true}) {
            if (!along_right && candidate.right_rank > 0) {
                continue;
            }
            const std::size_t size = heap_.size();
            push(sources, candidate.source, candidate.left_rank + (along_right ? 0 : 1),
                 candidate.right_rank + (along_right ? 1 : 0));
            if (heap_.size() > size) {
                std::push_heap(heap_.begin(), heap_.end(), behind);
            }
        }
    }
    return best;
}

graph::Composition OptionSet::composition(const Option& option) const {
    Cuts cuts;
    collect(option.node, cuts);
    graph::Composition result;
    for (const auto& [site, mode] : cuts) {
        if (site == graph::kPathStart) {
            result.first_mode = mode;
        } else {
            result.cuts.emplace(site, mode);
        }
    }
    return result;
}

bool OptionSet::before(const Candidate& a, const Candidate& b) const {
    if (a.sum.us != b.sum.us) {
        return a.sum.us < b.sum.us;
    }
    if (a.sum.cuts != b.sum.cuts) {
        return a.sum.cuts < b.sum.cuts;
    }
    const Cuts left = cutsOf(a);
    const Cuts right = cutsOf(b);
    const auto site = [](const auto& cut) { return cut.first; };
    const auto order = std::lexicographical_compare_three_way(
        left.begin(), left.end(), right.begin(), right.end(),
        [&](const auto& x, const auto& y) { return site(x) <=> site(y); });
    return order != 0 ? order < 0 : left < right;
}

OptionSet::Cuts OptionSet::cutsOf(const Candidate& candidate) const {
    Cuts cuts;
    collect(candidate.sum.node, cuts);
    collect(candidate.right_node, cuts);
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

void OptionSet::collect(std::int32_t node, Cuts& cuts) const {
    while (node != kNone) {
        const Node& joined = nodes_[static_cast<std::size_t>(node)];
        if (joined.left == kNone) {
            cuts.emplace_back(joined.site, joined.mode);
            return;
        }
        collect(joined.right, cuts);
        node = joined.left;
    }
}

void OptionSet::push(std::span<const PairSource> sources, std::size_t source, std::size_t left_rank,
                     std::size_t right_rank) {
    const PairSource& pair = sources[source];
    const std::size_t right_size = pair.right ? pair.right->size() : 1;
    if (left_rank >= pair.left->size() || right_rank >= right_size) {
        return;
    }
    const Option& left = (*pair.left)[left_rank];
    Candidate candidate{left, kNone, source, left_rank, right_rank};
    candidate.sum.us = pair.left_times * left.us + pair.extra_us;
    candidate.sum.megakernels += pair.extra_megakernels;
    if (pair.right) {
        const Option& right = (*pair.right)[right_rank];
        candidate.sum.us += pair.right_times * right.us;
        candidate.sum.cuts += right.cuts;
        candidate.sum.megakernels += right.megakernels;
        candidate.right_node = right.node;
    }
    if (std::isfinite(candidate.sum.us)) {
        heap_.push_back(candidate);
    }
}

void OptionSet::accept(const Candidate& candidate, Options& best) {
    if (limit_ > 0) {
        const auto at_least_as_good = std::count_if(best.begin(), best.end(), [&](const Option& o) {
            return o.megakernels <= candidate.sum.megakernels;
        });
        if (candidate.sum.megakernels > limit_ ||
            static_cast<std::size_t>(at_least_as_good) >= top_) {
            return;
        }
    }
    Option option = candidate.sum;
    if (candidate.right_node != kNone) {
        nodes_.push_back(
            {graph::kPathStart, graph::Mode::Megakernel, option.node, candidate.right_node});
        option.node = static_cast<std::int32_t>(nodes_.size() - 1);
    }
    best.push_back(option);
}

} // namespace kerf::search

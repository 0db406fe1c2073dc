// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/path_tree.h"

#include <algorithm>
#include <span>

namespace kerf::workload {
namespace {

using Steps = std::span<const PathStep>;

// Longest loop body that is searched for, in steps: keeps folding a path of 10,000 steps below a
// second.
constexpr std::size_t kLongestBody = 512;

/// Steps [begin, end) repeat with `period`; the body is the last period, so that every iteration
/// ends whole and only the first may begin in the middle.
struct Loop {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t period = 0;
    [[nodiscard]] std::size_t saved() const { return end - begin - period; } ///< steps less to show
};

/// The loop that saves most steps; of equal ones the shortest body, then the earliest.
Loop bestLoop(Steps steps) {
    Loop best;
    for (std::size_t period = 1; period <= std::min(steps.size(), kLongestBody); ++period) {
        std::size_t begin = 0;
        for (std::size_t i = period; i <= steps.size(); ++i) {
            if (i < steps.size() && steps[i] == steps[i - period]) {
                continue;
            }
            const Loop loop{begin, i, period};
            if (loop.end - loop.begin > period && loop.saved() > best.saved()) {
                best = loop;
            }
            begin = i + 1 - period;
        }
    }
    return best;
}

PathNode leaf(const PathStep& step) {
    PathNode node;
    node.stage = step.stage;
    if (step.repeats == 1) {
        return node;
    }
    PathNode loop;
    loop.count = step.repeats;
    loop.children.push_back(std::move(node));
    return loop;
}

void fold(Steps steps, PathTree& tree) {
    const Loop loop = bestLoop(steps);
    if (loop.period == 0) {
        std::transform(steps.begin(), steps.end(), std::back_inserter(tree), leaf);
        return;
    }
    fold(steps.first(loop.begin), tree);
    const std::size_t length = loop.end - loop.begin;
    const std::size_t count = (length + loop.period - 1) / loop.period;
    const std::size_t entry =
        count * loop.period - length; // in steps; children when none is folded
    PathNode node;
    node.count = static_cast<int>(count);
    const Steps body = steps.subspan(loop.end - loop.period, loop.period);
    if (entry == 0) {
        fold(body, node.children);
    } else {
        // Children before and after the entry are folded apart, so that the entry is a child.
        fold(body.first(entry), node.children);
        node.entry = node.children.size();
        fold(body.subspan(entry), node.children);
    }
    tree.push_back(std::move(node));
    fold(steps.subspan(loop.end), tree);
}

void expandInto(std::span<const PathNode> nodes, std::vector<std::size_t>& stages) {
    for (const PathNode& node : nodes) {
        if (!node.isLoop()) {
            stages.push_back(node.stage);
            continue;
        }
        for (int i = 0; i < node.count; ++i) {
            const std::size_t from = i == 0 ? std::min(node.entry, node.children.size()) : 0;
            expandInto(std::span(node.children).subspan(from), stages);
        }
    }
}

} // namespace

PathTree foldPath(const Path& path) {
    Path merged; // equal neighbours as one step, so that loops inside loops compare equal
    for (const PathStep& step : path) {
        if (step.repeats < 1) {
            continue;
        }
        if (!merged.empty() && merged.back().stage == step.stage) {
            merged.back().repeats += step.repeats;
        } else {
            merged.push_back(step);
        }
    }
    PathTree tree;
    fold(merged, tree);
    return tree;
}

std::vector<std::size_t> expand(const PathTree& tree) {
    std::vector<std::size_t> stages;
    expandInto(tree, stages);
    return stages;
}

std::vector<std::size_t> expand(const Path& path) {
    std::vector<std::size_t> stages;
    for (const PathStep& step : path) {
        stages.insert(stages.end(), static_cast<std::size_t>(std::max(0, step.repeats)),
                      step.stage);
    }
    return stages;
}

} // namespace kerf::workload

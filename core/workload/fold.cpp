// SPDX-License-Identifier: GPL-3.0-or-later
// Layer folding: the repetition inside a stage.
#include "core/workload/workload.h"

#include <algorithm>
#include <map>
#include <optional>

namespace kerf::workload {
namespace {

// Layers that cover less than this share of a stage are a detail, not its structure.
constexpr double kLeastCoverage = 0.25;
// Helper ops of an outer layer that may have another role than in its neighbour.
constexpr double kAlikeLayer = 0.8;

/// A stretch [begin, end) in which every op equals the one a period before it.
struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t period = 0;
    [[nodiscard]] std::size_t covered() const {
        return period == 0 ? 0 : (end - begin) / period * period;
    }
};

std::vector<std::size_t> signaturesOf(const std::vector<Op>& ops) {
    std::map<std::pair<OpRole, std::string_view>, std::size_t> known;
    std::vector<std::size_t> signatures;
    for (const Op& op : ops) {
        const std::string_view kernel =
            op.role == OpRole::Memset ? "" : std::string_view(op.kernel);
        signatures.push_back(known.try_emplace({op.role, kernel}, known.size()).first->second);
    }
    return signatures;
}

bool holdsAnchor(const std::vector<Op>& ops, std::size_t begin, std::size_t end) {
    return std::any_of(ops.begin() + static_cast<std::ptrdiff_t>(begin),
                       ops.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const Op& op) { return isAnchor(op.role); });
}

/// The run that covers most; of equal ones the shortest period. Compares every op with the one a
/// period before it, for every period: n²/2 comparisons, a few ms for a stage of 4,000 ops.
Run longestRun(const std::vector<Op>& ops) {
    const std::vector<std::size_t> signatures = signaturesOf(ops);
    Run best;
    for (std::size_t period = 1; 2 * period <= ops.size(); ++period) {
        std::size_t begin = 0;
        for (std::size_t i = period; i <= ops.size(); ++i) {
            if (i < ops.size() && signatures[i] == signatures[i - period]) {
                continue;
            }
            const Run run{begin, i, period};
            if (run.end - run.begin >= 2 * period && run.covered() > best.covered() &&
                holdsAnchor(ops, run.begin, run.begin + period)) {
                best = run;
            }
            begin = i + 1 - period;
        }
    }
    return best;
}

std::optional<std::size_t> nextOf(const std::vector<Op>& ops, std::size_t from, std::size_t end,
                                  bool (*wanted)(OpRole)) {
    for (std::size_t i = from; i < end; ++i) {
        if (wanted(ops[i].role)) {
            return i;
        }
    }
    return std::nullopt;
}

/// Where in the first period of `run` a layer may begin, best place first: at a norm from which
/// attention comes before the next norm; at any other norm; after a residual add; where the run
/// does.
std::vector<std::size_t> layerBegins(const std::vector<Op>& ops, const Run& run) {
    const auto isNorm = [](OpRole r) { return r == OpRole::Norm; };
    const auto isAttention = [](OpRole r) { return r == OpRole::Attention; };
    std::vector<std::size_t> attentionNorms;
    std::vector<std::size_t> others;
    for (std::size_t i = run.begin; i < run.begin + run.period; ++i) {
        if (isNorm(ops[i].role)) {
            const auto attention = nextOf(ops, i + 1, run.end, isAttention);
            const auto norm = nextOf(ops, i + 1, run.end, isNorm);
            (attention && (!norm || *attention < *norm) ? attentionNorms : others).push_back(i);
        }
    }
    for (std::size_t i = run.begin; i + 1 < run.begin + run.period; ++i) {
        if (ops[i].role == OpRole::Residual) {
            others.push_back(i + 1);
        }
    }
    others.push_back(run.begin);
    attentionNorms.insert(attentionNorms.end(), others.begin(), others.end());
    return attentionNorms;
}

/// Whether the layers at `a` and `b` agree in all anchors and most helper ops.
bool alike(const std::vector<Op>& ops, std::size_t a, std::size_t b, std::size_t period) {
    std::size_t agreeing = 0;
    for (std::size_t i = 0; i < period; ++i) {
        const OpRole left = ops[a + i].role;
        const OpRole right = ops[b + i].role;
        if (left != right && (isAnchor(left) || isAnchor(right))) {
            return false;
        }
        agreeing += left == right ? 1 : 0;
    }
    return static_cast<double>(agreeing) >= kAlikeLayer * static_cast<double>(period);
}

/// The layers of `run` when one begins at `begin`, with those at both ends that are alike: the
/// outer layers may use other kernels (no residual add in the first norm, …).
Fold layersFrom(const std::vector<Op>& ops, const Run& run, std::size_t begin) {
    std::size_t end = begin + (run.end - begin) / run.period * run.period;
    if (end == begin) {
        return {.prefix = ops.size()};
    }
    while (begin >= run.period && alike(ops, begin - run.period, begin, run.period)) {
        begin -= run.period;
    }
    while (end + run.period <= ops.size() && alike(ops, end, end - run.period, run.period)) {
        end += run.period;
    }
    return {.prefix = begin,
            .period = run.period,
            .count = (end - begin) / run.period,
            .suffix = ops.size() - end};
}

} // namespace

Fold findFold(const std::vector<Op>& ops) {
    Fold best{.prefix = ops.size()};
    const Run run = longestRun(ops);
    if (run.period == 0) {
        return best;
    }
    for (const std::size_t begin : layerBegins(ops, run)) {
        const Fold fold = layersFrom(ops, run, begin);
        if (fold.count > best.count) { // a whole layer more outweighs the better place
            best = fold;
        }
    }
    const auto covered = static_cast<double>(best.count * best.period);
    if (best.count < 2 || covered < kLeastCoverage * static_cast<double>(ops.size())) {
        return {.prefix = ops.size()};
    }
    return best;
}

} // namespace kerf::workload

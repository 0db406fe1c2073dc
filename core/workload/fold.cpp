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

/// Where in the first period of `run` a layer begins: at the norm from which attention comes before
/// the next norm; else at the first norm; else after the first residual add; else where the run
/// does.
std::size_t layerBegin(const std::vector<Op>& ops, const Run& run) {
    const auto isNorm = [](OpRole r) { return r == OpRole::Norm; };
    const auto isAttention = [](OpRole r) { return r == OpRole::Attention; };
    const auto isResidual = [](OpRole r) { return r == OpRole::Residual; };
    const std::size_t firstEnd = run.begin + run.period;
    std::optional<std::size_t> firstNorm;
    for (auto norm = nextOf(ops, run.begin, firstEnd, isNorm); norm;
         norm = nextOf(ops, *norm + 1, firstEnd, isNorm)) {
        firstNorm = firstNorm ? firstNorm : norm;
        const auto attention = nextOf(ops, *norm + 1, run.end, isAttention);
        const auto after = nextOf(ops, *norm + 1, run.end, isNorm);
        if (attention && (!after || *attention < *after)) {
            return *norm;
        }
    }
    if (firstNorm) {
        return *firstNorm;
    }
    const auto residual = nextOf(ops, run.begin, firstEnd, isResidual);
    return residual && *residual + 1 < firstEnd ? *residual + 1 : run.begin;
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

} // namespace

Fold findFold(const std::vector<Op>& ops) {
    const Fold unfolded{.prefix = ops.size()};
    const Run run = longestRun(ops);
    if (run.period == 0) {
        return unfolded;
    }
    std::size_t begin = layerBegin(ops, run);
    std::size_t end = begin + (run.end - begin) / run.period * run.period;
    // The outer layers may use other kernels (no residual add in the first norm, …).
    while (begin >= run.period && alike(ops, begin - run.period, begin, run.period)) {
        begin -= run.period;
    }
    while (end + run.period <= ops.size() && alike(ops, end, end - run.period, run.period)) {
        end += run.period;
    }
    const std::size_t count = (end - begin) / run.period;
    const bool covers =
        static_cast<double>(end - begin) >= kLeastCoverage * static_cast<double>(ops.size());
    if (count < 2 || !covers) {
        return unfolded;
    }
    return {.prefix = begin, .period = run.period, .count = count, .suffix = ops.size() - end};
}

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/align.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <span>

namespace kerf::workload {
namespace {

// Points for pairing two ops. An anchor outweighs any plausible number of helpers beside it; the
// same kernel breaks ties. Products and convolutions stand for each other below a true match.
constexpr int kSameAnchor = 100;
constexpr int kSwappedAnchor = 40;
constexpr int kSameHelper = 4;
constexpr int kSameKernel = 1;

// Above this many cells (100 MB) the table of the pairing is not built; see alignOps.
constexpr std::size_t kMostCells = 25'000'000;

int points(const Op& a, const Op& b) {
    const int kernel = a.kernel == b.kernel ? kSameKernel : 0;
    if (a.role == b.role) {
        return (isAnchor(a.role) ? kSameAnchor : kSameHelper) + kernel;
    }
    const auto multiplies = [](OpRole r) {
        return r == OpRole::Product || r == OpRole::Convolution;
    };
    return multiplies(a.role) && multiplies(b.role) ? kSwappedAnchor : 0;
}

/// Rising pairs with most points (Needleman–Wunsch with free gaps).
OpPairs bestPairs(std::span<const Op> a, std::span<const Op> b) {
    const std::size_t width = b.size() + 1;
    std::vector<std::int32_t> best((a.size() + 1) * width, 0); // of the tails from (i, j)
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;) {
            const int pair = points(a[i], b[j]);
            const auto skip = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
            const auto take = pair > 0 ? best[(i + 1) * width + j + 1] + pair : 0;
            best[i * width + j] = std::max(skip, take);
        }
    }
    OpPairs pairs;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const int pair = points(a[i], b[j]);
        const auto here = best[i * width + j];
        if (pair > 0 && here == best[(i + 1) * width + j + 1] + pair) {
            pairs.emplace_back(i++, j++);
        } else if (here == best[(i + 1) * width + j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return pairs;
}

/// For stages too long for the table: walks both and pairs equal keys, as far as they rise.
OpPairs pairsOfKeys(const Stage& a, const Stage& b) {
    std::map<std::pair<std::size_t, std::string>, std::size_t> inB;
    const auto keysOfB = opKeys(b);
    for (std::size_t j = 0; j < keysOfB.size(); ++j) {
        inB.emplace(std::pair(foldPosition(b.fold, j).layer, keysOfB[j]), j);
    }
    OpPairs pairs;
    const auto keysOfA = opKeys(a);
    for (std::size_t i = 0; i < keysOfA.size(); ++i) {
        const auto match = inB.find({foldPosition(a.fold, i).layer, keysOfA[i]});
        if (match != inB.end() && (pairs.empty() || match->second > pairs.back().second)) {
            pairs.emplace_back(i, match->second);
        }
    }
    return pairs;
}

void append(OpPairs& pairs, const OpPairs& more, std::size_t offsetA, std::size_t offsetB) {
    for (const auto& [i, j] : more) {
        pairs.emplace_back(offsetA + i, offsetB + j);
    }
}

std::string_view nameOf(Section section) {
    constexpr std::array<std::string_view, 3> kNames{"prefix", "layer", "suffix"};
    return kNames[static_cast<std::size_t>(section)];
}

} // namespace

FoldPosition foldPosition(const Fold& fold, std::size_t op) {
    if (fold.count == 0 || op < fold.prefix) {
        return {.section = Section::Prefix, .offset = op};
    }
    const std::size_t inLayers = op - fold.prefix;
    if (inLayers < fold.count * fold.period) {
        return {Section::Layer, inLayers / fold.period, inLayers % fold.period};
    }
    return {.section = Section::Suffix, .offset = inLayers - fold.count * fold.period};
}

std::vector<std::string> opKeys(const Stage& stage) {
    std::vector<std::string> keys;
    std::map<OpRole, int> anchors;
    std::map<OpRole, int> helpers;
    std::string anchor;
    for (std::size_t i = 0; i < stage.ops.size(); ++i) {
        const FoldPosition position = foldPosition(stage.fold, i);
        const OpRole role = stage.ops[i].role;
        if (position.offset == 0) {
            anchors.clear();
            helpers.clear();
            anchor.clear();
        }
        if (isAnchor(role)) {
            helpers.clear();
            anchor = fmt::format("{}.{}", toString(role), ++anchors[role]);
            keys.push_back(fmt::format("{}/{}", nameOf(position.section), anchor));
        } else {
            keys.push_back(fmt::format("{}/{}+{}.{}", nameOf(position.section), anchor,
                                       toString(role), ++helpers[role]));
        }
    }
    return keys;
}

OpPairs alignOps(const Stage& a, const Stage& b) {
    const std::span<const Op> opsA(a.ops);
    const std::span<const Op> opsB(b.ops);
    if (a.fold.count == 0 || a.fold.count != b.fold.count) {
        return opsA.size() * opsB.size() <= kMostCells ? bestPairs(opsA, opsB) : pairsOfKeys(a, b);
    }
    const auto largest = [](const Fold& f) { return std::max({f.prefix, f.period, f.suffix}); };
    if (largest(a.fold) * largest(b.fold) > kMostCells) {
        return pairsOfKeys(a, b);
    }
    OpPairs pairs = bestPairs(opsA.first(a.fold.prefix), opsB.first(b.fold.prefix));
    // The second layer stands for all: the first may use other kernels.
    const std::size_t typical = std::min<std::size_t>(1, a.fold.count - 1);
    const OpPairs layer =
        bestPairs(opsA.subspan(a.fold.prefix + typical * a.fold.period, a.fold.period),
                  opsB.subspan(b.fold.prefix + typical * b.fold.period, b.fold.period));
    for (std::size_t k = 0; k < a.fold.count; ++k) {
        append(pairs, layer, a.fold.prefix + k * a.fold.period, b.fold.prefix + k * b.fold.period);
    }
    append(pairs, bestPairs(opsA.last(a.fold.suffix), opsB.last(b.fold.suffix)),
           opsA.size() - a.fold.suffix, opsB.size() - b.fold.suffix);
    return pairs;
}

} // namespace kerf::workload

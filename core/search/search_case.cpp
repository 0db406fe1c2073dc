// SPDX-License-Identifier: GPL-3.0-or-later
// The search of one case: best pure and mixed compositions beside the two that need no search.
#include "core/search/predictor.h"
#include "core/search/programmatic.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kerf::search {

namespace {

constexpr int kReplicas = 200;
constexpr int kFewMegakernels = 8;

/// Regions in path order, runs shortened: "M×13 c M".
std::string regionLetters(const Prediction& prediction) {
    std::string letters;
    const auto& regions = prediction.regions;
    for (std::size_t i = 0; i < regions.size();) {
        std::size_t end = i;
        while (end < regions.size() && regions[end].use.mode == regions[i].use.mode) {
            ++end;
        }
        const std::string letter = regions[i].use.mode == graph::Mode::Megakernel ? "M" : "c";
        letters += letters.empty() ? "" : " ";
        letters += end - i > 1 ? fmt::format("{}×{}", letter, end - i) : letter;
        i = end;
    }
    return letters;
}

std::ptrdiff_t megakernelsOf(const Candidate& candidate) {
    const auto& regions = candidate.prediction.regions;
    return std::count_if(regions.begin(), regions.end(), [](const auto& region) {
        return region.use.mode == graph::Mode::Megakernel;
    });
}

/// Candidates closer than this to a better one of the same kind say nothing new.
constexpr double kDistinct = 0.001;
/// … unless they need at most this many quarters of its megakernels.
constexpr std::ptrdiff_t kClearlyFewer = 3;

/// At most `top` of a kind, best first: those that are clearly apart from the better ones of their
/// kind, or need fewer megakernels.
void keepDistinct(std::vector<Candidate>& candidates, std::size_t top) {
    std::vector<Candidate> kept;
    for (auto& candidate : candidates) {
        const auto megakernels = megakernelsOf(candidate);
        std::size_t sameKind = 0;
        bool distinct = true;
        for (const auto& other : kept) {
            if (other.prediction.kind == candidate.prediction.kind) {
                ++sameKind;
                const double apart = candidate.prediction.ttfa_us / other.prediction.ttfa_us - 1;
                const auto others = megakernelsOf(other);
                distinct =
                    distinct && (apart > kDistinct || 4 * megakernels <= kClearlyFewer * others);
            }
        }
        if (sameKind == 0 || (distinct && sameKind < top)) {
            kept.push_back(std::move(candidate));
        }
    }
    candidates = std::move(kept);
}

} // namespace

Expected<SearchResult> searchCase(Predictor& predictor, const Constraints& constraints,
                                  std::size_t top, Progress& progress) {
    const auto begin = std::chrono::steady_clock::now();
    const auto& theCase = predictor.theCase();
    auto regions = usableRegions(theCase.chain, constraints);
    if (!regions) {
        return tl::unexpected(regions.error());
    }
    predictor.prepare(*regions, progress);
    const RegionCost cost = [&](graph::Region region, graph::Mode mode) {
        return predictor.regionCostUs(region, mode);
    };

    std::vector<graph::Composition> compositions{graph::fullyConventional(), graph::monolith()};
    const auto add = [&](const Expected<std::vector<Scored>>& best) -> Expected<void> {
        if (!best) {
            return tl::unexpected(best.error());
        }
        for (const auto& scored : *best) {
            if (std::find(compositions.begin(), compositions.end(), scored.composition) ==
                compositions.end()) {
                compositions.push_back(scored.composition);
            }
        }
        return {};
    };
    for (const bool mixed : {false, true}) {
        if (mixed && !constraints.allow_mixed) {
            continue;
        }
        auto own = constraints;
        own.allow_mixed = mixed;
        if (auto ok = add(bestCompositions(theCase.chain, cost, own, top, progress)); !ok) {
            return tl::unexpected(ok.error());
        }
        // Beside the best of all: the best with few megakernels, which are cheaper to write.
        if (own.max_megakernels == 0 || own.max_megakernels > kFewMegakernels) {
            own.max_megakernels = kFewMegakernels;
        }
        if (auto ok = add(bestByMegakernels(theCase.chain, cost, own, progress)); !ok) {
            return tl::unexpected(ok.error());
        }
    }

    SearchResult result;
    result.model = theCase.corrected.model;
    result.batch = theCase.corrected.batch;
    for (std::size_t i = 0; i < compositions.size(); ++i) {
        auto prediction = predictor.predict(compositions[i], kReplicas);
        if (prediction) { // a monolith that does not fit the GPU is left out
            Candidate candidate;
            candidate.regions = regionLetters(*prediction);
            candidate.prediction = std::move(*prediction);
            result.candidates.push_back(std::move(candidate));
        }
        if (!progress.step(static_cast<double>(i) / static_cast<double>(compositions.size()),
                           "predicting candidates")) {
            return fail("the search was cancelled");
        }
    }
    std::stable_sort(result.candidates.begin(), result.candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                         return a.prediction.ttfa_us < b.prediction.ttfa_us;
                     });
    keepDistinct(result.candidates, top);

    std::vector<TimeParts> parts;
    for (const auto& candidate : result.candidates) {
        parts.push_back(candidate.prediction.parts);
    }
    const auto uncertain = quantify(parts, theCase.errors, kReplicas, kReplicaSeed);
    const double residual = theCase.replay.hasMeasurement()
                                ? std::abs(theCase.replay.correctedError())
                                : kUnknownReplayResidual;
    for (std::size_t i = 0; i < result.candidates.size(); ++i) {
        result.candidates[i].uncertain = uncertain[i];
        result.candidates[i].ties_best =
            i == 0 ||
            compare(parts[i], parts[0], theCase.errors, residual, kReplicas, kReplicaSeed).tie;
    }
    result.conventional_programmatic_us = conventionalProgrammatic(theCase).us;
    result.regions_evaluated = regions->size();
    result.cache = predictor.cacheStats();
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

} // namespace kerf::search

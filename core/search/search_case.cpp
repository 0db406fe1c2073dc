// SPDX-License-Identifier: GPL-3.0-or-later
// The search of one case: best pure and mixed compositions beside the two that need no search.
#include "core/search/predictor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kerf::search {

namespace {

constexpr int kReplicas = 200;

std::string regionLetters(const Prediction& prediction) {
    std::string letters;
    for (const auto& region : prediction.regions) {
        letters += letters.empty() ? "" : " ";
        letters += region.use.mode == graph::Mode::Megakernel ? 'M' : 'c';
    }
    return letters;
}

/// The first candidate of each kind is always kept; others up to `top`.
void shorten(std::vector<Candidate>& candidates, std::size_t top) {
    std::vector<Candidate> kept;
    std::array<bool, 4> seen{};
    std::size_t others = 0;
    for (auto& candidate : candidates) {
        auto& known = seen[static_cast<std::size_t>(candidate.prediction.kind)];
        if (!known || others < top) {
            others += known ? 1 : 0;
            known = true;
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
    const RegionCost cost = [&](graph::Region region, graph::Mode mode) {
        return predictor.regionCostUs(region, mode);
    };

    std::vector<graph::Composition> compositions{graph::fullyConventional(), graph::monolith()};
    const auto add = [&](bool mixed) -> Expected<void> {
        auto own = constraints;
        own.allow_mixed = mixed;
        const auto best = bestCompositions(theCase.chain, cost, own, top, progress);
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
    if (auto pure = add(false); !pure) {
        return tl::unexpected(pure.error());
    }
    if (constraints.allow_mixed) {
        if (auto mixed = add(true); !mixed) {
            return tl::unexpected(mixed.error());
        }
    }

    SearchResult result;
    result.model = theCase.corrected.model;
    result.batch = theCase.corrected.batch;
    for (const auto& composition : compositions) {
        auto prediction = predictor.predict(composition, kReplicas);
        if (prediction) { // a monolith that does not fit the GPU is left out
            Candidate candidate;
            candidate.regions = regionLetters(*prediction);
            candidate.prediction = std::move(*prediction);
            result.candidates.push_back(std::move(candidate));
        }
        if (!progress.step(1, "predicting candidates")) {
            return fail("the search was cancelled");
        }
    }
    std::stable_sort(result.candidates.begin(), result.candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                         return a.prediction.ttfa_us < b.prediction.ttfa_us;
                     });
    shorten(result.candidates, top);

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
    result.regions_evaluated = predictor.cacheStats().misses;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

} // namespace kerf::search

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/categories.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace kerf::search {
namespace {

/// One candidate a batch size, by index.
using Choice = std::vector<std::size_t>;

bool counts(const BatchCandidates& batch, std::size_t candidate) {
    return candidate == 0 || batch.candidates[candidate].ties_best;
}

bool sameCuts(const graph::NamedComposition& a, const graph::NamedComposition& b) {
    return a.first_mode == b.first_mode && a.cuts == b.cuts;
}

/// The best counting candidate at each batch size for which `wanted` holds.
template <class Wanted>
std::optional<Choice> choose(const std::vector<BatchCandidates>& batches, Wanted wanted) {
    Choice choice;
    for (const BatchCandidates& batch : batches) {
        std::size_t i = 0;
        while (i < batch.candidates.size() && !(counts(batch, i) && wanted(batch.candidates[i]))) {
            ++i;
        }
        if (i == batch.candidates.size()) {
            return std::nullopt;
        }
        choice.push_back(i);
    }
    return choice;
}

std::optional<Choice> chooseAverse(const std::vector<BatchCandidates>& batches) {
    return choose(batches, [](const CategoryCandidate& candidate) {
        return candidate.kind == graph::Kind::Conventional;
    });
}

std::optional<Choice> chooseStable(const std::vector<BatchCandidates>& batches) {
    for (std::size_t i = 0; i < batches.front().candidates.size(); ++i) {
        const CategoryCandidate& common = batches.front().candidates[i];
        if (!counts(batches.front(), i) || common.kind == graph::Kind::Conventional) {
            continue;
        }
        if (auto choice = choose(batches, [&](const CategoryCandidate& candidate) {
                return sameCuts(candidate.composition, common.composition);
            })) {
            return choice;
        }
    }
    return std::nullopt;
}

/// A choice whose coverage never grows (`direction` −1; +1: never shrinks) and changes somewhere;
/// of several, the one of the best ranks in total.
std::optional<Choice> chooseMonotone(const std::vector<BatchCandidates>& batches, int direction) {
    struct Way {
        Choice choice;
        std::size_t ranks = 0;
    };
    // ways[candidate][whether coverage has changed], for the batch sizes so far
    using Ways = std::vector<std::array<std::optional<Way>, 2>>;
    Ways ways;
    for (std::size_t b = 0; b < batches.size(); ++b) {
        const auto& candidates = batches[b].candidates;
        Ways next(candidates.size());
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (!counts(batches[b], i)) {
                continue;
            }
            if (b == 0) {
                next[i][0] = Way{{i}, i};
                continue;
            }
            for (std::size_t before = 0; before < ways.size(); ++before) {
                const double change = direction * (candidates[i].coverage -
                                                   batches[b - 1].candidates[before].coverage);
                if (change < -kCoverageNoise) {
                    continue;
                }
                for (std::size_t changed = 0; changed < 2; ++changed) {
                    const auto& way = ways[before][changed];
                    auto& best = next[i][changed == 1 || change > kCoverageNoise ? 1 : 0];
                    if (way && (!best || way->ranks + i < best->ranks)) {
                        best = Way{way->choice, way->ranks + i};
                        best->choice.push_back(i);
                    }
                }
            }
        }
        ways = std::move(next);
    }
    std::optional<Way> best;
    for (const auto& [unchanged, changed] : ways) {
        if (changed && (!best || changed->ranks < best->ranks)) {
            best = changed;
        }
    }
    return best ? std::optional(best->choice) : std::nullopt;
}

std::string_view reason(Category category) {
    switch (category) {
    case Category::Averse:
        return "fully conventional is best or ties with the best at every batch size";
    case Category::Stable:
        return "one composition is best or ties with the best at every batch size";
    case Category::Receding:
        return "megakernel coverage never grows with batch size and shrinks somewhere";
    case Category::Advancing:
        return "megakernel coverage never shrinks with batch size and grows somewhere";
    case Category::Mixed:
        break;
    }
    return "no single composition, and no one direction of coverage, fits every batch size";
}

CategoryResult result(const std::vector<BatchCandidates>& batches, Category category,
                      Choice choice) {
    CategoryResult result;
    result.category = category;
    std::string coverages;
    for (std::size_t b = 0; b < batches.size(); ++b) {
        const CategoryCandidate& candidate = batches[b].candidates[choice[b]];
        result.coverages.push_back(candidate.coverage);
        coverages += fmt::format("{}{:.0f} % at batch {}", b == 0 ? "" : ", ",
                                 100 * candidate.coverage, batches[b].batch);
    }
    result.evidence = fmt::format("Coverage {}: {}.", coverages, reason(category));
    result.chosen = std::move(choice);
    return result;
}

} // namespace

std::string_view toString(Category category) {
    switch (category) {
    case Category::Stable:
        return "stable";
    case Category::Receding:
        return "receding";
    case Category::Advancing:
        return "advancing";
    case Category::Averse:
        return "averse";
    case Category::Mixed:
        return "mixed";
    }
    return "unknown";
}

CategoryResult categorise(const std::vector<BatchCandidates>& batches) {
    if (batches.empty()) {
        return {Category::Mixed, "No batch size has been searched.", {}, {}};
    }
    for (const BatchCandidates& batch : batches) {
        if (batch.candidates.empty()) {
            return {Category::Mixed, fmt::format("No candidate at batch {}.", batch.batch), {}, {}};
        }
    }
    if (auto choice = chooseAverse(batches)) {
        return result(batches, Category::Averse, std::move(*choice));
    }
    if (auto choice = chooseStable(batches)) {
        return result(batches, Category::Stable, std::move(*choice));
    }
    if (auto choice = chooseMonotone(batches, -1)) {
        return result(batches, Category::Receding, std::move(*choice));
    }
    if (auto choice = chooseMonotone(batches, +1)) {
        return result(batches, Category::Advancing, std::move(*choice));
    }
    return result(batches, Category::Mixed, Choice(batches.size(), 0));
}

} // namespace kerf::search

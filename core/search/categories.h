// SPDX-License-Identifier: GPL-3.0-or-later
// stable, receding, advancing, averse or mixed: how the best composition moves with batch size.
#pragma once

#include "core/graph/composition.h"
#include "core/search/uncertainty.h"

#include <string>
#include <vector>

namespace kerf::search {

enum class Category : std::uint8_t { Stable, Receding, Advancing, Averse, Mixed };
[[nodiscard]] std::string_view toString(Category category);

/// A candidate at one batch size, as the category needs it.
struct CategoryCandidate {
    graph::NamedComposition composition;
    graph::Kind kind = graph::Kind::Conventional;
    double coverage = 0; ///< share of the conventional path's time inside megakernel regions, 0…1
    double ttfa_us = 0;
    bool ties_best = false; ///< cannot be told from the best at this batch size
};

struct BatchCandidates {
    int batch = 1;
    std::vector<CategoryCandidate> candidates; ///< best first
};

struct CategoryResult {
    Category category = Category::Mixed;
    std::string evidence;            ///< one sentence with the coverages that decided
    std::vector<double> coverages;   ///< of the composition counted at each batch size
    std::vector<std::size_t> chosen; ///< candidate counted at each batch size (index)
};

/// Changes of coverage from one batch size to the next below this count as none: the same cuts
/// cover a slightly different share of the time at each batch size. A choice of ours, not a
/// measured figure.
inline constexpr double kCoverageNoise = 0.01;

/// How the best composition moves with batch size. averse: fully conventional at every batch size.
/// stable: one composition with megakernels at every batch size. receding: coverage never grows and
/// shrinks somewhere; advancing: the reverse. Anything else is mixed. Candidates that tie with the
/// best count as equal: of all ways to pick one tying candidate a batch size the simplest category
/// is reported, in the order averse, stable, receding, advancing; mixed only when no choice gives
/// one of them. Batches ascending; the first candidate of each counts as tying. Without candidates:
/// mixed, and why.
[[nodiscard]] CategoryResult categorise(const std::vector<BatchCandidates>& batches);

} // namespace kerf::search

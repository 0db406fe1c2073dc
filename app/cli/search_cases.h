// SPDX-License-Identifier: GPL-3.0-or-later
// The search over several recordings, as the verbs search, categories and report share it.
#pragma once

#include "app/cli/selection.h"
#include "core/search/predictor.h"

namespace kerf::cli {

struct SearchOptions {
    std::size_t top = 12; ///< compositions kept of pure and of mixed
    bool no_mixed = false;
};
void addSearchOptions(CLI::App& verb, SearchOptions& options);

/// One result a case, in order. Errors: as search::searchCase (names model and batch).
[[nodiscard]] Expected<std::vector<search::SearchResult>>
searchCases(const Cases& cases, const SearchOptions& options, Progress& progress);

/// A model's cases and results, batches ascending.
struct ModelResults {
    std::string model;
    std::vector<std::size_t> cases; ///< indices into the cases and results
    search::CategoryResult category;
};
[[nodiscard]] std::vector<ModelResults>
categoriesOf(const Cases& cases, const std::vector<search::SearchResult>& results);

} // namespace kerf::cli

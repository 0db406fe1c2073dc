// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/search_cases.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace kerf::cli {

void addSearchOptions(CLI::App& verb, SearchOptions& options) {
    verb.add_option("--top", options.top, "Compositions kept of pure and of mixed")
        ->type_name("K")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    verb.add_flag("--no-mixed", options.no_mixed,
                  "No composition with both megakernel and conventional regions");
}

Expected<std::vector<search::SearchResult>>
searchCases(const Cases& cases, const SearchOptions& options, Progress& progress) {
    search::Constraints constraints;
    constraints.allow_mixed = !options.no_mixed;
    std::vector<search::SearchResult> results;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& workload = cases[i]->traced;
        const std::string name = fmt::format("{} batch {}", workload.model, workload.batch);
        const auto of = static_cast<double>(cases.size());
        if (!progress.step(static_cast<double>(i) / of, name)) {
            return fail("cancelled");
        }
        Progress part;
        part.report = [&](double fraction, std::string_view what) {
            if (!progress.step((static_cast<double>(i) + fraction) / of,
                               fmt::format("{}: {}", name, what))) {
                part.cancelled.store(true);
            }
        };
        search::Predictor predictor(cases[i]);
        auto result = search::searchCase(predictor, constraints, options.top, part);
        if (!result) {
            Error error = result.error();
            error.where = error.where.empty() ? name : name + ", " + error.where;
            return tl::unexpected(std::move(error));
        }
        results.push_back(std::move(*result));
    }
    return results;
}

std::vector<ModelResults> categoriesOf(const Cases& cases,
                                       const std::vector<search::SearchResult>& results) {
    std::vector<ModelResults> models;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto known = std::find_if(models.begin(), models.end(),
                                        [&](const auto& m) { return m.model == results[i].model; });
        auto& model = known != models.end() ? *known : models.emplace_back();
        model.model = results[i].model;
        model.cases.push_back(i);
    }
    for (auto& model : models) {
        std::sort(model.cases.begin(), model.cases.end(),
                  [&](auto a, auto b) { return results[a].batch < results[b].batch; });
        std::vector<search::BatchCandidates> batches;
        for (const std::size_t i : model.cases) {
            auto& batch = batches.emplace_back();
            batch.batch = results[i].batch;
            for (const auto& candidate : results[i].candidates) {
                const auto& p = candidate.prediction;
                batch.candidates.push_back({graph::named(cases[i]->chain, p.composition), p.kind,
                                            p.coverage, p.ttfa_us, candidate.ties_best});
            }
        }
        model.category = search::categorise(batches);
    }
    return models;
}

} // namespace kerf::cli

// SPDX-License-Identifier: GPL-3.0-or-later
// kerf categories: how each model's best composition moves with the batch size.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/result_json.h"
#include "app/cli/search_cases.h"
#include "app/cli/verb.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

struct Options {
    Selection selection;
    SearchOptions search;
    Format format = Format::Table;
};

std::string batchesOf(const ModelResults& model, const std::vector<search::SearchResult>& results) {
    std::string list;
    for (const std::size_t i : model.cases) {
        list += fmt::format("{}{}", list.empty() ? "" : " ", results[i].batch);
    }
    return list;
}

Table tableOf(const std::vector<ModelResults>& models,
              const std::vector<search::SearchResult>& results) {
    Table table{{{"model", "model", false},
                 {"category", "category", false},
                 {"batch sizes", "batches", false},
                 {"evidence", "evidence", false}},
                {}};
    for (const auto& model : models) {
        table.rows.push_back({text(model.model),
                              text(std::string(toString(model.category.category))),
                              text(batchesOf(model, results)), text(model.category.evidence)});
    }
    return table;
}

Json jsonOf(const std::vector<ModelResults>& models,
            const std::vector<search::SearchResult>& results) {
    Json rows = Json::array();
    for (const auto& model : models) {
        Json batches = Json::array();
        for (std::size_t b = 0; b < model.cases.size(); ++b) {
            const auto& result = results[model.cases[b]];
            const auto& counted = result.candidates[model.category.chosen[b]];
            const auto& best = result.candidates.front();
            batches.push_back({{"batch", result.batch},
                               {"coverage", model.category.coverages[b]},
                               {"counted_kind", toString(counted.prediction.kind)},
                               {"counted_regions", counted.regions},
                               {"best_kind", toString(best.prediction.kind)},
                               {"best_regions", best.regions},
                               {"best_ttfa_us", best.prediction.ttfa_us}});
        }
        rows.push_back({{"model", model.model},
                        {"category", toString(model.category.category)},
                        {"evidence", model.category.evidence},
                        {"batches", std::move(batches)}});
    }
    return rows;
}

int run(const Options& options, Progress& progress) {
    const auto loaded = load(options.selection, progress);
    if (!loaded) {
        return explain(loaded.error(), kBadInput, progress);
    }
    const auto results = searchCases(loaded->cases, options.search, progress);
    if (!results) {
        return explain(results.error(), kFailed, progress);
    }
    const auto models = categoriesOf(loaded->cases, *results);
    if (options.format == Format::Json) {
        return print(jsonOf(models, *results));
    }
    return print(tableOf(models, *results), options.format);
}

} // namespace

void addCategories(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb =
        app.add_subcommand("categories", "Tell how the best composition moves with batch size");
    addSelection(*verb, options->selection);
    addPolicy(*verb, options->selection);
    addSearchOptions(*verb, options->search);
    addFormatOptions(*verb, options->format);
    verb->footer(
        std::string("stable, receding, advancing, averse, or mixed where none of them fits.\n") +
        kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

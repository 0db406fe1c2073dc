// SPDX-License-Identifier: GPL-3.0-or-later
// kerf search: the best compositions of each recording.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/result_json.h"
#include "app/cli/search_cases.h"
#include "app/cli/verb.h"
#include "app/cli/what_if_output.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

struct Options {
    Selection selection;
    SearchOptions search;
    Format format = Format::Table;
};

Table tableOf(const std::vector<search::SearchResult>& results) {
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"rank", "rank", true},
                 {"kind", "kind", false},
                 {"TTFA ms", "ttfa_us", true},
                 {"5 % ms", "interval_low_us", true},
                 {"95 % ms", "interval_high_us", true},
                 {"p95 ms", "batch_p95_us", true},
                 {"P best", "p_best", true},
                 {"coverage %", "coverage", true},
                 {"launches", "launches", true},
                 {"outputs/s", "throughput_per_s", true},
                 {"RTF", "rtf", true},
                 {"tie", "ties_best", false},
                 {"regions", "regions", false}},
                {}};
    for (const auto& result : results) {
        long long rank = 0;
        for (const auto& candidate : result.candidates) {
            const auto& p = candidate.prediction;
            const auto& interval = candidate.uncertain.interval_us;
            table.rows.push_back(
                {text(result.model), integer(result.batch), integer(++rank),
                 text(std::string(toString(p.kind))), number(p.ttfa_us, 3, 1e-3),
                 number(interval.low, 3, 1e-3), number(interval.high, 3, 1e-3),
                 number(p.streaming.batch_p95_us, 3, 1e-3), number(candidate.uncertain.p_best, 2),
                 number(p.coverage, 0, 100), integer(p.launches), number(p.throughput_per_s, 1),
                 p.rtf > 0 ? number(p.rtf, 3) : missing(),
                 Cell{candidate.ties_best ? "tie" : "", candidate.ties_best ? "1" : "0"},
                 text(candidate.regions)});
        }
    }
    return table;
}

std::string summaryOf(const Cases& cases, const std::vector<search::SearchResult>& results) {
    std::string lines = "TTFA: request to first output of the whole batch, estimated; no candidate "
                        "has been run. c: conventional region, M: megakernel.\n";
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto& result = results[i];
        lines += programmaticLine(*cases[i], search::conventionalProgrammatic(*cases[i]));
        lines +=
            fmt::format("{} batch {}: {} regions evaluated in {:.2f} s; region cache: {:.1f} % "
                        "hits, {} of {} entries\n",
                        result.model, result.batch, result.regions_evaluated, result.seconds,
                        100 * result.cache.hitRate(), result.cache.entries, result.cache.capacity);
    }
    return lines;
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
    if (options.format != Format::Json) {
        return print(tableOf(*results), options.format, summaryOf(loaded->cases, *results));
    }
    Json json = Json::array();
    for (std::size_t i = 0; i < results->size(); ++i) {
        json.push_back(toJson(*loaded->cases[i], (*results)[i]));
    }
    return print(json);
}

} // namespace

void addSearch(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("search", "Find the best compositions of each recording");
    addSelection(*verb, options->selection);
    addPolicy(*verb, options->selection);
    addSearchOptions(*verb, options->search);
    addFormatOptions(*verb, options->format);
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

// SPDX-License-Identifier: GPL-3.0-or-later
// kerf predict: the predicted time of one composition.
#include "app/cli/composition_argument.h"
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/result_json.h"
#include "app/cli/selection.h"
#include "app/cli/verb.h"
#include "app/cli/what_if_output.h"
#include "core/search/programmatic.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

struct Options {
    Selection selection;
    std::vector<std::string> cuts;
    std::string composition;
    bool what_if = false;
    Format format = Format::Table;
};

struct Row {
    std::shared_ptr<const search::Case> theCase;
    search::Prediction prediction;
    double conventional_us = 0;
    double monolith_us = 0;
    search::ProgrammaticBaseline programmatic;
    std::optional<NamedWhatIf> what_if;
};

/// What was asked for; else what the project has as current; else the monolith.
Expected<graph::Composition> wanted(const Options& options, const project::Project& project,
                                    const search::Case& theCase) {
    if (!options.cuts.empty()) {
        return compositionOfCuts(theCase, options.cuts);
    }
    if (!options.composition.empty()) {
        return compositionOfName(project, theCase, options.composition);
    }
    const auto settings = project.models.find(theCase.traced.model);
    if (settings != project.models.end() && !settings->second.compositions.empty()) {
        return graph::resolved(theCase.chain, settings->second.compositions.front());
    }
    return graph::monolith();
}

Expected<Row> predictOne(const std::shared_ptr<const search::Case>& theCase,
                         graph::Composition composition) {
    search::Predictor predictor(theCase);
    auto asked = predictor.predict(composition);
    if (!asked) {
        return tl::unexpected(asked.error());
    }
    const auto conventional = predictor.predict(graph::fullyConventional(), 0);
    const auto monolith = predictor.predict(graph::monolith(), 0);
    const double unknown = std::numeric_limits<double>::quiet_NaN(); // a monolith need not fit
    return Row{theCase,
               std::move(*asked),
               conventional ? conventional->ttfa_us : unknown,
               monolith ? monolith->ttfa_us : unknown,
               search::conventionalProgrammatic(*theCase),
               {}};
}

Table tableOf(const std::vector<Row>& rows) {
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"kind", "kind", false},
                 {"TTFA ms", "ttfa_us", true},
                 {"5 % ms", "interval_low_us", true},
                 {"95 % ms", "interval_high_us", true},
                 {"p95 ms", "batch_p95_us", true},
                 {"vs conventional %", "vs_conventional_percent", true},
                 {"vs monolith %", "vs_monolith_percent", true},
                 {"coverage %", "coverage", true},
                 {"launches", "launches", true},
                 {"outputs/s", "throughput_per_s", true},
                 {"gap ms", "inter_chunk_us", true},
                 {"RTF", "rtf", true},
                 {"stalls at", "stalls_at_chunk", true}},
                {}};
    for (const auto& row : rows) {
        const auto& p = row.prediction;
        table.rows.push_back(
            {text(row.theCase->traced.model), integer(row.theCase->traced.batch),
             text(std::string(toString(p.kind))), number(p.ttfa_us, 3, 1e-3),
             number(p.ttfa_interval_us.low, 3, 1e-3), number(p.ttfa_interval_us.high, 3, 1e-3),
             number(p.streaming.batch_p95_us, 3, 1e-3),
             percent(p.ttfa_us / row.conventional_us - 1), percent(p.ttfa_us / row.monolith_us - 1),
             number(p.coverage, 0, 100), integer(p.launches), number(p.throughput_per_s, 1),
             number(p.streaming.inter_chunk_us, 3, 1e-3), p.rtf > 0 ? number(p.rtf, 3) : missing(),
             p.streaming.playback.stalls_at_chunk > 0
                 ? integer(p.streaming.playback.stalls_at_chunk)
                 : missing()});
    }
    return table;
}

Json jsonOf(const std::vector<Row>& rows) {
    Json json = Json::array();
    for (const auto& row : rows) {
        Json one{{"model", row.theCase->traced.model}, {"batch", row.theCase->traced.batch}};
        one.update(toJson(*row.theCase, row.prediction));
        one["conventional_us"] = row.conventional_us;
        one["monolith_us"] = row.monolith_us; // NaN is written as null
        one["conventional_programmatic_us"] = row.programmatic.us;
        if (row.what_if) {
            one["what_if"] = toJson(*row.what_if);
        }
        json.push_back(std::move(one));
    }
    return json;
}

int printAll(const std::vector<Row>& rows, const Options& options) {
    if (options.format == Format::Json) {
        return print(jsonOf(rows));
    }
    Table whatIfs = whatIfTable();
    std::string after =
        "p95: over the requests of one batch. gap: between two outputs of a request in steady "
        "state. RTF: compute time / audio time. stalls at: the first chunk that comes too late.\n";
    for (const auto& row : rows) {
        after += programmaticLine(*row.theCase, row.programmatic);
        if (row.what_if) {
            addRows(whatIfs, *row.theCase, *row.what_if);
        }
    }
    if (!options.what_if) {
        return print(tableOf(rows), options.format, after);
    }
    if (options.format == Format::Csv) {
        return print(whatIfs, options.format);
    }
    return print(tableOf(rows), options.format, after + "\n" + toText(whatIfs) + kWhatIfNote);
}

int run(const Options& options, Progress& progress) {
    const auto loaded = load(options.selection, progress);
    if (!loaded) {
        return explain(loaded.error(), kBadInput, progress);
    }
    std::vector<Row> rows;
    for (const auto& theCase : loaded->cases) {
        if (!progress.step(static_cast<double>(rows.size()) /
                               static_cast<double>(loaded->cases.size()),
                           "predicting")) {
            return explain(Error{"cancelled", {}, {}}, kCancelled, progress);
        }
        const auto composition = wanted(options, loaded->project, *theCase);
        if (!composition) {
            return explain(composition.error(), kBadInput, progress);
        }
        auto row = predictOne(theCase, *composition);
        if (!row) {
            return explain(row.error(), kFailed, progress);
        }
        if (options.what_if) {
            auto whatIf =
                predictWhatIf(loaded->project, *theCase, row->prediction.composition, progress);
            if (!whatIf) {
                return explain(whatIf.error(), progress.cancelled ? kCancelled : kFailed, progress);
            }
            row->what_if = std::move(*whatIf);
        }
        rows.push_back(std::move(*row));
    }
    return printAll(rows, options);
}

} // namespace

void addPredict(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("predict", "Predict the time of one composition");
    addSelection(*verb, options->selection);
    addPolicy(*verb, options->selection);
    auto* cuts =
        verb->add_option(
                "--cuts", options->cuts,
                "Cut here: site keys (kerf info PROJECT --sites). Each starts a megakernel, "
                "KEY:c a conventional region; start:c makes the first region conventional")
            ->type_name("KEY,KEY…")
            ->delimiter(',');
    verb->add_option("--composition", options->composition,
                     "conventional, monolith, per-layer or one saved in the project "
                     "(default: the project's current one, else monolith)")
        ->type_name("NAME")
        ->excludes(cuts);
    verb->add_flag("--what-if", options->what_if,
                   "Predict again with one constant or fusion rule changed at a time "
                   "(with --csv: only that table)");
    addFormatOptions(*verb, options->format);
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

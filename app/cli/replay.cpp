// SPDX-License-Identifier: GPL-3.0-or-later
// kerf replay: the conventional run as predicted from the recording, held against the untraced
// time.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/selection.h"
#include "app/cli/verb.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace kerf::cli {

namespace {

struct Options {
    Selection selection;
    Format format = Format::Table;
};

Table tableOf(const Cases& cases) {
    Table table{{{"model", "model", false},
                 {"batch", "batch", true},
                 {"as traced ms", "predicted_us", true},
                 {"corrected ms", "corrected_us", true},
                 {"measured ms", "measured_us", true},
                 {"traced %", "predicted_error_percent", true},
                 {"corrected %", "corrected_error_percent", true}},
                {}};
    for (const auto& one : cases) {
        const auto& row = one->replay;
        const bool known = row.hasMeasurement();
        table.rows.push_back({text(row.model), integer(row.batch),
                              number(row.predicted_us, 3, 1e-3), number(row.corrected_us, 3, 1e-3),
                              known ? number(row.measured_us, 3, 1e-3) : missing(),
                              known ? percent(row.predictedError(), 2) : missing(),
                              known ? percent(row.correctedError(), 2) : missing()});
    }
    return table;
}

std::string summaryOf(const Cases& cases) {
    double sum = 0;
    double worst = 0;
    int count = 0;
    for (const auto& one : cases) {
        if (one->replay.hasMeasurement()) {
            const double error = std::abs(one->replay.correctedError());
            sum += error;
            worst = std::max(worst, error);
            ++count;
        }
    }
    if (count == 0) {
        return "no measurement to hold the replay against (kerf import --untraced)\n";
    }
    return fmt::format("|corrected − measured|: mean {:.2f} %, worst {:.2f} % over {} recordings\n",
                       sum / count * 100, worst * 100, count);
}

nlohmann::ordered_json jsonOf(const Cases& cases) {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& one : cases) {
        const auto& row = one->replay;
        nlohmann::ordered_json json{{"model", row.model},
                                    {"batch", row.batch},
                                    {"predicted_us", row.predicted_us},
                                    {"corrected_us", row.corrected_us},
                                    {"measured_us", nullptr}};
        if (row.hasMeasurement()) {
            json["measured_us"] = row.measured_us;
        }
        rows.push_back(std::move(json));
    }
    return rows;
}

int run(const Options& options, Progress& progress) {
    const auto loaded = load(options.selection, progress);
    if (!loaded) {
        return explain(loaded.error(), kBadInput, progress);
    }
    if (options.format == Format::Json) {
        return print(jsonOf(loaded->cases));
    }
    return print(tableOf(loaded->cases), options.format, summaryOf(loaded->cases));
}

} // namespace

void addReplay(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb =
        app.add_subcommand("replay", "Hold the predicted conventional run against its measurement");
    addSelection(*verb, options->selection);
    addFormatOptions(*verb, options->format);
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

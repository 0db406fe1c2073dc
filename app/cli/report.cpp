// SPDX-License-Identifier: GPL-3.0-or-later
// kerf report: the report as PDF, and every view as PNG. Needs no display.
#include "app/cli/exit_codes.h"
#include "app/cli/output.h"
#include "app/cli/search_cases.h"
#include "app/cli/verb.h"
#include "app/report_data.h"
#include "views/theme.h"

#include <CLI/CLI.hpp>
#include <QApplication>

#include <cstdio>

namespace kerf::cli {

namespace {

struct Options {
    Selection selection;
    SearchOptions search;
    std::string output;
    std::string png;
    bool wants_png = false;
};

struct Targets {
    std::filesystem::path pdf;
    std::filesystem::path pictures; ///< folder; empty: none
};

/// A folder gets everything; a .pdf only itself unless --png is given.
Targets targetsOf(const Options& options) {
    const std::filesystem::path output(options.output);
    if (output.extension() != ".pdf") {
        return {output / "report.pdf",
                options.png.empty() ? output : std::filesystem::path(options.png)};
    }
    if (!options.wants_png) {
        return {output, {}};
    }
    const auto beside =
        output.parent_path().empty() ? std::filesystem::path(".") : output.parent_path();
    return {output, options.png.empty() ? beside : std::filesystem::path(options.png)};
}

Expected<void> makeFolders(const Targets& targets) {
    for (const auto& folder : {targets.pdf.parent_path(), targets.pictures}) {
        std::error_code error;
        if (!folder.empty() && !std::filesystem::create_directories(folder, error) && error) {
            return fail(fmt::format("the folder cannot be made: {}", error.message()),
                        folder.string(), "Give another place with -o.");
        }
    }
    return {};
}

std::vector<app::CaseState> statesOf(const Cases& cases,
                                     std::vector<search::SearchResult> results) {
    std::vector<app::CaseState> states;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        auto& state = states.emplace_back();
        state.data = cases[i];
        state.predictor = std::make_shared<search::Predictor>(cases[i]);
        for (const auto& candidate : results[i].candidates) {
            const auto& prediction = candidate.prediction;
            if (prediction.kind == graph::Kind::Conventional) {
                state.conventional = prediction;
            } else if (prediction.kind == graph::Kind::Monolith) {
                state.monolith = prediction;
            }
        }
        state.result = std::move(results[i]);
    }
    return states;
}

/// The recording with most to gain from megakernels, relative to its conventional run.
std::size_t mostToGain(const std::vector<app::CaseState>& states) {
    std::size_t chosen = 0;
    double least = 2;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const double ratio = states[i].conventional
                                 ? states[i].result->candidates.front().prediction.ttfa_us /
                                       states[i].conventional->ttfa_us
                                 : 1;
        if (ratio < least) {
            least = ratio;
            chosen = i;
        }
    }
    return chosen;
}

/// The offscreen platform reports each window function that it lacks; nothing here needs them.
void withoutPlatformNoise(QtMsgType type, const QMessageLogContext& context,
                          const QString& message) {
    if (!message.startsWith(QLatin1String("This plugin does not support"))) {
        std::fprintf(stderr, "%s\n", qPrintable(qFormatLogMessage(type, context, message)));
    }
}

int run(const Options& options, Progress& progress) {
    const Targets targets = targetsOf(options);
    if (const auto made = makeFolders(targets); !made) {
        return explain(made.error(), kBadInput, progress);
    }
    const auto loaded = load(options.selection, progress);
    if (!loaded) {
        return explain(loaded.error(), kBadInput, progress);
    }
    auto results = searchCases(loaded->cases, options.search, progress);
    if (!results) {
        return explain(results.error(), kFailed, progress);
    }
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen"); // nothing is shown, with or without a display
    }
    qInstallMessageHandler(withoutPlatformNoise);
    int argc = 1;
    char name[] = "kerf";
    char* argv[] = {name, nullptr};
    const QApplication application(argc, argv);
    views::applyTheme(*qApp, views::ThemeChoice::Light);
    const auto states = statesOf(loaded->cases, std::move(*results));
    const std::size_t chosen = mostToGain(states);
    auto data = app::reportData(loaded->project, states, chosen);
    data.timeline = app::bestTimeline(states[chosen]);
    if (const auto written = views::writeReport(data, targets.pdf); !written) {
        return explain(written.error(), kFailed, progress);
    }
    std::string lines = targets.pdf.string() + "\n";
    if (!targets.pictures.empty()) {
        const auto files = app::writePictures(states, chosen, *data.timeline, targets.pictures);
        if (!files) {
            return explain(files.error(), kFailed, progress);
        }
        for (const auto& file : *files) {
            lines += file.string() + "\n";
        }
    }
    return print(lines);
}

} // namespace

void addReport(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("report", "Write the report as PDF and every view as PNG");
    addSelection(*verb, options->selection);
    addPolicy(*verb, options->selection);
    verb->add_option("-o,--output", options->output,
                     "A folder (report.pdf and pictures) or a file ending in .pdf (only that)")
        ->required()
        ->type_name("DIR|FILE.pdf");
    auto* png =
        verb->add_option("--png", options->png, "Pictures too, into DIR (default: beside the PDF)")
            ->type_name("DIR")
            ->expected(0, 1);
    addSearchOptions(*verb, options->search);
    verb->footer(
        std::string("The recording with most to gain is reported in detail; choose another with "
                    "--model and --batch.\n") +
        kExitCodeHelp);
    verb->callback([options, png, &action] {
        options->wants_png = png->count() > 0;
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

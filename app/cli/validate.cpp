// SPDX-License-Identifier: GPL-3.0-or-later
// kerf validate: predictions of measured chains, held against the measurements.
#include "app/cli/validate.h"

#include "app/cli/exit_codes.h"
#include "app/cli/verb.h"

#include <CLI/CLI.hpp>

namespace kerf::cli {

namespace {

using validation::AblationRow;
using validation::CaseKind;
using validation::CaseResult;
using validation::ChainFile;
using validation::Validation;

struct Options {
    std::string file;
    std::string hardware;
    bool ablation = false;
    Format format = Format::Table;
};

std::string kindOf(const validation::ChainCase& one) {
    return one.kind == CaseKind::RegionsOf ? fmt::format("regions_of {}", one.region_ops)
                                           : std::string(toString(one.kind));
}

/// "1056 x 2048 regions_of 4", for sentences.
std::string nameOf(const ChainFile& file, std::size_t chain, std::size_t chain_case) {
    return fmt::format("{} {}", file.chains[chain].name,
                       kindOf(file.chains[chain].cases[chain_case]));
}

Table tableOf(const ChainFile& file, const Validation& made) {
    Table table{{{"chain", "chain", false},
                 {"case", "case", false},
                 {"ops", "ops", true},
                 {"launches", "regions", true},
                 {"predicted µs/op", "predicted_us", true},
                 {"measured µs/op", "measured_us", true},
                 {"error %", "error_percent", true},
                 {"gap subtraction %", "launch_gap_error_percent", true},
                 {"roofline %", "roofline_error_percent", true}},
                {}};
    for (const CaseResult& one : made.cases) {
        const auto& chain = file.chains[one.chain];
        const double per_op = 1 / static_cast<double>(chain.ops.size());
        const auto error = [&](double us) {
            return percent(validation::relativeError(us, one.measured_us));
        };
        table.rows.push_back(
            {text(chain.name), text(kindOf(chain.cases[one.chain_case])),
             integer(static_cast<long long>(chain.ops.size())),
             integer(static_cast<long long>(chain.cases[one.chain_case].starts.size())),
             number(one.predicted_us, 3, per_op), number(one.measured_us, 3, per_op),
             error(one.predicted_us), error(one.launch_gap_us), error(one.roofline_us)});
    }
    return table;
}

Table tableOf(const std::vector<validation::SingleResult>& singles) {
    Table table{{{"single op", "single_op", false},
                 {"predicted µs", "predicted_us", true},
                 {"measured µs", "measured_us", true},
                 {"error %", "error_percent", true}},
                {}};
    for (const auto& one : singles) {
        table.rows.push_back(
            {text(fmt::format("{} x {}", one.product.rows, one.product.k)),
             number(one.predicted_us, 3), number(one.measured_us, 3),
             percent(validation::relativeError(one.predicted_us, one.measured_us))});
    }
    return table;
}

Table tableOf(const std::vector<AblationRow>& rows) {
    Table table{{{"switched off", "effect", false},
                 {"mean error %", "mean_abs_error_percent", true},
                 {"worst error %", "worst_abs_error_percent", true},
                 {"mean shift %", "mean_shift_percent", true},
                 {"order", "order_right", false}},
                {}};
    for (const AblationRow& row : rows) {
        table.rows.push_back({text(row.effect), number(row.error.mean_abs, 1, 100),
                              number(row.error.worst_abs, 1, 100), percent(row.mean_shift),
                              text(row.order_right ? "right" : "wrong")});
    }
    return table;
}

std::string summaryLine(const char* name, const validation::ErrorSummary& summary) {
    return fmt::format("{:<24}mean {:.1f} %, worst {:.1f} %\n", name, summary.mean_abs * 100,
                       summary.worst_abs * 100);
}

std::string orderLines(const ChainFile& file, const Validation& made) {
    std::string lines = fmt::format("order of region lengths: {}\n",
                                    made.order_right ? "right for every chain" : "wrong");
    for (const auto& pair : made.wrong_pairs) {
        lines += fmt::format("  {} is predicted no faster than {}, measured {:.2f} % faster\n",
                             nameOf(file, pair.chain, pair.faster),
                             nameOf(file, pair.chain, pair.slower), pair.measured_difference * 100);
    }
    return lines;
}

std::string estimatesLine(const cost::Hardware& hardware) {
    std::string names;
    for (const auto& [name, constant] : constantsUsed(hardware)) {
        if (constant->estimated) {
            names += fmt::format("{}{} {:g}", names.empty() ? "" : ", ", name, constant->value);
        }
    }
    return names.empty() ? "all constants used are measured\n"
                         : fmt::format("estimated constants: {}\n", names);
}

std::string summaryOf(const ChainFile& file, const Validation& made,
                      const cost::Hardware& hardware) {
    const auto worst = validation::worstCase(made);
    const auto& one = made.cases[worst];
    return '\n' + summaryLine("prediction", made.engine) +
           summaryLine("launch-gap subtraction", made.launch_gap) +
           summaryLine("roofline", made.roofline) +
           fmt::format("largest error: {} ({:+.1f} %)\n", nameOf(file, one.chain, one.chain_case),
                       validation::relativeError(one.predicted_us, one.measured_us) * 100) +
           orderLines(file, made) + estimatesLine(hardware) +
           (made.singles.empty()
                ? ""
                : "\nInputs: single ops as the persistent kernel, predicted and given\n" +
                      toText(tableOf(made.singles)));
}

int run(const Options& options, Progress& progress) {
    const auto file = validation::readChainFile(options.file);
    if (!file) {
        return explain(file.error(), kBadInput, progress);
    }
    const auto hardware = options.hardware.empty() ? cost::shippedHardware(file->gpu)
                                                   : cost::readHardware(options.hardware);
    if (!hardware) {
        return explain(hardware.error(), kBadInput, progress);
    }
    const auto made = validation::validate(*file, {*hardware, {}, {}}, progress);
    if (!made) {
        return explain(made.error(), kFailed, progress);
    }
    std::vector<AblationRow> ablation;
    if (options.ablation) {
        auto rows = validation::ablate(*file, *hardware, progress);
        if (!rows) {
            return explain(rows.error(), kFailed, progress);
        }
        ablation = std::move(*rows);
    }
    if (options.format == Format::Json) {
        return print(toJson(*file, *hardware, *made, ablation));
    }
    std::string after = summaryOf(*file, *made, *hardware);
    if (options.ablation) {
        after += "\nEffects switched off one by one\n" + toText(tableOf(ablation));
    }
    return print(tableOf(*file, *made), options.format, after);
}

} // namespace

std::vector<std::pair<const char*, const cost::Constant*>>
constantsUsed(const cost::Hardware& hardware) {
    return {{"launch_gap_us", &hardware.launch_gap_us},
            {"memset_us", &hardware.memset_us},
            {"prologue_us", &hardware.prologue_us},
            {"drain_us", &hardware.drain_us},
            {"event_one_way_us", &hardware.event_one_way_us},
            {"dispatch_us", &hardware.dispatch_us},
            {"dependent_latency_us", &hardware.dependent_latency_us},
            {"ramp_us", &hardware.ramp_us},
            {"memory_gbps", &hardware.memory_gbps},
            {"bulk_gbps_per_sm", &hardware.bulk_gbps_per_sm},
            {"on_chip_gbps_per_sm", &hardware.on_chip_gbps_per_sm},
            {"l2_gbps", &hardware.l2_gbps}};
}

void addValidate(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    auto* verb = app.add_subcommand("validate",
                                    "Hold predictions of measured chains against the measurement");
    verb->add_option("file", options->file, "Chain file (docs/formats/chain.md)")
        ->type_name("FILE")
        ->required();
    verb->add_option("--hardware", options->hardware,
                     "Hardware file (default: the one shipped for the file's GPU)")
        ->type_name("FILE");
    verb->add_flag("--ablation", options->ablation,
                   "Also switch each effect of the model off and show the error");
    addFormatOptions(*verb, options->format);
    verb->footer(kExitCodeHelp);
    verb->callback([options, &action] {
        action = [options](Progress& progress) { return run(*options, progress); };
    });
}

} // namespace kerf::cli

// SPDX-License-Identifier: GPL-3.0-or-later
// Last pages: everything that the answer rests on, each figure with where it comes from.
#include "views/drawing.h"
#include "views/report/sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace kerf::views {
namespace {

constexpr std::array<const char*, search::kErrorSources> kErrorNames{
    "conventional run and replay", "matrix products in megakernels", "attention in megakernels",
    "elementwise in megakernels",  "convolutions in megakernels",    "embeddings in megakernels",
    "copies in megakernels",       "launch gap, prologue, drain",    "events"};

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

QString text(std::string_view s) {
    return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

QString percent(double fraction, int decimals = 0) {
    return QStringLiteral("%1 %").arg(fraction * 100, 0, 'f', decimals);
}

/// That many significant figures, never an exponent.
QString figure(double value, int digits = 3) {
    const double size = std::abs(value);
    return size >= 99.5 ? QString::number(value, 'f', 0) : QString::number(value, 'g', digits);
}

/// Where and when a calibration ran: the start of its constants' sources, said once.
QString occasionOf(const cost::Hardware& hardware) {
    const QString source = text(hardware.launch_gap_us.source);
    const auto end = source.indexOf(QLatin1String(": "));
    return end < 0 ? QString() : source.left(end + 2);
}

TableRow constantRow(const char* name, const cost::Constant& constant, const char* unit) {
    return {{QString::fromUtf8(name), figure(constant.value),
             constant.spread > 0 ? figure(constant.spread, 2) : QStringLiteral("–"),
             QString::fromUtf8(unit),
             constant.estimated ? QStringLiteral("estimated") : QStringLiteral("measured"),
             text(constant.source)}};
}

void drawHardware(Pages& pages, const cost::Hardware& hardware) {
    pages.heading(QStringLiteral("Hardware: %1").arg(text(hardware.name)));
    std::vector<TableRow> rows{
        constantRow("launch gap", hardware.launch_gap_us, "µs"),
        constantRow("launch gap, programmatic", hardware.launch_gap_pdl_us, "µs"),
        constantRow("memset node", hardware.memset_us, "µs"),
        constantRow("prologue", hardware.prologue_us, "µs"),
        constantRow("drain", hardware.drain_us, "µs"),
        constantRow("event, one way", hardware.event_one_way_us, "µs"),
        constantRow("dispatch of a tile", hardware.dispatch_us, "µs"),
        constantRow("pop from a shared queue", hardware.queue_pop_us, "µs"),
        constantRow("first activation byte", hardware.dependent_latency_us, "µs"),
        constantRow("first cold byte", hardware.ramp_us, "µs"),
        constantRow("device memory", hardware.memory_gbps, "GB/s"),
        constantRow("bulk copies, lone SM", hardware.bulk_gbps_per_sm, "GB/s"),
        constantRow("ring to consumers, an SM", hardware.on_chip_gbps_per_sm, "GB/s"),
        constantRow("L2", hardware.l2_gbps, "GB/s"),
        constantRow("tracing, a node", hardware.tracing_us_per_node, "µs")};
    const auto curve = [&](const char* name, std::size_t points, const char* unit,
                           const std::string& source) {
        rows.push_back(
            {{QString::fromUtf8(name), QStringLiteral("%1 points").arg(points), QStringLiteral("–"),
              QString::fromUtf8(unit),
              points > 0 ? QStringLiteral("measured") : QStringLiteral("missing"), text(source)}});
    };
    curve("fan-in by workers", hardware.barrier_us_by_workers.size(), "µs",
          hardware.barrier_source);
    std::size_t points = 0;
    for (const auto& each : hardware.bandwidth) {
        points += each.gbps_by_workers.size();
    }
    curve("bandwidth by workers, threads", points, "GB/s", hardware.bandwidth_source);
    const QString occasion = occasionOf(hardware);
    for (TableRow& row : rows) {
        if (!occasion.isEmpty() && row.cells.back().startsWith(occasion)) {
            row.cells.back().remove(0, occasion.size());
        }
    }
    pages.table({{QStringLiteral("constant"), 1.9},
                 {QStringLiteral("value"), 0.8, true},
                 {QStringLiteral("spread"), 0.6, true},
                 {QStringLiteral("unit"), 0.5},
                 {QStringLiteral("status"), 0.8},
                 {QStringLiteral("source"), 5}},
                rows);
    QString note;
    if (!occasion.isEmpty()) {
        note = QStringLiteral("Rows without another source: %1. ").arg(occasion.chopped(2));
    }
    note += QStringLiteral("%1 SMs, %2 KiB shared memory and %3 registers an SM, %4 MiB L2.")
                .arg(hardware.sm_count)
                .arg(hardware.shared_bytes_per_sm / 1024)
                .arg(hardware.registers_per_sm)
                .arg(hardware.l2_bytes / 1024 / 1024);
    pages.paragraph(note, 11, true);
}

void drawCosts(Pages& pages, const search::Case& theCase) {
    pages.heading(QStringLiteral("Cost of operators inside a megakernel"));
    std::map<std::pair<workload::OpClass, graph::Tier>, std::vector<const graph::ChainOp*>> groups;
    for (const auto& op : theCase.chain.ops) {
        groups[{workload::classOf(op.role), op.tier}].push_back(&op);
    }
    std::vector<TableRow> rows;
    for (const auto& [group, ops] : groups) {
        const auto [least, most] = std::ranges::minmax(
            ops, {}, [](const graph::ChainOp* op) { return op->relative_error; });
        const QString low = percent(least->relative_error);
        const QString high = percent(most->relative_error);
        rows.push_back({{text(toString(group.first)), QString::number(ops.size()),
                         text(toString(group.second)),
                         low == high ? QStringLiteral("± ") + low
                                     : QStringLiteral("± %1 to %2").arg(low, high),
                         text(ops.front()->source)}});
    }
    pages.table({{QStringLiteral("op class"), 1.3},
                 {QStringLiteral("tile ops"), 0.6, true},
                 {QStringLiteral("tier"), 0.9},
                 {QStringLiteral("error (1 sd)"), 1.1, true},
                 {QStringLiteral("source (of the first)"), 5}},
                rows);
}

/// What widens the interval of the best candidate most.
void drawSensitivities(Pages& pages, const ReportEntry& entry) {
    pages.heading(QStringLiteral("What the interval consists of"));
    const auto& prediction = entry.result.candidates.front().prediction;
    std::vector<std::pair<double, std::size_t>> sources;
    for (std::size_t i = 0; i < search::kErrorSources; ++i) {
        if (prediction.parts[i] > 0) {
            sources.emplace_back(prediction.parts[i] * entry.the_case->errors[i], i);
        }
    }
    std::ranges::sort(sources, std::greater{});
    std::vector<TableRow> rows;
    for (const auto& [effect_us, i] : sources) {
        rows.push_back({{QString::fromUtf8(kErrorNames[i]), formatTime(prediction.parts[i]),
                         percent(entry.the_case->errors[i], 1),
                         QStringLiteral("± ") + formatTime(effect_us)}});
    }
    pages.table({{QStringLiteral("cause"), 2.5},
                 {QStringLiteral("part of the time"), 1, true},
                 {QStringLiteral("error (1 sd)"), 1, true},
                 {QStringLiteral("effect on the time"), 1, true}},
                rows);
}

void drawReplay(Pages& pages, const ReportData& data) {
    pages.heading(QStringLiteral("Replay: the conventional path against untraced measurement"));
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < data.entries.size(); ++i) {
        if (!data.entries[i].the_case) {
            continue;
        }
        const auto& replay = data.entries[i].the_case->replay;
        const bool measured = replay.hasMeasurement();
        const QString none = QStringLiteral("not measured");
        rows.push_back(
            {{text(replay.model), QString::number(replay.batch), formatTime(replay.predicted_us),
              formatTime(replay.corrected_us), measured ? formatTime(replay.measured_us) : none,
              measured ? formatSignedPercent(replay.predictedError()) : none,
              measured ? formatSignedPercent(replay.correctedError()) : none,
              QString::number(data.entries[i].the_case->dropped)},
             i == data.chosen});
    }
    pages.table({{QStringLiteral("model"), 1.6},
                 {QStringLiteral("batch"), 0.6, true},
                 {QStringLiteral("as traced"), 1, true},
                 {QStringLiteral("corrected"), 1, true},
                 {QStringLiteral("measured, p50"), 1, true},
                 {QStringLiteral("error traced"), 1, true},
                 {QStringLiteral("error corrected"), 1, true},
                 {QStringLiteral("dropped"), 0.7, true}},
                rows);
    pages.paragraph(QStringLiteral("The error of the replay is the floor of every claim here."), 11,
                    true);
}

void drawRules(Pages& pages, const graph::FusionRules& given) {
    pages.heading(QStringLiteral("Fusion rules"));
    std::vector<TableRow> rows;
    for (const auto& rule : given.empty() ? graph::defaultFusionRules() : given) {
        rows.push_back({{text(toString(rule.role)), text(toString(rule.fusion)),
                         QString::number(rule.compute_factor, 'g', 3), text(rule.reason)}});
    }
    pages.table({{QStringLiteral("role"), 1},
                 {QStringLiteral("becomes"), 1},
                 {QStringLiteral("time kept (est.)"), 0.9, true},
                 {QStringLiteral("reason"), 5}},
                rows);
}

void drawHealth(Pages& pages, const ReportData& data) {
    pages.heading(QStringLiteral("Health of the recordings and what was assumed"));
    std::vector<TableRow> rows;
    int clean = 0;
    for (std::size_t i = 0; i < data.entries.size(); ++i) {
        if (!data.entries[i].the_case) {
            continue;
        }
        const auto& theCase = *data.entries[i].the_case;
        if (theCase.health.empty() && theCase.traced.notes.empty()) {
            ++clean;
            continue;
        }
        QStringList lines;
        for (const auto& line : theCase.health) {
            lines << text(line);
        }
        for (const auto& note : theCase.traced.notes) {
            lines << text(note);
        }
        rows.push_back({{QStringLiteral("%1, batch %2")
                             .arg(text(theCase.traced.model))
                             .arg(theCase.traced.batch),
                         lines.join(QLatin1Char('\n'))},
                        i == data.chosen});
    }
    if (clean > 0) {
        rows.push_back({{rows.empty() ? QStringLiteral("all recordings")
                                      : QStringLiteral("%1 others").arg(clean),
                         QStringLiteral("no finding")}});
    }
    pages.table({{QStringLiteral("recording"), 1}, {QStringLiteral("findings"), 5}}, rows);
}

void drawSettings(Pages& pages, const ReportData& data) {
    if (data.settings.empty()) {
        return;
    }
    pages.heading(QStringLiteral("Settings"));
    std::vector<TableRow> rows;
    for (const auto& [name, value] : data.settings) {
        rows.push_back({{text(name), text(value)}});
    }
    pages.table({{QStringLiteral("setting"), 1}, {QStringLiteral("value"), 4}}, rows);
}

} // namespace

void drawAssumptions(Pages& pages, const ReportData& data) {
    const ReportEntry& entry = chosenEntry(data);
    pages.startSection(QStringLiteral("Assumptions"));
    drawHardware(pages, entry.the_case->hardware);
    drawCosts(pages, *entry.the_case);
    drawSensitivities(pages, entry);
    drawHealth(pages, data);
    drawSettings(pages, data);
    drawReplay(pages, data);
    drawRules(pages, data.fusion_rules);
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shown.h"

#include "app/cli/search_cases.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

namespace kerf::app {

namespace {

constexpr int kReplicas = 200;

/// What the replay cannot tell apart is a tie, whatever the replicas say; as in the search.
double tieFraction(const search::Case& theCase) {
    return theCase.replay.hasMeasurement() ? std::abs(theCase.replay.correctedError())
                                           : search::kUnknownReplayResidual;
}

using Row = views::PredictionPanelState::Row;

void addRow(std::vector<Row>& rows, const QString& label, const search::Case& theCase,
            const search::Prediction& current, const search::Prediction* other,
            bool withProbability) {
    if (other == nullptr || other->ttfa_us <= 0) {
        return;
    }
    Row row;
    row.label = label;
    row.difference = current.ttfa_us / other->ttfa_us - 1;
    const auto compared = search::compare(current.parts, other->parts, theCase.errors,
                                          tieFraction(theCase), kReplicas, search::kReplicaSeed);
    row.tie = compared.tie;
    if (withProbability) {
        row.probability = compared.p_a_beats_b;
    }
    rows.push_back(row);
}

QString footerOf(const search::Prediction& prediction) {
    QStringList parts;
    if (prediction.rtf > 0) {
        parts << Session::tr("throughput %1 × realtime").arg(1 / prediction.rtf, 0, 'f', 1);
    } else if (prediction.throughput_per_s > 0) {
        parts << Session::tr("%1 outputs a second")
                     .arg(QLocale::c().toString(prediction.throughput_per_s, 'f', 1));
    }
    parts << (prediction.launches == 1 ? Session::tr("1 launch")
                                       : Session::tr("%1 launches").arg(prediction.launches));
    parts << Session::tr("coverage %1 %").arg(prediction.coverage * 100, 0, 'f', 0);
    return parts.join(" · ");
}

views::CategoryCell cellOf(const CaseState& state) {
    views::CategoryCell cell{};
    cell.batch = state.data->traced.batch;
    cell.available = state.result.has_value();
    if (!cell.available) {
        cell.toolTip = Session::tr("batch %1: not searched yet (Ctrl+Shift+B)").arg(cell.batch);
        return cell;
    }
    const auto& candidates = state.result->candidates;
    const auto& best = candidates.front();
    cell.coverage = best.prediction.coverage;
    cell.tie = std::count_if(candidates.begin(), candidates.end(),
                             [](const auto& c) { return c.ties_best; }) > 1;
    for (const auto& region : best.prediction.regions) {
        const double share =
            region.us * static_cast<double>(region.use.count) / best.prediction.ttfa_us;
        cell.strip.emplace_back(share, region.use.mode == graph::Mode::Megakernel);
    }
    cell.toolTip = Session::tr("batch %1: %2, %3 ms, coverage %4 %%5")
                       .arg(cell.batch)
                       .arg(QString::fromStdString(best.regions))
                       .arg(best.prediction.ttfa_us / 1000, 0, 'f', 2)
                       .arg(cell.coverage * 100, 0, 'f', 0)
                       .arg(cell.tie ? Session::tr("; others tie with it") : QString());
    return cell;
}

} // namespace

Shown shownOf(const Session& session) {
    return {session.current(), session.prediction(), session.beforeEdit(), session.predicting()};
}

views::PredictionPanelState predictionState(const Shown& shown) {
    views::PredictionPanelState panel;
    const CaseState* state = shown.state;
    if (!state) {
        return panel;
    }
    const search::Case& theCase = *state->data;
    panel.batch = theCase.traced.batch;
    panel.metric =
        theCase.audio_ms_per_path > 0 ? Session::tr("TTFA") : Session::tr("first output");
    panel.current = shown.current;
    panel.busyText = shown.busy ? Session::tr("predicting …") : QString();
    panel.estimated = std::any_of(theCase.chain.ops.begin(), theCase.chain.ops.end(),
                                  [](const auto& op) { return op.tier == graph::Tier::Estimated; });
    panel.provenance =
        Session::tr("Simulated from the recording of %1 at batch %2 on %3. No candidate was run. "
                    "The interval holds 90 % of the replicas.")
            .arg(QString::fromStdString(theCase.traced.model))
            .arg(panel.batch)
            .arg(QString::fromStdString(theCase.hardware.name));
    if (!panel.current) {
        return panel;
    }
    const auto& current = *panel.current;
    const auto pointer = [](const auto& optional) { return optional ? &*optional : nullptr; };
    const bool searched = state->result && !state->result->candidates.empty();
    addRow(panel.rows, Session::tr("conventional"), theCase, current, pointer(state->conventional),
           false);
    addRow(panel.rows, Session::tr("monolith"), theCase, current, pointer(state->monolith), false);
    addRow(panel.rows, Session::tr("best found"), theCase, current,
           searched ? &state->result->candidates.front().prediction : nullptr, false);
    addRow(panel.rows, Session::tr("before this edit"), theCase, current, pointer(shown.before),
           true);
    panel.footer = footerOf(current);
    return panel;
}

std::vector<views::CategoryRow> categoryRows(const std::vector<CaseState>& cases) {
    std::vector<views::CategoryRow> rows;
    cli::Cases searched;
    std::vector<search::SearchResult> results;
    for (const auto& state : cases) {
        const QString model = QString::fromStdString(state.data->traced.model);
        if (rows.empty() || rows.back().model != model) {
            rows.emplace_back();
            rows.back().model = model;
            rows.back().evidence = Session::tr("not searched at every batch size yet");
        }
        rows.back().cells.push_back(cellOf(state));
        if (state.result) {
            searched.push_back(state.data);
            results.push_back(*state.result);
        }
    }
    for (const auto& model : cli::categoriesOf(searched, results)) {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) {
            return r.model.toStdString() == model.model;
        });
        if (row != rows.end() && row->cells.size() == model.cases.size()) {
            const auto name = toString(model.category.category);
            row->category = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
            row->evidence = QString::fromStdString(model.category.evidence);
        }
    }
    return rows;
}

QString candidatesHint(const CaseState* state) {
    if (!state || !state->result) {
        return {};
    }
    const double hits = state->predictor ? state->predictor->cacheStats().hitRate() : 0;
    return Session::tr("%1 evaluated · exact · %2 s · cache hits %3 %")
        .arg(QLocale::c()
                 .toString(static_cast<qulonglong>(state->result->regions_evaluated))
                 .replace(',', ' '))
        .arg(state->result->seconds, 0, 'f', 2)
        .arg(100 * hits, 0, 'f', 0);
}

} // namespace kerf::app

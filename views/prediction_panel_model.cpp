// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/prediction_panel_model.h"

#include "views/drawing.h"

#include <QStringList>
#include <cmath>

namespace kerf::views {
namespace {

struct Unit {
    double us = 1;
    QString name;
};

Unit unitFor(double us) {
    if (us >= 999.5e3) {
        return {1e6, QStringLiteral("s")};
    }
    if (us >= 999.5) {
        return {1e3, QStringLiteral("ms")};
    }
    return {1, QStringLiteral("µs")};
}

int decimalsFor(double value) {
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

PredictionTexts::Row rowOf(const PredictionPanelState::Row& row) {
    PredictionTexts::Row texts{row.label, formatSignedPercent(row.difference), {}, Tone::Plain};
    if (row.tie) {
        texts.note = QStringLiteral("tie");
        return texts;
    }
    if (row.probability) {
        // 0.999 must not read as certain.
        const double p = *row.probability;
        texts.note = p > 0.995   ? QStringLiteral("P > 0.99")
                     : p < 0.005 ? QStringLiteral("P < 0.01")
                                 : QStringLiteral("P %1").arg(p, 0, 'f', 2);
    }
    texts.tone = row.difference < 0 ? Tone::Better : row.difference > 0 ? Tone::Worse : Tone::Plain;
    return texts;
}

} // namespace

PredictionTexts textsOf(const PredictionPanelState& state) {
    PredictionTexts texts;
    for (const PredictionPanelState::Row& row : state.rows) {
        texts.rows.push_back(rowOf(row));
    }
    if (!state.current || !std::isfinite(state.current->ttfa_us)) {
        texts.summary = state.current ? QStringLiteral("This composition cannot run: a region does "
                                                       "not fit the GPU.")
                                      : QStringLiteral("No prediction yet.");
        return texts;
    }
    const double us = state.current->ttfa_us;
    const Unit unit = unitFor(us);
    const int decimals = decimalsFor(us / unit.us);
    texts.number = QString::number(us / unit.us, 'f', decimals);
    texts.unit = state.metric.isEmpty() ? unit.name : unit.name + u' ' + state.metric;
    const search::Interval& interval = state.current->ttfa_interval_us;
    if (interval.high > interval.low) {
        const double half = (interval.high - interval.low) / 2 / unit.us;
        const double least = std::pow(10.0, -decimals);
        texts.spread = half < least / 2 ? QStringLiteral("± < %1").arg(least, 0, 'f', decimals)
                                        : QStringLiteral("± %1").arg(half, 0, 'f', decimals);
    }
    QStringList parts{texts.number + u' ' + texts.unit};
    if (!texts.spread.isEmpty()) {
        parts.last() += u' ' + texts.spread;
    }
    if (state.batch > 0) {
        parts += QStringLiteral("batch %1").arg(state.batch);
    }
    if (state.estimated) {
        parts += QStringLiteral("estimated");
    }
    for (const PredictionTexts::Row& row : texts.rows) {
        parts +=
            QStringLiteral("against %1 %2 %3").arg(row.label, row.difference, row.note).trimmed();
    }
    texts.summary = parts.join(QStringLiteral(", "));
    return texts;
}

} // namespace kerf::views

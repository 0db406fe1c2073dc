// SPDX-License-Identifier: GPL-3.0-or-later
// What the prediction panel says. No widgets.
#pragma once

#include "core/search/predictor.h"

#include <QString>
#include <optional>
#include <vector>

namespace kerf::views {

struct PredictionPanelState {
    int batch = 0;  ///< 0: not known
    QString metric; ///< "TTFA", "TTFT"
    std::optional<search::Prediction> current;
    struct Row {
        QString label;         ///< "conventional"
        double difference = 0; ///< of the current one to it, relative: −0.48 = 48 % shorter
        bool tie = false;
        std::optional<double> probability; ///< that the current one beats it
    };
    std::vector<Row> rows;
    QString footer;
    QString busyText;       ///< not empty: a newer prediction is on its way
    bool estimated = false; ///< rests on estimated costs: says "est."
    QString provenance;     ///< where the number comes from, for the tooltip
};

enum class Tone : std::uint8_t { Plain, Better, Worse };

struct PredictionTexts {
    QString number; ///< "14.2"
    QString unit;   ///< "ms TTFA"
    QString spread; ///< "± 0.3"; empty without an interval
    struct Row {
        QString label;
        QString difference; ///< "−48.1 %"
        QString note;       ///< "tie", "P 0.97" or empty
        Tone tone = Tone::Plain;
    };
    std::vector<Row> rows;
    QString summary; ///< all in one sentence, for screen readers
};

/// The number has the unit that reads best and three figures; the spread is half the 90 % interval
/// in the same unit and as many decimals. A tie is plain and says "tie"; shorter is better.
[[nodiscard]] PredictionTexts textsOf(const PredictionPanelState& state);

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// What the panels say about a session, as the plain structs that views take.
#pragma once

#include "app/session.h"
#include "views/category_map.h"
#include "views/prediction_panel.h"

namespace kerf::app {

/// What is known about the composition on screen.
struct Shown {
    const CaseState* state = nullptr; ///< null: nothing open
    std::optional<search::Prediction> current;
    std::optional<search::Prediction> before; ///< the edit
    bool busy = false;                        ///< a newer prediction is on its way
};
[[nodiscard]] Shown shownOf(const Session& session);

/// Differences of the current prediction to conventional, monolith, best found and the state before
/// the edit. Ties: as search::compare says.
[[nodiscard]] views::PredictionPanelState predictionState(const Shown& shown);

/// A row a model; cells of recordings not searched yet are not available.
[[nodiscard]] std::vector<views::CategoryRow> categoryRows(const std::vector<CaseState>& cases);

/// "1 204 evaluated · exact · 0.4 s"; empty before the search.
[[nodiscard]] QString candidatesHint(const CaseState* state);

} // namespace kerf::app

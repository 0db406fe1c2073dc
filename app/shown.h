// SPDX-License-Identifier: GPL-3.0-or-later
// What the panels say about a session, as the plain structs that views take.
#pragma once

#include "app/session.h"
#include "views/category_map.h"
#include "views/prediction_panel.h"

namespace kerf::app {

/// Differences of `current` to conventional, monolith, best found and the state before the edit.
/// Ties: as search::compare says, with kTieFraction.
[[nodiscard]] views::PredictionPanelState predictionState(const Session& session);

/// A row a model; cells of recordings not searched yet are not available.
[[nodiscard]] std::vector<views::CategoryRow> categoryRows(const Session& session);

/// "1 204 evaluated · exact · 0.4 s"; empty before the search.
[[nodiscard]] QString candidatesHint(const Session& session);

} // namespace kerf::app

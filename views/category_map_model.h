// SPDX-License-Identifier: GPL-3.0-or-later
// What the category map shows: a row a model, a cell a batch size. No widgets.
#pragma once

#include <QString>
#include <optional>
#include <utility>
#include <vector>

namespace kerf::views {

/// The best composition of one model at one batch size.
struct CategoryCell {
    int batch = 1;
    bool available = false; ///< false: not recorded, or not searched yet
    double coverage = 0;    ///< share of the conventional path inside megakernels, 0…1
    bool tie = false;       ///< another composition cannot be told from it
    std::vector<std::pair<double, bool>> strip; ///< share of path, is megakernel; in path order
    QString toolTip;
};

struct CategoryRow {
    QString model;
    QString category; ///< "receding"
    QString evidence; ///< why, one sentence
    std::vector<CategoryCell> cells;
};

/// The batch sizes of all rows, ascending: the columns.
[[nodiscard]] std::vector<int> batchesOf(const std::vector<CategoryRow>& rows);
/// The cell of a batch size; null where the row has none.
[[nodiscard]] const CategoryCell* cellOf(const CategoryRow& row, int batch);

/// Megakernel stretches of a strip as [from, to] shares of the whole, 0…1, neighbours kept apart.
/// Shares that do not sum to 1 are scaled.
[[nodiscard]] std::vector<std::pair<double, double>> megakernelStretches(const CategoryCell& cell);

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// The grid of the category map as a list of primitives.
#pragma once

#include "views/category_map_model.h"
#include "views/theme.h"

#include <QPen>
#include <QRectF>

class QPainter;

namespace kerf::views {

struct CategoryPrimitive {
    enum class Kind : std::uint8_t {
        Batch,    ///< column title
        Model,    ///< row title, with the curve's line in front
        Category, ///< at the row's right
        Cell,     ///< background; hatched where missing
        Stretch,  ///< a megakernel stretch of the strip
        Tie,      ///< hatch over a cell whose best is not alone
        Outline,  ///< the cell that the window shows, or the keyboard is at
    };
    Kind kind = Kind::Cell;
    QRectF rect;
    QColor colour;
    QString text;
    int row = -1;
    int batch = 0;
    QPen line{}; ///< Model: how its curve is drawn
};

struct CategoryGridState {
    QString current_model;
    int current_batch = 0;
    int focus_row = -1; ///< cell under the keyboard; -1: none
    int focus_batch = 0;
};

inline constexpr double kCategoryHeader = 20;
inline constexpr double kCategoryRow = 50;

[[nodiscard]] std::vector<CategoryPrimitive>
categoryPrimitives(const std::vector<CategoryRow>& rows, const CategoryGridState& state,
                   double width, const Theme& theme);
void paintCategories(QPainter& painter, const std::vector<CategoryPrimitive>& primitives,
                     const Theme& theme);

/// How the curve of row `row` is drawn: told apart by dashes as well as colour.
[[nodiscard]] QPen curvePen(int row, const Theme& theme);

} // namespace kerf::views

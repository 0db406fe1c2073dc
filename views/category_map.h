// SPDX-License-Identifier: GPL-3.0-or-later
// Models × batch sizes: the best composition of each as a mini strip, the category of each model
// and the coverage curves below. Arrow keys walk through the cells, Enter opens one.
#pragma once

#include "views/category_map_painter.h"

#include <QWidget>

namespace kerf::views {

class CoverageChart;
class CategoryGrid;

class CategoryMap : public QWidget {
    Q_OBJECT
public:
    explicit CategoryMap(QWidget* parent = nullptr);

    void setRows(const std::vector<CategoryRow>& rows);
    /// Outlines the cell that the window shows.
    void setCurrent(const QString& model, int batch);

    [[nodiscard]] CategoryGrid& grid() { return *grid_; }
    [[nodiscard]] CoverageChart& chart() { return *chart_; }

signals:
    void cellActivated(const QString& model, int batch);

private:
    CategoryGrid* grid_ = nullptr;
    CoverageChart* chart_ = nullptr;
};

} // namespace kerf::views

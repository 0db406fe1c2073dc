// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/category_map.h"

#include "views/category_map_chart.h"
#include "views/category_map_grid.h"

#include <QScrollArea>
#include <QVBoxLayout>

namespace kerf::views {

CategoryMap::CategoryMap(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    grid_ = new CategoryGrid;
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(grid_);
    // The panel below shows through.
    scroll->viewport()->setAutoFillBackground(false);
    grid_->setAutoFillBackground(false);
    chart_ = new CoverageChart(this);
    layout->addWidget(scroll, 3);
    layout->addWidget(chart_, 1);
    chart_->hide();
    connect(grid_, &CategoryGrid::cellActivated, this, &CategoryMap::cellActivated);
}

void CategoryMap::setRows(const std::vector<CategoryRow>& rows) {
    grid_->setRows(rows);
    chart_->setRows(rows);
    chart_->setVisible(!rows.empty());
}

void CategoryMap::setCurrent(const QString& model, int batch) {
    grid_->setCurrent(model, batch);
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// Coverage of the best composition against batch size; a curve a model.
#pragma once

#include "views/category_map_model.h"
#include "views/qcustomplot.h"

namespace kerf::views {

class CoverageChart : public QCustomPlot {
    Q_OBJECT
public:
    explicit CoverageChart(QWidget* parent = nullptr);
    void setRows(const std::vector<CategoryRow>& rows);
    void applyColours();

protected:
    void changeEvent(QEvent* event) override;

private:
    QCPTextElement* title_ = nullptr;
};

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/category_map_chart.h"

#include "views/category_map_painter.h"
#include "views/theme.h"

#include <algorithm>

namespace kerf::views {

CoverageChart::CoverageChart(QWidget* parent) : QCustomPlot(parent) {
    setAccessibleName(QStringLiteral("Coverage of the best composition against batch size"));
    setAccessibleDescription(QStringLiteral("The cells above have the same figures."));
    setMinimumHeight(80);
    title_ =
        new QCPTextElement(this, QStringLiteral("coverage of the best composition"), textFont(10));
    title_->setTextFlags(Qt::AlignLeft | Qt::AlignVCenter);
    plotLayout()->insertRow(0);
    plotLayout()->addElement(0, 0, title_);
    plotLayout()->setRowSpacing(0);
    axisRect()->setMinimumMargins(QMargins(0, 2, 2, 0));

    const QSharedPointer<QCPAxisTickerText> shares(new QCPAxisTickerText);
    shares->addTick(0, QStringLiteral("0"));
    shares->addTick(0.5, QStringLiteral("50 %"));
    shares->addTick(1, QStringLiteral("100 %"));
    yAxis->setTicker(shares);
    yAxis->setRange(-0.05, 1.08);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setTickLabelFont(numberFont(10));
        axis->setSubTicks(false);
        axis->setTickLength(0, 3);
        axis->setTickLabelPadding(3);
        axis->grid()->setVisible(false);
    }
    applyColours();
}

void CoverageChart::setRows(const std::vector<CategoryRow>& rows) {
    clearGraphs();
    const std::vector<int> batches = batchesOf(rows);
    // Batch sizes double: equal steps keep the small ones apart.
    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    for (std::size_t i = 0; i < batches.size(); ++i) {
        ticker->addTick(static_cast<double>(i), QString::number(batches[i]));
    }
    xAxis->setTicker(ticker);
    xAxis->setRange(-0.3, std::max(static_cast<double>(batches.size()) - 0.7, 0.3));
    for (const CategoryRow& row : rows) {
        QCPGraph* curve = addGraph();
        curve->setName(row.model);
        for (std::size_t i = 0; i < batches.size(); ++i) {
            const CategoryCell* cell = cellOf(row, batches[i]);
            if (cell != nullptr && cell->available) {
                curve->addData(static_cast<double>(i), cell->coverage);
            }
        }
    }
    applyColours();
}

void CoverageChart::applyColours() {
    const Theme& theme = currentTheme();
    setBackground(QBrush(theme.panel)); // without a brush QCustomPlot paints black
    title_->setTextColor(theme.muted);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(QPen(theme.line, 1));
        axis->setTickPen(QPen(theme.line, 1));
        axis->setTickLabelColor(theme.muted);
    }
    for (int i = 0; i < graphCount(); ++i) {
        const QPen pen = curvePen(i, theme);
        graph(i)->setPen(pen);
        graph(i)->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(pen.color(), 1), QBrush(pen.color()), 4));
    }
    replot(QCustomPlot::rpQueuedReplot);
}

void CoverageChart::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        applyColours();
    }
}

} // namespace kerf::views

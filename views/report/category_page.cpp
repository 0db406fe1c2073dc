// SPDX-License-Identifier: GPL-3.0-or-later
// Third page: every model at every batch size.
#include "views/category_map_painter.h"
#include "views/drawing.h"
#include "views/report/sections.h"
#include "views/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

constexpr double kChartHeight = 190;
constexpr double kChartLeft = 44;
constexpr double kChartBottom = 24;

void drawMap(Pages& pages, const std::vector<CategoryRow>& rows) {
    const double height = kCategoryHeader + static_cast<double>(rows.size()) * kCategoryRow;
    const QRectF rect = pages.take(height);
    QPainter& p = pages.painter();
    p.save();
    p.translate(rect.topLeft());
    paintCategories(p, categoryPrimitives(rows, {}, rect.width(), pages.theme()), pages.theme());
    p.restore();
    pages.space(6);
    for (const CategoryRow& row : rows) {
        pages.paragraph(QStringLiteral("%1 is %2: %3").arg(row.model, row.category, row.evidence),
                        12);
    }
}

/// Coverage of the best composition over batch size, the batch axis in powers of two.
void drawCurves(Pages& pages, const std::vector<CategoryRow>& rows) {
    const std::vector<int> batches = batchesOf(rows);
    if (batches.size() < 2) {
        return; // a single batch size has no curve
    }
    pages.heading(QStringLiteral("Coverage of the best composition"));
    const Theme& theme = pages.theme();
    const QRectF all = pages.take(kChartHeight);
    const QRectF plot = all.adjusted(kChartLeft, 6, -all.width() * 0.35, -kChartBottom);
    const double first = std::log2(batches.front());
    const double span = std::max(1e-9, std::log2(batches.back()) - first);
    const auto at = [&](int batch, double coverage) {
        return QPointF(plot.left() + (std::log2(batch) - first) / span * plot.width(),
                       plot.bottom() - coverage * plot.height());
    };
    QPainter& p = pages.painter();
    p.setFont(reportNumberFont(10));
    for (const int percent : {0, 50, 100}) {
        const double y = at(batches.front(), percent / 100.0).y();
        p.setPen(QPen(theme.line, 0.8));
        p.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        p.setPen(theme.muted);
        p.drawText(QRectF(all.left(), y - 8, kChartLeft - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                   QStringLiteral("%1 %").arg(percent));
    }
    for (const int batch : batches) {
        const double x = at(batch, 0).x();
        p.drawText(QRectF(x - 30, plot.bottom() + 4, 60, 16), Qt::AlignHCenter | Qt::AlignVCenter,
                   QString::number(batch));
    }
    p.drawText(QRectF(plot.right() + 34, plot.bottom() + 4, 120, 16),
               Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("batch size"));
    double legend = plot.top() + 4;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const QPen pen = curvePen(static_cast<int>(i), theme);
        QPolygonF line;
        for (const int batch : batches) {
            const CategoryCell* cell = cellOf(rows[i], batch);
            if (cell != nullptr && cell->available) {
                line << at(batch, cell->coverage);
            }
        }
        p.setPen(pen);
        p.drawPolyline(line);
        p.setBrush(pen.color());
        for (const QPointF& point : line) {
            p.drawEllipse(point, 2, 2);
        }
        p.setBrush(Qt::NoBrush);
        if (legend < plot.bottom()) {
            p.drawLine(QPointF(plot.right() + 34, legend + 8),
                       QPointF(plot.right() + 66, legend + 8));
            p.setPen(theme.ink);
            p.setFont(reportFont(11));
            drawElided(p, {plot.right() + 74, legend, all.right() - plot.right() - 74, 16},
                       Qt::AlignLeft | Qt::AlignVCenter, rows[i].model);
            legend += 20;
        }
    }
}

void drawEveryModel(Pages& pages, const ReportData& data) {
    pages.heading(QStringLiteral("Every model and batch size"));
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < data.entries.size(); ++i) {
        const ReportEntry& entry = data.entries[i];
        if (entry.result.candidates.empty() || !entry.the_case) {
            continue;
        }
        const auto& best = entry.result.candidates.front();
        const auto against = [&](graph::Kind kind) {
            const auto* other = candidateOf(entry.result, kind);
            if (other == nullptr || other == &best) {
                return other == nullptr ? QStringLiteral("–") : QStringLiteral("best");
            }
            const auto result = bestAgainst(entry, *other);
            return formatSignedPercent(result.difference_us /
                                       std::max(other->prediction.ttfa_us, 1e-9)) +
                   (result.tie ? QStringLiteral(" tie")
                               : QStringLiteral(", P %1").arg(probabilityText(result.p_a_beats_b)));
        };
        rows.push_back(
            {{QString::fromStdString(entry.result.model), QString::number(entry.result.batch),
              QString::fromStdString(best.regions), formatTime(best.prediction.ttfa_us),
              intervalText(best.prediction.ttfa_interval_us), against(graph::Kind::Conventional),
              against(graph::Kind::Monolith),
              QStringLiteral("%1 %").arg(best.prediction.coverage * 100, 0, 'f', 0)},
             i == data.chosen});
    }
    pages.table({{QStringLiteral("model"), 1.5},
                 {QStringLiteral("batch"), 0.6, true},
                 {QStringLiteral("best composition"), 2},
                 {QStringLiteral("time"), 0.9, true},
                 {QStringLiteral("90 % interval"), 1.4, true},
                 {QStringLiteral("to conventional"), 1.6, true},
                 {QStringLiteral("to monolith"), 1.6, true},
                 {QStringLiteral("coverage"), 0.8, true}},
                rows);
}

} // namespace

void drawCategories(Pages& pages, const ReportData& data) {
    pages.startSection(QStringLiteral("Categories"));
    pages.heading(QStringLiteral("How the best composition moves with batch size"));
    if (data.categories.empty()) {
        pages.paragraph(QStringLiteral("No category: it takes several batch sizes of a model."), 12,
                        true);
    } else {
        drawMap(pages, data.categories);
        drawCurves(pages, data.categories);
    }
    drawEveryModel(pages, data);
}

} // namespace kerf::views

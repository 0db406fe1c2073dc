// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/category_map_painter.h"

#include "views/drawing.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <array>

namespace kerf::views {
namespace {

constexpr double kCellHeight = 22;
constexpr double kCellGap = 3;
constexpr double kInset = 3;
constexpr double kSwatch = 18;

/// Darker with coverage; never so light that it is lost on the panel.
QColor stretchColour(double coverage, const Theme& theme) {
    QColor colour = theme.accent;
    colour.setAlphaF(static_cast<float>(0.55 + 0.45 * std::clamp(coverage, 0.0, 1.0)));
    return colour;
}

} // namespace

QPen curvePen(int row, const Theme& theme) {
    const std::array<QColor, 4> colours{theme.accent, theme.better, theme.worse, theme.muted};
    constexpr std::array kStyles{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine,
                                 Qt::DashDotDotLine};
    QPen pen(colours[static_cast<std::size_t>(row) % colours.size()], 1);
    pen.setStyle(kStyles[static_cast<std::size_t>(row) % kStyles.size()]);
    return pen;
}

std::vector<CategoryPrimitive> categoryPrimitives(const std::vector<CategoryRow>& rows,
                                                  const CategoryGridState& state, double width,
                                                  const Theme& theme) {
    using Kind = CategoryPrimitive::Kind;
    std::vector<CategoryPrimitive> out;
    const std::vector<int> batches = batchesOf(rows);
    if (batches.empty()) {
        return out;
    }
    const auto add = [&](Kind kind, QRectF rect, QColor colour, QString text, int row, int batch) {
        out.push_back({kind, rect, colour, std::move(text), row, batch, {}});
    };
    const double column = width / static_cast<double>(batches.size());
    for (std::size_t i = 0; i < batches.size(); ++i) {
        add(Kind::Batch, {static_cast<double>(i) * column, 0, column, kCategoryHeader}, theme.muted,
            QString::number(batches[i]), -1, batches[i]);
    }
    for (int r = 0; r < static_cast<int>(rows.size()); ++r) {
        const CategoryRow& row = rows[static_cast<std::size_t>(r)];
        const double top = kCategoryHeader + r * kCategoryRow;
        const QFontMetricsF metrics(textFont(12, QFont::DemiBold));
        const double categoryWidth =
            std::min(metrics.horizontalAdvance(row.category) + 4, width * 0.5);
        add(Kind::Model, {0, top, width - categoryWidth - 8, 20}, theme.ink, row.model, r, 0);
        out.back().line = curvePen(r, theme);
        add(Kind::Category, {width - categoryWidth, top, categoryWidth, 20}, theme.accent,
            row.category, r, 0);
        for (std::size_t i = 0; i < batches.size(); ++i) {
            const QRectF rect(static_cast<double>(i) * column + kCellGap / 2, top + 21,
                              column - kCellGap, kCellHeight);
            const CategoryCell* cell = cellOf(row, batches[i]);
            const bool available = cell != nullptr && cell->available;
            add(Kind::Cell, rect, available ? theme.soft : QColor(Qt::transparent),
                available ? QString() : QStringLiteral("–"), r, batches[i]);
            if (available) {
                const QRectF inner = rect.adjusted(kInset, kInset, -kInset, -kInset);
                for (const auto& [from, to] : megakernelStretches(*cell)) {
                    // A hair of room between two megakernels shows the cut.
                    const double left = inner.left() + from * inner.width();
                    const double right = inner.left() + to * inner.width();
                    add(Kind::Stretch,
                        {left, inner.top(), std::max(right - left - 1, 1.0), inner.height()},
                        stretchColour(cell->coverage, theme), {}, r, batches[i]);
                }
                if (cell->tie) {
                    add(Kind::Tie, rect, theme.muted, {}, r, batches[i]);
                }
            }
            const bool current =
                row.model == state.current_model && batches[i] == state.current_batch;
            const bool focused = r == state.focus_row && batches[i] == state.focus_batch;
            if (current || focused) {
                add(Kind::Outline, rect, focused ? theme.accent : theme.ink, {}, r, batches[i]);
            }
        }
    }
    return out;
}

void paintCategories(QPainter& painter, const std::vector<CategoryPrimitive>& primitives,
                     const Theme& theme) {
    using Kind = CategoryPrimitive::Kind;
    painter.setRenderHint(QPainter::Antialiasing);
    for (const CategoryPrimitive& p : primitives) {
        switch (p.kind) {
        case Kind::Batch:
            painter.setFont(numberFont(11));
            painter.setPen(p.colour);
            drawElided(painter, p.rect, Qt::AlignCenter, p.text);
            break;
        case Kind::Model: {
            painter.setPen(p.line);
            const double y = p.rect.center().y();
            painter.drawLine(QPointF(p.rect.left(), y), QPointF(p.rect.left() + kSwatch, y));
            painter.setFont(textFont(12, QFont::DemiBold));
            painter.setPen(p.colour);
            drawElided(painter, p.rect.adjusted(kSwatch + 6, 0, 0, 0),
                       Qt::AlignLeft | Qt::AlignVCenter, p.text);
            break;
        }
        case Kind::Category:
            painter.setFont(textFont(12, QFont::DemiBold));
            painter.setPen(p.colour);
            drawElided(painter, p.rect, Qt::AlignRight | Qt::AlignVCenter, p.text);
            break;
        case Kind::Cell:
            painter.setPen(QPen(theme.line, 1, p.text.isEmpty() ? Qt::SolidLine : Qt::DashLine));
            painter.setBrush(p.colour);
            painter.drawRoundedRect(p.rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
            painter.setFont(textFont(11));
            painter.setPen(theme.muted);
            painter.drawText(p.rect, Qt::AlignCenter, p.text);
            break;
        case Kind::Stretch:
            painter.fillRect(p.rect, p.colour);
            break;
        case Kind::Tie:
            drawHatch(painter, p.rect.adjusted(1, 1, -1, -1), p.colour);
            break;
        case Kind::Outline:
            painter.setPen(QPen(p.colour, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(p.rect, 3, 3);
            break;
        }
    }
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/report/pages.h"

#include "views/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

constexpr double kMargin = 48;
constexpr double kTop = 84;    ///< content starts here
constexpr double kBottom = 52; ///< and ends here above the page's end
constexpr double kCellPadding = 8;
constexpr double kRowPadding = 3;
constexpr int kTablePx = 11;
constexpr int kWrapped = Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop;

double cellWidth(const std::vector<TableColumn>& columns, std::size_t index, double width) {
    double sum = 0;
    for (const TableColumn& column : columns) {
        sum += column.weight;
    }
    return columns[index].weight / sum * width;
}

QFont cellFont(const TableColumn& column, bool strong) {
    return column.number ? reportNumberFont(kTablePx, strong)
                         : reportFont(kTablePx, strong ? QFont::DemiBold : QFont::Normal);
}

} // namespace

QFont reportFont(int px, QFont::Weight weight) {
    QFont font = textFont(px, weight);
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

QFont reportNumberFont(int px, bool bold) {
    QFont font = numberFont(px, bold);
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

Pages::Pages(QPainter& painter, PageFrame frame, std::function<void()> newPage)
    : painter_(painter), frame_(std::move(frame)), new_page_(std::move(newPage)) {}

const Theme& Pages::theme() const {
    return Theme::light(); // paper is white whatever the window looks like
}

double Pages::left() const {
    return kMargin;
}

double Pages::width() const {
    return kPageWidth - 2 * kMargin;
}

double Pages::spaceLeft() const {
    return kPageHeight - kBottom - y_;
}

void Pages::startPage(const QString& title) {
    title_ = title;
    if (page_ > 0) {
        new_page_();
    }
    ++page_;
    y_ = kTop;
    drawFrame();
}

void Pages::startSection(const QString& title) {
    if (spaceLeft() < (kPageHeight - kTop - kBottom) / 2) {
        startPage(title);
        return;
    }
    title_ = title; // of the pages to come
}

void Pages::drawFrame() {
    const Theme& colours = theme();
    painter_.setPen(colours.muted);
    painter_.setFont(reportFont(11));
    painter_.drawText(QRectF(kMargin, 28, width(), 18), Qt::AlignLeft | Qt::AlignVCenter,
                      frame_.left);
    painter_.setFont(reportFont(11, QFont::DemiBold));
    painter_.drawText(QRectF(kMargin, 28, width(), 18), Qt::AlignRight | Qt::AlignVCenter, title_);
    painter_.setPen(QPen(colours.line, 1));
    painter_.drawLine(QPointF(kMargin, 52), QPointF(kPageWidth - kMargin, 52));
    painter_.setPen(colours.muted);
    painter_.setFont(reportFont(11));
    const QRectF footer(kMargin, kPageHeight - 40, width(), 18);
    painter_.drawText(footer, Qt::AlignLeft | Qt::AlignVCenter, frame_.footer);
    painter_.drawText(
        footer, Qt::AlignRight | Qt::AlignVCenter,
        QStringLiteral("page %1 of %2").arg(page_).arg(std::max(frame_.count, page_)));
}

QRectF Pages::take(double height) {
    if (height > spaceLeft() && y_ > kTop) {
        startPage(title_);
    }
    const QRectF rect(kMargin, y_, width(), height);
    y_ += height;
    return rect;
}

double Pages::textHeight(const QString& text, const QFont& font, double width) const {
    const QFontMetricsF metrics(font, painter_.device());
    return std::ceil(metrics.boundingRect(QRectF(0, 0, width, 1e5), kWrapped, text).height());
}

void Pages::heading(const QString& text) {
    // A heading never stands alone at a page's end.
    if (spaceLeft() < 90) {
        startPage(title_);
    } else if (y_ > kTop) {
        y_ += 14;
    }
    const QRectF rect = take(24);
    painter_.setFont(reportFont(14, QFont::DemiBold));
    painter_.setPen(theme().ink);
    painter_.drawText(rect, Qt::AlignLeft | Qt::AlignTop, text);
}

void Pages::paragraph(const QString& text, int px, bool muted) {
    const QFont font = reportFont(px);
    const double height = textHeight(text, font, width());
    const QRectF rect = take(height + 4);
    painter_.setFont(font);
    painter_.setPen(muted ? theme().muted : theme().ink);
    painter_.drawText(rect, kWrapped, text);
}

double Pages::rowHeight(const std::vector<TableColumn>& columns, const TableRow& row) const {
    double height = 0;
    for (std::size_t i = 0; i < columns.size() && i < static_cast<std::size_t>(row.cells.size());
         ++i) {
        const double inner = cellWidth(columns, i, width()) - 2 * kCellPadding;
        height = std::max(height, textHeight(row.cells[static_cast<qsizetype>(i)],
                                             cellFont(columns[i], row.strong), inner));
    }
    return height + 2 * kRowPadding;
}

void Pages::tableRow(const std::vector<TableColumn>& columns, const TableRow& row, double height) {
    const QRectF rect = take(height);
    if (row.strong) {
        painter_.fillRect(rect, theme().soft);
    }
    double x = rect.left();
    painter_.setPen(theme().ink);
    for (std::size_t i = 0; i < columns.size() && i < static_cast<std::size_t>(row.cells.size());
         ++i) {
        const double cell = cellWidth(columns, i, rect.width());
        painter_.setFont(cellFont(columns[i], row.strong));
        const QRectF inner(x + kCellPadding, rect.top() + kRowPadding, cell - 2 * kCellPadding,
                           height);
        const int side = columns[i].number ? Qt::AlignRight : Qt::AlignLeft;
        painter_.drawText(inner, side | Qt::AlignTop | Qt::TextWordWrap,
                          row.cells[static_cast<qsizetype>(i)]);
        x += cell;
    }
    painter_.setPen(QPen(theme().line, 0.6));
    painter_.drawLine(rect.bottomLeft(), rect.bottomRight());
}

void Pages::tableHeader(const std::vector<TableColumn>& columns) {
    const QRectF rect = take(20);
    painter_.setFont(reportFont(kTablePx, QFont::DemiBold));
    painter_.setPen(theme().muted);
    double x = rect.left();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double cell = cellWidth(columns, i, rect.width());
        const int side = columns[i].number ? Qt::AlignRight : Qt::AlignLeft;
        painter_.drawText(QRectF(x + kCellPadding, rect.top(), cell - 2 * kCellPadding, 18),
                          side | Qt::AlignVCenter | Qt::TextSingleLine, columns[i].title);
        x += cell;
    }
    painter_.setPen(QPen(theme().muted, 0.8));
    painter_.drawLine(rect.bottomLeft(), rect.bottomRight());
}

void Pages::table(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows) {
    if (spaceLeft() < 60) {
        startPage(title_);
    }
    tableHeader(columns);
    for (const TableRow& row : rows) {
        const double height = rowHeight(columns, row);
        if (height > spaceLeft()) {
            startPage(title_);
            tableHeader(columns);
        }
        tableRow(columns, row, height);
    }
    y_ += 6;
}

} // namespace kerf::views

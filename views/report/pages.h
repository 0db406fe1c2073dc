// SPDX-License-Identifier: GPL-3.0-or-later
// A cursor over the pages of a report: headings, text and tables flow down and over page breaks.
#pragma once

#include <QPainter>
#include <QRectF>
#include <QString>
#include <QStringList>

#include <functional>
#include <vector>

namespace kerf::views {

struct Theme;

/// A4 landscape in 1/96 inch.
inline constexpr double kPageWidth = 1123;
inline constexpr double kPageHeight = 794;

struct TableColumn {
    QString title;
    double weight = 1;   ///< share of the width
    bool number = false; ///< right-aligned, figures of equal width
};

struct TableRow {
    QStringList cells;
    bool strong = false; ///< bold, on a soft ground
};

/// Words around every page.
struct PageFrame {
    QString left;   ///< upper left: what the report is about
    QString footer; ///< lower left
    int count = 0;  ///< pages in all; 0: not known yet
};

class Pages {
public:
    /// `newPage` is called before every page but the first.
    Pages(QPainter& painter, PageFrame frame, std::function<void()> newPage);

    void startPage(const QString& title);
    /// Goes on below where more than half of the page is free, else starts a page.
    void startSection(const QString& title);
    [[nodiscard]] int count() const { return page_; }
    [[nodiscard]] QPainter& painter() { return painter_; }
    [[nodiscard]] const Theme& theme() const;

    /// The next `height` of the page over the whole width; a new page where it does not fit.
    QRectF take(double height);
    void space(double height) { y_ += height; }
    [[nodiscard]] double left() const;
    [[nodiscard]] double width() const;
    [[nodiscard]] double spaceLeft() const;

    void heading(const QString& text);
    /// Wrapped text; `px` its size.
    void paragraph(const QString& text, int px = 12, bool muted = false);
    void table(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows);

    /// Wrapped text in a rectangle of this width: its height.
    [[nodiscard]] double textHeight(const QString& text, const QFont& font, double width) const;

private:
    void drawFrame();
    void tableRow(const std::vector<TableColumn>& columns, const TableRow& row, double height);
    [[nodiscard]] double rowHeight(const std::vector<TableColumn>& columns,
                                   const TableRow& row) const;
    void tableHeader(const std::vector<TableColumn>& columns);

    QPainter& painter_;
    PageFrame frame_;
    std::function<void()> new_page_;
    QString title_;
    int page_ = 0;
    double y_ = 0;
};

/// Fonts without hinting: letters stay apart as designed at any zoom.
[[nodiscard]] QFont reportFont(int px, QFont::Weight weight = QFont::Normal);
[[nodiscard]] QFont reportNumberFont(int px, bool bold = false);

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/category_map_grid.h"

#include "views/drawing.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace kerf::views {
namespace {

QString describe(const CategoryRow& row, const CategoryCell* cell, int batch) {
    const QString where = QStringLiteral("%1, batch %2: ").arg(row.model).arg(batch);
    if (cell == nullptr || !cell->available) {
        return where + QStringLiteral("not recorded or not searched yet");
    }
    QString text =
        where + QStringLiteral("%1 % inside megakernels").arg(cell->coverage * 100, 0, 'f', 0);
    if (cell->tie) {
        text += QStringLiteral(", ties with others");
    }
    return cell->toolTip.isEmpty() ? text : text + u'\n' + cell->toolTip;
}

} // namespace

CategoryGrid::CategoryGrid(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(QStringLiteral("Category map"));
}

void CategoryGrid::setRows(const std::vector<CategoryRow>& rows) {
    rows_ = rows;
    keyboard_row_ = std::clamp(keyboard_row_, 0, std::max(static_cast<int>(rows.size()) - 1, 0));
    QString summary;
    for (const CategoryRow& row : rows_) {
        summary += row.model + QStringLiteral(": ") + row.category + QStringLiteral(". ") +
                   row.evidence + u' ';
    }
    setAccessibleDescription(summary.trimmed());
    updateGeometry();
    update();
}

void CategoryGrid::setCurrent(const QString& model, int batch) {
    state_.current_model = model;
    state_.current_batch = batch;
    update();
}

std::vector<CategoryPrimitive> CategoryGrid::primitives() const {
    return categoryPrimitives(rows_, state_, width() - 1, currentTheme());
}

QSize CategoryGrid::sizeHint() const {
    const auto rows = static_cast<double>(std::max<std::size_t>(rows_.size(), 1));
    return {320, static_cast<int>(kCategoryHeader + kCategoryRow * rows)};
}

QSize CategoryGrid::minimumSizeHint() const {
    return {160, sizeHint().height()};
}

const CategoryPrimitive* CategoryGrid::find(const std::vector<CategoryPrimitive>& primitives,
                                            QPointF position) const {
    using Kind = CategoryPrimitive::Kind;
    for (const CategoryPrimitive& p : primitives) {
        if ((p.kind == Kind::Cell || p.kind == Kind::Model || p.kind == Kind::Category) &&
            p.rect.adjusted(-1, 0, 2, 0).contains(position)) {
            return &p;
        }
    }
    return nullptr;
}

QString CategoryGrid::toolTipAt(QPointF position) const {
    const std::vector<CategoryPrimitive> all = primitives();
    const CategoryPrimitive* at = find(all, position);
    if (at == nullptr) {
        return {};
    }
    const CategoryRow& row = rows_[static_cast<std::size_t>(at->row)];
    if (at->kind == CategoryPrimitive::Kind::Cell) {
        return describe(row, cellOf(row, at->batch), at->batch);
    }
    return row.model + QStringLiteral(": ") + row.category + u'\n' + row.evidence;
}

bool CategoryGrid::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QString text = toolTipAt(QPointF(help->pos())).toHtmlEscaped();
        text.replace(u'\n', QStringLiteral("<br>"));
        QToolTip::showText(help->globalPos(),
                           text.isEmpty() ? text : QStringLiteral("<qt>%1</qt>").arg(text), this);
        return true;
    }
    return QWidget::event(event);
}

void CategoryGrid::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (rows_.empty()) {
        drawEmptyState(painter, rect(), QStringLiteral("No categories yet"),
                       QStringLiteral("Open recordings of several batch sizes and search: each "
                                      "model gets a row."));
        return;
    }
    paintCategories(painter, primitives(), currentTheme());
}

void CategoryGrid::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        update();
    }
}

void CategoryGrid::activate(int row, int batch) {
    const CategoryRow& r = rows_[static_cast<std::size_t>(row)];
    const CategoryCell* cell = cellOf(r, batch);
    if (cell != nullptr) {
        emit cellActivated(r.model, batch);
    }
}

void CategoryGrid::mouseReleaseEvent(QMouseEvent* event) {
    const std::vector<CategoryPrimitive> all = primitives();
    const CategoryPrimitive* at = find(all, event->position());
    if (event->button() == Qt::LeftButton && at != nullptr &&
        at->kind == CategoryPrimitive::Kind::Cell) {
        const std::vector<int> batches = batchesOf(rows_);
        keyboard_row_ = at->row;
        keyboard_column_ = static_cast<int>(std::find(batches.begin(), batches.end(), at->batch) -
                                            batches.begin());
        activate(at->row, at->batch);
    }
}

void CategoryGrid::mouseMoveEvent(QMouseEvent* event) {
    const std::vector<CategoryPrimitive> all = primitives();
    const CategoryPrimitive* at = find(all, event->position());
    if (at != nullptr && at->kind == CategoryPrimitive::Kind::Cell) {
        setCursor(Qt::PointingHandCursor);
    } else {
        unsetCursor();
    }
}

void CategoryGrid::focusCell(int row, int column) {
    const std::vector<int> batches = batchesOf(rows_);
    if (batches.empty()) {
        return;
    }
    keyboard_row_ = std::clamp(row, 0, static_cast<int>(rows_.size()) - 1);
    keyboard_column_ = std::clamp(column, 0, static_cast<int>(batches.size()) - 1);
    state_.focus_row = keyboard_row_;
    state_.focus_batch = batches[static_cast<std::size_t>(keyboard_column_)];
    update();
}

void CategoryGrid::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Left:
        focusCell(keyboard_row_, keyboard_column_ - 1);
        break;
    case Qt::Key_Right:
        focusCell(keyboard_row_, keyboard_column_ + 1);
        break;
    case Qt::Key_Up:
        focusCell(keyboard_row_ - 1, keyboard_column_);
        break;
    case Qt::Key_Down:
        focusCell(keyboard_row_ + 1, keyboard_column_);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        if (state_.focus_row >= 0) {
            activate(state_.focus_row, state_.focus_batch);
        }
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void CategoryGrid::focusInEvent(QFocusEvent* event) {
    if (event->reason() != Qt::MouseFocusReason) {
        focusCell(keyboard_row_, keyboard_column_);
    }
}

void CategoryGrid::focusOutEvent(QFocusEvent*) {
    state_.focus_row = -1;
    update();
}

} // namespace kerf::views

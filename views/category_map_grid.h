// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of the category map: painting, pointer and keyboard.
#pragma once

#include "views/category_map_painter.h"

#include <QWidget>

namespace kerf::views {

class CategoryGrid : public QWidget {
    Q_OBJECT
public:
    explicit CategoryGrid(QWidget* parent = nullptr);

    void setRows(const std::vector<CategoryRow>& rows);
    void setCurrent(const QString& model, int batch);
    [[nodiscard]] std::vector<CategoryPrimitive> primitives() const;
    [[nodiscard]] QString toolTipAt(QPointF position) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void cellActivated(const QString& model, int batch);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] const CategoryPrimitive* find(const std::vector<CategoryPrimitive>& primitives,
                                                QPointF position) const;
    void focusCell(int row, int column);
    void activate(int row, int batch);

    std::vector<CategoryRow> rows_;
    CategoryGridState state_;
    int keyboard_row_ = 0;
    int keyboard_column_ = 0;
};

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// The composition strip: the path as blocks, regions on top, handles to drag between them.
//
// Mouse: drag a handle; click a region, handle or loop label to select it; a click on a loop label
// that can be cut switches it; double click on a region switches its mode, on the blocks splits
// there; right click opens a menu.
// Keys: Tab and Shift+Tab, Up and Down walk through regions, handles and loops. Left and Right move
// the selected handle by one site (with Ctrl or Alt: always the handle, also the nearest one when
// something else is selected), else they walk too. Home and End go to the first and last. S splits,
// M merges, C switches the mode (of a loop: cut each iteration or fused), Esc cancels a drag.
// "Here" is where the mouse was moved last or what the keyboard selected last, whichever is later.
#pragma once

#include "core/search/predictor.h"
#include "views/composition_strip_painter.h"

#include <QPixmap>
#include <QPointer>
#include <QWidget>
#include <memory>

class QMenu;

namespace kerf::views {

class CompositionStrip : public QWidget {
    Q_OBJECT
public:
    explicit CompositionStrip(QWidget* parent = nullptr);

    /// What is cut; null shows the empty state. Ends a drag. Cuts that the new chain lacks are left
    /// out of the composition.
    void setCase(std::shared_ptr<const search::Case> theCase);
    /// Shows a composition; no signal. Ends a drag if it is another one than shown.
    void setComposition(const graph::Composition& composition);
    [[nodiscard]] const graph::Composition& composition() const { return state_.composition; }

    [[nodiscard]] const StripLayout& stripLayout() const { return layout_; }
    [[nodiscard]] const StripState& state() const { return state_; }
    /// Everything drawn now, fixed part first.
    [[nodiscard]] std::vector<StripPrimitive> primitives() const;
    /// What the pointer at `position` would explain.
    [[nodiscard]] QString toolTipAt(QPointF position) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

public slots:
    void splitAtSelection();
    void mergeAtSelection();
    void toggleModeAtSelection();

signals:
    /// Every change while a handle is dragged, and the old composition again when it is cancelled.
    void compositionEdited(const kerf::graph::Composition& composition);
    /// Once an edit is done: release, key, split, merge, mode switch.
    void compositionCommitted(const kerf::graph::Composition& before,
                              const kerf::graph::Composition& after);
    /// Where the dragged handle stands or the pointer hovers over one; -1: none.
    void siteHovered(int site);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool focusNextPrevChild(bool next) override;

private:
    [[nodiscard]] const graph::Chain* chain() const;
    [[nodiscard]] bool dragging() const { return state_.dragged.has_value(); }
    [[nodiscard]] std::optional<graph::SiteIndex> handleAt(QPointF position) const;
    [[nodiscard]] const StripLoop* loopAt(QPointF position) const;
    [[nodiscard]] StripSelection targetAt(QPointF position) const;
    [[nodiscard]] StripSelection target() const;
    [[nodiscard]] std::vector<StripSelection> selectable() const;
    [[nodiscard]] double xOfSelection(const StripSelection& selection) const;
    [[nodiscard]] std::optional<graph::SiteIndex> siteToSplit() const;
    [[nodiscard]] std::optional<graph::SiteIndex> cutToMerge() const;
    void relayout();
    void present(graph::Composition composition);
    void commit(graph::Composition after, const StripSelection& selection);
    void select(const StripSelection& selection);
    bool walk(int direction, bool around);
    void moveHandle(int direction);
    void toggleLoop(graph::SiteIndex backSite);
    void hoverAt(QPointF position);
    void dragTo(double x);
    void cancelDrag();
    void describe();

    std::shared_ptr<const search::Case> case_;
    StripLayout layout_;
    StripRows rows_;
    std::vector<StripRegion> regions_;
    StripState state_;
    graph::Composition before_drag_;
    double grab_offset_ = 0;  ///< pointer to handle when it was pressed
    QPointF pointer_;         ///< where the mouse was last
    bool by_keyboard_ = true; ///< "here" is the selection, not the pointer
    QPixmap fixed_;           ///< the fixed primitives; null: draw them again
    QPointer<QMenu> menu_;    ///< the open context menu
};

} // namespace kerf::views

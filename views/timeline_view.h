// SPDX-License-Identifier: GPL-3.0-or-later
// One recorded request above, the simulated candidate below, one time axis.
#pragma once

#include "views/timeline_painter.h"

#include <QWidget>

#include <memory>

namespace kerf::views {

/// Mouse: wheel zooms about the cursor, Shift+wheel or a sideways wheel pans, dragging lanes pans,
/// dragging the ruler (or Shift+drag) selects, dragging in the overview moves the window, double
/// click fits, right click copies. Keys: W/S or Up/Down zoom, A/D or Left/Right pan, Home/End, F or
/// 0 fits, M zooms to the selection, Esc drops it, Ctrl+C copies what is under the cursor.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);

    /// Null: nothing recorded. Keeps the visible range where both totals allow it.
    void setRecorded(std::shared_ptr<const search::Case> theCase);
    void setPredicted(const TimelinePredicted& predicted);
    void clearPredicted();
    void zoomToFit();

    [[nodiscard]] TimeRange visibleRange() const { return scene_.range; }
    void setVisibleRange(const TimeRange& range);
    [[nodiscard]] std::optional<TimeRange> selection() const { return scene_.selection; }
    [[nodiscard]] TimelineLayout currentLayout() const;
    [[nodiscard]] double fittingSpan_us() const;
    /// What a tooltip says at a point.
    [[nodiscard]] QString describeAt(const QPointF& point) const;

    [[nodiscard]] QSize sizeHint() const override { return {1000, 320}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {320, 180}; }

signals:
    void visibleRangeChanged(double start_us, double end_us);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    enum class Drag : std::uint8_t { None, Pan, Select, Overview };

    void contentChanged(bool fitted);
    void copyAt(const QPointF& point) const;

    TimelineScene scene_;
    std::unique_ptr<TimelineRecorded> recorded_;
    std::unique_ptr<TimelinePredicted> predicted_;
    Drag drag_ = Drag::None;
    QPointF drag_from_;
    TimeRange range_at_press_;
    std::optional<TimeRange> selection_at_press_;
};

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline_view.h"

#include "views/drawing.h"
#include "views/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

constexpr double kMargin = 12;
constexpr double kWheelStep = 120; ///< one notch, eighths of a degree
constexpr double kZoomPerNotch = 1.25;
constexpr double kZoomPerKey = 1.5;
constexpr double kPanPerKey = 0.15;  ///< of the visible span
constexpr double kRightSpace = 1.04; ///< a little room behind the last output
constexpr double kLeastSelection_px = 3;

} // namespace

TimelineView::TimelineView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    contentChanged(true);
}

double TimelineView::fittingSpan_us() const {
    return scene_.total_us() * kRightSpace;
}

void TimelineView::setRecorded(std::shared_ptr<const search::Case> theCase) {
    const bool fitted = scene_.range.span_us() >= fittingSpan_us() * 0.999;
    recorded_ = theCase ? std::make_unique<TimelineRecorded>(recordedOf(*theCase)) : nullptr;
    scene_.recorded = recorded_.get();
    scene_.output_name =
        theCase && theCase->audio_ms_per_path > 0 ? tr("first audio") : tr("first output");
    contentChanged(fitted);
}

void TimelineView::setPredicted(const TimelinePredicted& predicted) {
    const bool fitted = scene_.range.span_us() >= fittingSpan_us() * 0.999;
    predicted_ = std::make_unique<TimelinePredicted>(predicted);
    scene_.predicted = predicted_.get();
    if (scene_.output_name.isEmpty()) {
        scene_.output_name = tr("first output");
    }
    contentChanged(fitted);
}

void TimelineView::clearPredicted() {
    const bool fitted = scene_.range.span_us() >= fittingSpan_us() * 0.999;
    scene_.predicted = nullptr;
    predicted_.reset();
    contentChanged(fitted);
}

void TimelineView::contentChanged(bool fitted) {
    if (fitted) {
        zoomToFit();
    } else {
        setVisibleRange(scene_.range);
    }
    QString summary;
    if (scene_.recorded != nullptr) {
        summary += tr("Recorded: %1 after %2. ")
                       .arg(scene_.output_name, formatTime(scene_.recorded->total_us));
    }
    if (scene_.predicted != nullptr) {
        summary += tr("Predicted: %1 after %2 in %3 launches.")
                       .arg(scene_.output_name, formatTime(scene_.predicted->total_us))
                       .arg(scene_.predicted->launches.size());
    }
    setAccessibleDescription(summary.isEmpty() ? tr("Nothing recorded yet.") : summary);
    update();
}

void TimelineView::zoomToFit() {
    setVisibleRange({0, fittingSpan_us()});
}

void TimelineView::setVisibleRange(const TimeRange& range) {
    const TimeRange next = clamped(range, fittingSpan_us());
    if (next == scene_.range) {
        return;
    }
    scene_.range = next;
    update();
    emit visibleRangeChanged(next.start_us, next.end_us);
}

TimelineLayout TimelineView::currentLayout() const {
    return layoutOf(scene_, QRectF(rect()).adjusted(kMargin, 4, -kMargin, -4));
}

QString TimelineView::describeAt(const QPointF& point) const {
    const TimelineHit hit = hitAt(scene_, currentLayout(), point);
    return hit.isEmpty() ? QString() : hit.title + '\n' + hit.text;
}

bool TimelineView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = describeAt(help->pos());
        if (text.isEmpty()) {
            QToolTip::hideText();
        } else {
            QToolTip::showText(help->globalPos(), text, this);
        }
        return true;
    }
    return QWidget::event(event);
}

void TimelineView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = currentTheme();
    painter.fillRect(rect(), theme.panel);
    if (scene_.isEmpty()) {
        drawEmptyState(painter, rect(), tr("Recorded and predicted execution on one time axis"),
                       tr("Open a project or drop a trace here."));
        return;
    }
    paintTimeline(painter, scene_, currentLayout(), theme);
    if (hasFocus()) {
        painter.setPen(QPen(theme.accent, 1));
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    const TimelineLayout at = currentLayout();
    const QPoint delta = event->angleDelta();
    const double span = scene_.range.span_us();
    if (event->modifiers().testFlag(Qt::ShiftModifier) ||
        std::abs(delta.x()) > std::abs(delta.y())) {
        const double notches =
            (std::abs(delta.x()) > std::abs(delta.y()) ? delta.x() : delta.y()) / kWheelStep;
        setVisibleRange(panned(scene_.range, -notches * span * kPanPerKey, fittingSpan_us()));
    } else if (delta.y() != 0) {
        const double about = std::clamp(at.axis.timeAt(event->position().x()),
                                        scene_.range.start_us, scene_.range.end_us);
        setVisibleRange(zoomed(scene_.range, std::pow(kZoomPerNotch, delta.y() / kWheelStep), about,
                               fittingSpan_us()));
    }
    event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || scene_.isEmpty()) {
        return QWidget::mousePressEvent(event);
    }
    const TimelineLayout at = currentLayout();
    drag_from_ = event->position();
    range_at_press_ = scene_.range;
    selection_at_press_ = scene_.selection;
    if (at.overview.contains(drag_from_)) {
        drag_ = Drag::Overview;
        const double time = at.overview_axis.timeAt(drag_from_.x());
        if (time < scene_.range.start_us || time > scene_.range.end_us) {
            setVisibleRange(panned(scene_.range,
                                   time - (scene_.range.start_us + scene_.range.end_us) / 2,
                                   fittingSpan_us()));
            range_at_press_ = scene_.range;
        }
    } else if (at.ruler.contains(drag_from_) || event->modifiers().testFlag(Qt::ShiftModifier)) {
        drag_ = Drag::Select;
    } else {
        drag_ = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    const TimelineLayout at = currentLayout();
    const double moved_px = event->position().x() - drag_from_.x();
    const auto range_before = TimeAxis{range_at_press_, at.axis.left_px, at.axis.width_px};
    switch (drag_) {
    case Drag::None:
        return;
    case Drag::Pan:
        setVisibleRange(
            panned(range_at_press_, -moved_px * range_before.us_per_px(), fittingSpan_us()));
        return;
    case Drag::Overview:
        setVisibleRange(
            panned(range_at_press_, moved_px * at.overview_axis.us_per_px(), fittingSpan_us()));
        return;
    case Drag::Select:
        break;
    }
    if (std::abs(moved_px) >= kLeastSelection_px) {
        const double a =
            at.axis.timeAt(std::clamp(drag_from_.x(), at.lanes.left(), at.lanes.right()));
        const double b =
            at.axis.timeAt(std::clamp(event->position().x(), at.lanes.left(), at.lanes.right()));
        scene_.selection = TimeRange{std::min(a, b), std::max(a, b)};
        update();
    }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (drag_ == Drag::Select &&
        std::abs(event->position().x() - drag_from_.x()) < kLeastSelection_px) {
        scene_.selection.reset();
        update();
    }
    drag_ = Drag::None;
    unsetCursor();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        drag_ = Drag::None;
        zoomToFit();
    }
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    const double span = scene_.range.span_us();
    const double middle = (scene_.range.start_us + scene_.range.end_us) / 2;
    const double total = fittingSpan_us();
    if (event->matches(QKeySequence::Copy)) {
        return copyAt(mapFromGlobal(QCursor::pos()));
    }
    switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Up:
    case Qt::Key_Plus:
        return setVisibleRange(zoomed(scene_.range, kZoomPerKey, middle, total));
    case Qt::Key_S:
    case Qt::Key_Down:
    case Qt::Key_Minus:
        return setVisibleRange(zoomed(scene_.range, 1 / kZoomPerKey, middle, total));
    case Qt::Key_A:
    case Qt::Key_Left:
        return setVisibleRange(panned(scene_.range, -span * kPanPerKey, total));
    case Qt::Key_D:
    case Qt::Key_Right:
        return setVisibleRange(panned(scene_.range, span * kPanPerKey, total));
    case Qt::Key_Home:
        return setVisibleRange(panned(scene_.range, -total, total));
    case Qt::Key_End:
        return setVisibleRange(panned(scene_.range, total, total));
    case Qt::Key_F:
    case Qt::Key_0:
        return zoomToFit();
    case Qt::Key_M:
        if (scene_.selection) {
            setVisibleRange(*scene_.selection);
        }
        return;
    case Qt::Key_Escape:
        if (drag_ != Drag::None) {
            const Drag cancelled = std::exchange(drag_, Drag::None);
            unsetCursor();
            scene_.selection = selection_at_press_;
            if (cancelled != Drag::Select) {
                setVisibleRange(range_at_press_);
            }
        } else if (scene_.selection) {
            scene_.selection.reset();
        } else {
            return QWidget::keyPressEvent(event);
        }
        return update();
    default:
        return QWidget::keyPressEvent(event);
    }
}

void TimelineView::copyAt(const QPointF& point) const {
    const QString text = describeAt(point);
    QApplication::clipboard()->setText(text.isEmpty() ? accessibleDescription() : text);
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QString text = describeAt(event->pos());
    auto* copy = menu->addAction(text.isEmpty() ? tr("Copy summary") : tr("Copy description"));
    connect(copy, &QAction::triggered, this, [this, at = event->pos()] { copyAt(at); });
    connect(menu->addAction(tr("Copy picture")), &QAction::triggered, this,
            [this] { QApplication::clipboard()->setPixmap(grab()); });
    menu->addSeparator();
    connect(menu->addAction(tr("Fit\tF")), &QAction::triggered, this, &TimelineView::zoomToFit);
    menu->popup(event->globalPos());
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        update();
    }
    QWidget::changeEvent(event);
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline_painter.h"

#include "views/drawing.h"
#include "views/theme.h"
#include "views/timeline_rects.h"

#include <QFontMetricsF>

#include <algorithm>

namespace kerf::views {
namespace {

constexpr double kTickSpacing_px = 90;
constexpr double kLeastOutlined_px = 4;
constexpr double kLabelRowHeight = 16;

class Painter {
public:
    Painter(QPainter& painter, const TimelineScene& scene, const TimelineLayout& layout,
            const Theme& theme)
        : p_(painter), scene_(scene), layout_(layout), theme_(theme) {}

    void paint() {
        if (scene_.has_overview) {
            paintOverview();
        }
        paintRuler();
        p_.save();
        p_.setClipRect(layout_.lanes, Qt::IntersectClip);
        paintSelection();
        p_.restore();
        for (const TimelineRow& row : layout_.rows) {
            paintLabel(row);
            p_.save();
            p_.setClipRect(row.lane, Qt::IntersectClip);
            paintLane(row);
            p_.restore();
        }
        paintOutputs();
    }

private:
    void paintOverview() {
        p_.fillRect(layout_.overview, theme_.soft);
        const TimeAxis& axis = layout_.overview_axis;
        const double half = layout_.overview.height() / 2;
        if (scene_.recorded != nullptr) {
            for (const auto& lane : scene_.recorded->streams) {
                fill(rectsOf(lane.slices, scene_.recorded->details, axis),
                     {layout_.overview.left(), layout_.overview.top() + 2, 0, half - 3}, 0.55);
            }
        }
        if (scene_.predicted != nullptr) {
            for (const auto& launch : scene_.predicted->launches) {
                const double left = axis.xOf(launch.start_us);
                const double right = axis.xOf(launch.end_us);
                QColor colour = theme_.muted;
                colour.setAlphaF(launch.mode == graph::Mode::Megakernel ? 0.8F : 0.35F);
                p_.fillRect(QRectF(left, layout_.overview.top() + half + 1,
                                   std::max(0.5, right - left - 0.5), half - 3),
                            colour);
            }
        }
        const double left = axis.xOf(scene_.range.start_us);
        const double right = axis.xOf(scene_.range.end_us);
        p_.setPen(QPen(theme_.accent, 1.5));
        p_.setBrush(Qt::NoBrush);
        const QRectF window(left, layout_.overview.top() + 0.75, std::max(3.0, right - left),
                            layout_.overview.height() - 1.5);
        p_.drawRoundedRect(window.intersected(layout_.overview), 3, 3);
    }

    void paintRuler() {
        p_.setFont(numberFont(11));
        const QFontMetricsF metrics(p_.font());
        for (const Tick& tick : ticksOf(layout_.axis, kTickSpacing_px)) {
            const double x = layout_.axis.xOf(tick.time_us);
            p_.setPen(QPen(theme_.line, 1));
            p_.drawLine(QPointF(x, layout_.ruler.bottom() - 3),
                        QPointF(x, layout_.predicted_bottom_px));
            const double width = metrics.horizontalAdvance(tick.label);
            if (x + 3 + width <= layout_.ruler.right()) {
                p_.setPen(theme_.muted);
                p_.drawText(QRectF(x + 3, layout_.ruler.top(), width + 1, layout_.ruler.height()),
                            Qt::AlignLeft | Qt::AlignVCenter, tick.label);
            }
        }
    }

    void paintSelection() {
        if (!scene_.selection) {
            return;
        }
        const double left = layout_.axis.xOf(scene_.selection->start_us);
        const double right = layout_.axis.xOf(scene_.selection->end_us);
        QColor colour = theme_.accent;
        colour.setAlphaF(0.14F);
        const QRectF rect(left, layout_.lanes.top(), right - left,
                          layout_.predicted_bottom_px - layout_.lanes.top());
        p_.fillRect(rect, colour);
        p_.setFont(numberFont(11, true));
        p_.setPen(theme_.accent);
        drawElided(p_, {rect.left() + 4, rect.top(), rect.width() - 8, kLabelRowHeight},
                   Qt::AlignHCenter | Qt::AlignVCenter,
                   formatTime(right > left ? spanOfSelection() : 0));
    }
    double spanOfSelection() const { return scene_.selection->span_us(); }

    void paintLabel(const TimelineRow& row) {
        const double width = row.lane.left() - layout_.labels_left_px - 6;
        QRectF rect(layout_.labels_left_px, row.lane.top(), width, row.lane.height());
        if (row.kind == RowKind::Header) {
            p_.setFont(textFont(11, QFont::DemiBold));
            p_.setPen(theme_.muted);
            p_.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, row.label);
            p_.setFont(textFont(11));
            const double noteWidth = QFontMetricsF(p_.font()).horizontalAdvance(row.note) + 8;
            const QRectF note(row.lane.left() + 1, row.lane.top(),
                              std::min(noteWidth, row.lane.width() - 4), row.lane.height());
            if (!row.note.isEmpty()) {
                p_.fillRect(note, theme_.panel); // no grid line through the words
                drawElided(p_, note.adjusted(2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                           row.note);
            }
            return;
        }
        if (row.lane.height() < 10) {
            return; // no room for a letter: the tooltip tells
        }
        p_.setFont(textFont(12));
        p_.setPen(theme_.muted);
        // Letters may reach into the gaps around a thin lane.
        drawElided(p_, rect.adjusted(0, -3, 0, 3), Qt::AlignLeft | Qt::AlignVCenter, row.label);
    }

    void paintLane(const TimelineRow& row) {
        switch (row.kind) {
        case RowKind::Header:
            return;
        case RowKind::Stages:
            return paintStages(row.lane);
        case RowKind::Stream:
            return fill(rectsOf(scene_.recorded->streams[row.index].slices,
                                scene_.recorded->details, layout_.axis),
                        row.lane, 1);
        case RowKind::Copies:
            return fill(
                rectsOf(scene_.recorded->copies.slices, scene_.recorded->details, layout_.axis),
                row.lane, 1);
        case RowKind::Regions:
            return paintRegions(row.lane);
        case RowKind::Kernels:
            return fill(
                rectsOf(scene_.predicted->kernels.slices, scene_.predicted->details, layout_.axis),
                row.lane, 1);
        case RowKind::Workers:
            return paintWorkers(row);
        }
    }

    /// Rectangles in a lane; wide ones leave a hair of ground between them.
    void fill(const std::vector<LaneRect>& rects, const QRectF& lane, double opacity) {
        for (const LaneRect& rect : rects) {
            QColor colour = theme_.op(rect.op_class);
            colour.setAlphaF(static_cast<float>(opacity));
            const double seam = rect.width_px > 3 ? 0.75 : 0;
            p_.fillRect(QRectF(rect.left_px, lane.top() + rect.top * lane.height(),
                               rect.width_px - seam, rect.height * lane.height()),
                        colour);
        }
    }

    void paintStages(const QRectF& lane) {
        const auto& stages = scene_.recorded->stages.slices;
        double drawn_to = -1;
        std::size_t i = firstEndingAfter(stages, scene_.range.start_us);
        for (; i < stages.size() && stages[i].start_us < scene_.range.end_us; ++i) {
            const QRectF rect = bandRect(stages[i].start_us, stages[i].end_us, lane);
            if (rect.right() < drawn_to + 1) {
                continue;
            }
            paintBand(rect, false);
            drawn_to = rect.right();
        }
        // One label a run of the same stage, so that short steps are named as well.
        p_.setFont(textFont(11));
        p_.setPen(theme_.ink);
        for (i = firstEndingAfter(stages, scene_.range.start_us);
             i < stages.size() && stages[i].start_us < scene_.range.end_us;) {
            std::size_t end = i + 1;
            while (end < stages.size() && stages[end].detail == stages[i].detail) {
                ++end;
            }
            QString name = QString::fromStdString(scene_.recorded->details[stages[i].detail].title);
            const QRectF one = bandRect(stages[i].start_us, stages[i].end_us, lane);
            const bool each = QFontMetricsF(p_.font()).horizontalAdvance(name) + 10 < one.width();
            if (each) {
                for (; i < end && stages[i].start_us < scene_.range.end_us; ++i) {
                    drawLabel(bandRect(stages[i].start_us, stages[i].end_us, lane), name);
                }
            } else {
                const QRectF run = bandRect(stages[i].start_us, stages[end - 1].end_us, lane);
                if (end - i > 1) {
                    name += QStringLiteral(" ×%1").arg(end - i);
                }
                drawLabel(run, name, end - i > 1);
            }
            i = end;
        }
    }

    void paintRegions(const QRectF& lane) {
        const auto& launches = scene_.predicted->launches;
        const auto [first, last] = visibleLaunches(launches, scene_.range);
        double drawn_to = -1;
        p_.setFont(textFont(11));
        for (std::size_t i = first; i < last; ++i) {
            const RegionLaunch& launch = launches[i];
            const QRectF rect = bandRect(launch.start_us, launch.end_us, lane);
            if (rect.right() < drawn_to + 1) {
                continue;
            }
            const bool conventional = launch.mode == graph::Mode::Conventional;
            paintBand(rect, !conventional);
            if (conventional) {
                drawHatch(p_, rect, theme_.line);
            }
            p_.setPen(conventional ? theme_.muted : theme_.ink);
            drawLabel(rect, QString::fromStdString(scene_.predicted->region_labels[launch.region]),
                      false, conventional);
            drawn_to = rect.right();
        }
    }

    void paintWorkers(const TimelineRow& row) {
        const auto& predicted = *scene_.predicted;
        const auto [first, last] = visibleLaunches(predicted.launches, scene_.range);
        QColor hatch = theme_.muted;
        hatch.setAlphaF(0.45F);
        for (std::size_t i = first; i < last; ++i) {
            const RegionLaunch& launch = predicted.launches[i];
            if (launch.mode == graph::Mode::Conventional) {
                continue;
            }
            const double origin = launch.start_us + launch.boundary_us;
            if (launch.picture < 0) {
                drawHatch(p_, bandRect(origin, launch.end_us, row.lane), hatch);
                continue;
            }
            for (const auto& [from, to] :
                 predicted.pictures[static_cast<std::size_t>(launch.picture)].unrecorded_us) {
                drawHatch(p_, bandRect(origin + from, origin + to, row.lane), hatch);
            }
        }
        const bool rows = drawsTileRows(predicted, row.index, layout_.axis, row.lane.height());
        fill(rows ? tileRects(predicted, row.index, layout_.axis)
                  : busyRects(predicted, row.index, layout_.axis),
             row.lane, 1);
    }

    void paintOutputs() {
        const bool both = scene_.recorded != nullptr && scene_.predicted != nullptr;
        if (scene_.recorded != nullptr) {
            const bool slower = both && scene_.recorded->total_us > scene_.predicted->total_us;
            paintOutput(scene_.recorded->total_us, layout_.recorded_bottom_px,
                        slower ? theme_.worse : theme_.ink);
        }
        if (scene_.predicted != nullptr) {
            const bool faster = !both || scene_.predicted->total_us <= scene_.recorded->total_us;
            paintOutput(scene_.predicted->total_us, layout_.predicted_bottom_px,
                        faster ? theme_.better : theme_.worse);
        }
    }

    void paintOutput(double time_us, double bottom_px, const QColor& colour) {
        const double x = layout_.axis.xOf(time_us);
        if (x < layout_.lanes.left() - 0.5 || x > layout_.lanes.right() + 0.5) {
            return;
        }
        p_.setPen(QPen(colour, 1.5));
        p_.drawLine(QPointF(x, layout_.ruler.bottom() - 4),
                    QPointF(x, bottom_px + kLabelRowHeight));
        p_.setFont(numberFont(12, true));
        const QString text = QStringLiteral("%1 %2").arg(scene_.output_name, formatTime(time_us));
        const double width = QFontMetricsF(p_.font()).horizontalAdvance(text) + 2;
        const bool right = x + 6 + width <= layout_.lanes.right();
        const QRectF rect(right ? x + 6 : x - 6 - width, bottom_px, width, kLabelRowHeight);
        p_.fillRect(rect, theme_.panel);
        p_.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
    }

    QRectF bandRect(double start_us, double end_us, const QRectF& lane) const {
        const double left = std::max(layout_.axis.xOf(start_us), lane.left());
        const double right = std::min(layout_.axis.xOf(end_us), lane.right());
        return {left, lane.top(), std::max(right - left, 0.0), lane.height()};
    }

    void paintBand(const QRectF& rect, bool strong) {
        if (rect.width() < kLeastOutlined_px) {
            p_.fillRect(
                QRectF(rect.left(), rect.top(), std::max(1.0, rect.width() - 0.5), rect.height()),
                strong ? theme_.muted : theme_.line);
            return;
        }
        p_.setPen(QPen(strong ? theme_.ink : theme_.line, 1));
        p_.setBrush(theme_.soft);
        const double radius = std::min(3.0, rect.width() / 4);
        p_.drawRoundedRect(rect.adjusted(0.5, 0.5, -1, -0.5), radius, radius);
        p_.setBrush(Qt::NoBrush);
    }

    void drawLabel(const QRectF& rect, const QString& text, bool onGround = false,
                   bool onHatch = false) {
        const QFontMetricsF metrics(p_.font());
        const QString shown = metrics.elidedText(text, Qt::ElideRight, rect.width() - 10);
        if (rect.height() < 12 || (shown != text && shown.size() < 4)) {
            return;
        }
        const QPen pen = p_.pen();
        if (onGround || onHatch) {
            const double width = metrics.horizontalAdvance(shown) + 6;
            p_.fillRect(QRectF(rect.left() + 2, rect.top() + 2, std::min(width, rect.width() - 4),
                               rect.height() - 4),
                        theme_.soft);
        }
        p_.setPen(onGround ? QPen(theme_.ink) : pen);
        p_.drawText(rect.adjusted(5, 0, -2, 0),
                    Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
    }

    QPainter& p_;
    const TimelineScene& scene_;
    const TimelineLayout& layout_;
    const Theme& theme_;
};

} // namespace

void paintTimeline(QPainter& painter, const TimelineScene& scene, const TimelineLayout& layout,
                   const Theme& theme) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    Painter(painter, scene, layout, theme).paint();
    painter.restore();
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline as a picture: where its rows lie, and how they are painted on screen and in the
// report.
#pragma once

#include "views/time_range.h"
#include "views/timeline_model.h"

#include <QPainter>
#include <QRectF>
#include <QString>

#include <optional>
#include <vector>

namespace kerf::views {

struct Theme;

enum class RowKind : std::uint8_t { Header, Stages, Stream, Copies, Regions, Kernels, Workers };

/// A row of the timeline, its label at the left and its lane beside it.
struct TimelineRow {
    RowKind kind = RowKind::Header;
    std::size_t index = 0; ///< streams: which; workers: group
    QString label;
    QString note; ///< headers only
    QRectF lane;  ///< where the slices go
    bool recorded = false;
};

/// What is to be painted. Pointers may be null: that part is not there (yet).
struct TimelineScene {
    const TimelineRecorded* recorded = nullptr;
    const TimelinePredicted* predicted = nullptr;
    TimeRange range;
    std::optional<TimeRange> selection;
    bool has_overview = true;
    QString output_name; ///< "first audio", "first output"
    [[nodiscard]] double total_us() const;
    [[nodiscard]] bool isEmpty() const { return recorded == nullptr && predicted == nullptr; }
};

struct TimelineLayout {
    QRectF overview; ///< empty without one
    QRectF ruler;
    QRectF lanes; ///< all lanes together
    double labels_left_px = 0;
    std::vector<TimelineRow> rows;
    TimeAxis axis;          ///< of the lanes
    TimeAxis overview_axis; ///< whole request
    double recorded_bottom_px = 0;
    double predicted_bottom_px = 0;
};

/// Rows from top to bottom in `area`. Worker lanes take the height that is left; where there is too
/// little, lanes get thinner and streams beyond the third share the last lane's place (left out).
[[nodiscard]] TimelineLayout layoutOf(const TimelineScene& scene, const QRectF& area);

void paintTimeline(QPainter& painter, const TimelineScene& scene, const TimelineLayout& layout,
                   const Theme& theme);

/// What lies at a point of the timeline, for tooltips and copying. Empty where nothing does.
struct TimelineHit {
    QString title;
    QString text; ///< lines "name: value"
    double start_us = 0;
    double end_us = 0;
    [[nodiscard]] bool isEmpty() const { return title.isEmpty(); }
};
[[nodiscard]] TimelineHit hitAt(const TimelineScene& scene, const TimelineLayout& layout,
                                const QPointF& point);

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// Slices and tiles as rectangles of a lane, thinned out to pixels. No painting.
#pragma once

#include "views/time_range.h"
#include "views/timeline_model.h"

#include <vector>

namespace kerf::views {

/// A filled rectangle in a lane: x in pixels, y as a share of the lane's height.
struct LaneRect {
    double left_px = 0;
    double width_px = 0;
    double top = 0;    ///< 0: the lane's upper edge
    double height = 1; ///< 1: the whole lane
    workload::OpClass op_class = workload::OpClass::Elementwise;
    bool operator==(const LaneRect&) const = default;
};

/// The visible slices. A slice of a pixel or more is a rectangle of its own; narrower ones share
/// one rectangle a pixel column, in the class of the longest of them. Time grows with the pixels,
/// not with the slices. `slices` sorted by start, as good as free of overlaps.
[[nodiscard]] std::vector<LaneRect> rectsOf(const std::vector<TimelineSlice>& slices,
                                            const std::vector<TimelineDetail>& details,
                                            const TimeAxis& axis);

/// Index of the first slice that ends after `time_us`.
[[nodiscard]] std::size_t firstEndingAfter(const std::vector<TimelineSlice>& slices,
                                           double time_us);
/// The launches that overlap the range, as [first, last).
[[nodiscard]] std::pair<std::size_t, std::size_t>
visibleLaunches(const std::vector<RegionLaunch>& launches, const TimeRange& range);

/// A worker group as one bar a pixel column: height = mean share of its workers that are busy,
/// class = the one that most of them run. Equal neighbours are joined.
[[nodiscard]] std::vector<LaneRect> busyRects(const TimelinePredicted& predicted, std::size_t group,
                                              const TimeAxis& axis);

/// A worker group as one row a worker, at most one rectangle a pixel column and row.
[[nodiscard]] std::vector<LaneRect> tileRects(const TimelinePredicted& predicted, std::size_t group,
                                              const TimeAxis& axis);

/// Rows a worker are drawn where they are at least two pixels high and the visible tiles few
/// enough.
[[nodiscard]] bool drawsTileRows(const TimelinePredicted& predicted, std::size_t group,
                                 const TimeAxis& axis, double laneHeight_px);

} // namespace kerf::views

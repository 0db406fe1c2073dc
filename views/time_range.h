// SPDX-License-Identifier: GPL-3.0-or-later
// A stretch of time on an axis: zoom, pan, pixels and ticks. No widgets.
#pragma once

#include <QString>

#include <vector>

namespace kerf::views {

/// The visible part of a time axis. µs, end > start.
struct TimeRange {
    double start_us = 0;
    double end_us = 1;
    [[nodiscard]] double span_us() const { return end_us - start_us; }
    bool operator==(const TimeRange&) const = default;
};

/// Less than this is never shown: a tenth of a nanosecond a pixel helps nobody.
inline constexpr double kLeastSpan_us = 0.05;

/// `range` moved and, where needed, shortened so that it lies within 0…`total_us` and is at least
/// kLeastSpan_us long.
[[nodiscard]] TimeRange clamped(TimeRange range, double total_us);
/// Span divided by `factor` (> 1: closer), the time `about_us` staying where it is on screen.
[[nodiscard]] TimeRange zoomed(TimeRange range, double factor, double about_us, double total_us);
[[nodiscard]] TimeRange panned(TimeRange range, double by_us, double total_us);

/// A range laid out over pixels.
struct TimeAxis {
    TimeRange range;
    double left_px = 0;
    double width_px = 1;
    [[nodiscard]] double xOf(double time_us) const {
        return left_px + (time_us - range.start_us) / range.span_us() * width_px;
    }
    [[nodiscard]] double timeAt(double x_px) const {
        return range.start_us + (x_px - left_px) / width_px * range.span_us();
    }
    [[nodiscard]] double us_per_px() const { return range.span_us() / width_px; }
};

struct Tick {
    double time_us = 0;
    QString label;
};
/// Ticks at 1, 2 or 5 × 10ⁿ, at least `leastSpacing_px` apart, labelled in s, ms, µs or ns by their
/// step.
[[nodiscard]] std::vector<Tick> ticksOf(const TimeAxis& axis, double leastSpacing_px);

} // namespace kerf::views

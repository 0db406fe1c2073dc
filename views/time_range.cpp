// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/time_range.h"

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

struct Unit {
    double us;
    const char* name;
};

Unit unitFor(double magnitude_us) {
    if (magnitude_us >= 1e6) {
        return {1e6, "s"};
    }
    if (magnitude_us >= 1e3) {
        return {1e3, "ms"};
    }
    if (magnitude_us >= 1) {
        return {1, "µs"};
    }
    return {1e-3, "ns"};
}

/// The least of 1, 2, 5 × 10ⁿ that is not below `value`.
double niceStep(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * decade >= value * (1 - 1e-9)) {
            return factor * decade;
        }
    }
    return 10 * decade;
}

} // namespace

TimeRange clamped(TimeRange range, double total_us) {
    const double total = std::max(total_us, kLeastSpan_us);
    const double span = std::clamp(range.span_us(), kLeastSpan_us, total);
    const double start = std::clamp(range.start_us, 0.0, total - span);
    return {start, start + span};
}

TimeRange zoomed(TimeRange range, double factor, double about_us, double total_us) {
    const double total = std::max(total_us, kLeastSpan_us);
    const double span = std::clamp(range.span_us() / factor, kLeastSpan_us, total);
    const double share = (about_us - range.start_us) / range.span_us();
    const double start = about_us - share * span;
    return clamped({start, start + span}, total_us);
}

TimeRange panned(TimeRange range, double by_us, double total_us) {
    return clamped({range.start_us + by_us, range.end_us + by_us}, total_us);
}

std::vector<Tick> ticksOf(const TimeAxis& axis, double leastSpacing_px) {
    std::vector<Tick> ticks;
    if (axis.width_px < leastSpacing_px || axis.range.span_us() <= 0) {
        return ticks;
    }
    const double step = niceStep(axis.us_per_px() * leastSpacing_px);
    // The unit that gives labels without needless zeros: 500 µs steps read better as 0.5 ms.
    const Unit unit = unitFor(step * 10);
    const double digits = std::ceil(-std::log10(step / unit.us) - 1e-9);
    const int decimals = std::clamp(static_cast<int>(digits), 0, 6);
    const double first = std::ceil(axis.range.start_us / step - 1e-9);
    const double last = std::floor(axis.range.end_us / step + 1e-9);
    for (double k = first; k <= last; ++k) {
        const double time = k * step;
        ticks.push_back({time, QStringLiteral("%1 %2")
                                   .arg(time / unit.us, 0, 'f', decimals)
                                   .arg(QString::fromUtf8(unit.name))});
    }
    return ticks;
}

} // namespace kerf::views

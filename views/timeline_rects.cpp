// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline_rects.h"

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

/// Slices looked at to find the class of a pixel column.
constexpr std::size_t kSamplesPerColumn = 8;
/// More tiles than this are not drawn as rows: a frame must stay short.
constexpr std::size_t kMostTilesInRows = 150'000;
/// Busy shares are rounded to this many steps, so that equal neighbours can be joined.
constexpr double kShareSteps = 16;

workload::OpClass classOf(const std::vector<TimelineDetail>& details, std::uint32_t index) {
    return index < details.size() ? details[index].op_class : workload::OpClass::Elementwise;
}

/// Class of the longest of evenly spaced slices in [begin, end).
workload::OpClass classOfColumn(const std::vector<TimelineSlice>& slices,
                                const std::vector<TimelineDetail>& details, std::size_t begin,
                                std::size_t end) {
    const std::size_t step = std::max<std::size_t>(1, (end - begin) / kSamplesPerColumn);
    std::size_t longest = begin;
    for (std::size_t i = begin; i < end; i += step) {
        if (slices[i].end_us - slices[i].start_us >
            slices[longest].end_us - slices[longest].start_us) {
            longest = i;
        }
    }
    return classOf(details, slices[longest].detail);
}

void append(std::vector<LaneRect>& rects, const LaneRect& rect) {
    if (!rects.empty()) {
        LaneRect& last = rects.back();
        const bool touches = std::abs(last.left_px + last.width_px - rect.left_px) < 1e-6;
        if (touches && last.op_class == rect.op_class && last.top == rect.top &&
            last.height == rect.height) {
            last.width_px += rect.width_px;
            return;
        }
    }
    rects.push_back(rect);
}

int workersOfGroup(const RegionPicture& picture, std::size_t group) {
    return firstWorkerOf(group + 1, picture.workers) - firstWorkerOf(group, picture.workers);
}

/// The launch as its tiles see it: after the boundary.
double tilesStart_us(const RegionLaunch& launch) {
    return launch.start_us + launch.boundary_us;
}

/// Tiles of a group that may overlap [from, to), µs from the region's start.
std::pair<std::size_t, std::size_t> tilesBetween(const RegionPicture& picture, std::size_t group,
                                                 double from_us, double to_us) {
    const auto& tiles = picture.tiles[group];
    const auto first = std::ranges::lower_bound(
        tiles, static_cast<float>(from_us) - picture.longest_tile_us, {}, &TimelineTile::start_us);
    const auto last =
        std::ranges::lower_bound(tiles, static_cast<float>(to_us), {}, &TimelineTile::start_us);
    return {static_cast<std::size_t>(first - tiles.begin()),
            static_cast<std::size_t>(std::max(first, last) - tiles.begin())};
}

/// Share of a group's workers busy by class, one cell a pixel column.
class Columns {
public:
    explicit Columns(const TimeAxis& axis)
        : axis_(axis), count_(static_cast<std::size_t>(std::ceil(axis.width_px))),
          cells_(count_ * kOpClasses, 0.0) {}

    void add(double start_us, double end_us, double share, std::size_t op_class) {
        const double limit = static_cast<double>(count_);
        const double first = std::clamp(axis_.xOf(start_us) - axis_.left_px, 0.0, limit);
        const double last = std::clamp(axis_.xOf(end_us) - axis_.left_px, 0.0, limit);
        for (auto column = static_cast<std::size_t>(first); static_cast<double>(column) < last;
             ++column) {
            const double from = std::max(first, static_cast<double>(column));
            const double to = std::min(last, static_cast<double>(column + 1));
            cells_[column * kOpClasses + op_class] += (to - from) * share;
        }
    }

    std::vector<LaneRect> rects() const {
        std::vector<LaneRect> rects;
        for (std::size_t column = 0; column < count_; ++column) {
            const auto* cell = &cells_[column * kOpClasses];
            double sum = 0;
            std::size_t most = 0;
            for (std::size_t k = 0; k < kOpClasses; ++k) {
                sum += cell[k];
                most = cell[k] > cell[most] ? k : most;
            }
            if (sum < 1e-3) {
                continue;
            }
            const double share =
                std::clamp(std::ceil(sum * kShareSteps - 1e-6) / kShareSteps, 0.0, 1.0);
            append(rects, {axis_.left_px + static_cast<double>(column), 1, 1 - share, share,
                           static_cast<workload::OpClass>(most)});
        }
        return rects;
    }

private:
    TimeAxis axis_;
    std::size_t count_;
    std::vector<double> cells_;
};

void addProfile(Columns& columns, const RegionPicture& picture, std::size_t group, double origin_us,
                double workers) {
    const auto& bins = picture.profile.workers[group];
    const double perBin = picture.length_us / static_cast<double>(kProfileBins);
    for (std::size_t bin = 0; bin < kProfileBins && !bins.empty(); ++bin) {
        for (std::size_t k = 0; k < kOpClasses; ++k) {
            if (const float busy = bins[bin * kOpClasses + k]; busy > 0) {
                const double start = origin_us + static_cast<double>(bin) * perBin;
                columns.add(start, start + perBin, static_cast<double>(busy) / workers, k);
            }
        }
    }
}

} // namespace

std::size_t firstEndingAfter(const std::vector<TimelineSlice>& slices, double time_us) {
    const auto found = std::ranges::partition_point(
        slices, [&](const TimelineSlice& s) { return s.end_us <= time_us; });
    return static_cast<std::size_t>(found - slices.begin());
}

std::pair<std::size_t, std::size_t> visibleLaunches(const std::vector<RegionLaunch>& launches,
                                                    const TimeRange& range) {
    const auto first = std::ranges::partition_point(
        launches, [&](const RegionLaunch& l) { return l.end_us <= range.start_us; });
    const auto last = std::ranges::partition_point(
        launches, [&](const RegionLaunch& l) { return l.start_us < range.end_us; });
    return {static_cast<std::size_t>(first - launches.begin()),
            static_cast<std::size_t>(std::max(first, last) - launches.begin())};
}

std::vector<LaneRect> rectsOf(const std::vector<TimelineSlice>& slices,
                              const std::vector<TimelineDetail>& details, const TimeAxis& axis) {
    std::vector<LaneRect> rects;
    const double right_px = axis.left_px + axis.width_px;
    std::size_t i = firstEndingAfter(slices, axis.range.start_us);
    while (i < slices.size() && slices[i].start_us < axis.range.end_us) {
        const double left = std::max(axis.xOf(slices[i].start_us), axis.left_px);
        const double right = std::min(axis.xOf(slices[i].end_us), right_px);
        if (right - left >= 1) {
            rects.push_back({left, right - left, 0, 1, classOf(details, slices[i].detail)});
            ++i;
            continue;
        }
        // Too narrow for a rectangle of its own: everything that starts in this pixel column.
        const double column = std::floor(left - axis.left_px) + axis.left_px;
        const double next_us = axis.timeAt(column + 1);
        const auto begin = slices.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end =
            std::ranges::lower_bound(begin, slices.end(), next_us, {}, &TimelineSlice::start_us);
        const auto last = std::max(i + 1, static_cast<std::size_t>(end - slices.begin()));
        // A slice that reaches well beyond the column gets its own rectangle.
        const bool wide = last > i + 1 && axis.xOf(slices[last - 1].end_us) - column >= 2;
        const std::size_t stop = wide ? last - 1 : last;
        append(rects, {column, 1, 0, 1, classOfColumn(slices, details, i, std::max(stop, i + 1))});
        i = std::max(stop, i + 1);
    }
    return rects;
}

std::vector<LaneRect> busyRects(const TimelinePredicted& predicted, std::size_t group,
                                const TimeAxis& axis) {
    Columns columns(axis);
    const auto [first, last] = visibleLaunches(predicted.launches, axis.range);
    for (std::size_t i = first; i < last; ++i) {
        const RegionLaunch& launch = predicted.launches[i];
        if (launch.picture < 0) {
            continue;
        }
        const auto& picture = predicted.pictures[static_cast<std::size_t>(launch.picture)];
        const double workers = std::max(1, workersOfGroup(picture, group));
        const double origin = tilesStart_us(launch);
        // Bins where they are finer than pixels and fewer than the tiles; else the tiles
        // themselves.
        const double width_px = picture.length_us / axis.us_per_px();
        const auto tileCount = static_cast<double>(picture.tiles[group].size());
        if (width_px < static_cast<double>(kProfileBins) / 2 && tileCount > 2 * width_px + 64) {
            addProfile(columns, picture, group, origin, workers);
            continue;
        }
        const auto [begin, end] =
            tilesBetween(picture, group, axis.range.start_us - origin, axis.range.end_us - origin);
        for (std::size_t t = begin; t < end; ++t) {
            const TimelineTile& tile = picture.tiles[group][t];
            columns.add(origin + static_cast<double>(tile.start_us),
                        origin + static_cast<double>(tile.end_us), 1 / workers,
                        static_cast<std::size_t>(predicted.details[tile.detail].op_class));
        }
    }
    return columns.rects();
}

std::vector<LaneRect> tileRects(const TimelinePredicted& predicted, std::size_t group,
                                const TimeAxis& axis) {
    std::vector<LaneRect> rects;
    const auto [first, last] = visibleLaunches(predicted.launches, axis.range);
    std::vector<double> drawn_to; // per worker: right edge of what its row holds so far
    for (std::size_t i = first; i < last; ++i) {
        const RegionLaunch& launch = predicted.launches[i];
        if (launch.picture < 0) {
            continue;
        }
        const auto& picture = predicted.pictures[static_cast<std::size_t>(launch.picture)];
        const int firstWorker = firstWorkerOf(group, picture.workers);
        const int rows = std::max(1, workersOfGroup(picture, group));
        const double origin = tilesStart_us(launch);
        drawn_to.assign(static_cast<std::size_t>(rows), axis.left_px - 1);
        const auto [begin, end] =
            tilesBetween(picture, group, axis.range.start_us - origin, axis.range.end_us - origin);
        for (std::size_t t = begin; t < end; ++t) {
            const TimelineTile& tile = picture.tiles[group][t];
            const int row = std::clamp(static_cast<int>(tile.worker) - firstWorker, 0, rows - 1);
            auto& edge = drawn_to[static_cast<std::size_t>(row)];
            const double left =
                std::max(axis.xOf(origin + static_cast<double>(tile.start_us)), axis.left_px);
            const double right = std::min(axis.xOf(origin + static_cast<double>(tile.end_us)),
                                          axis.left_px + axis.width_px);
            if (right <= left || (right - left < 1 && left < edge)) {
                continue;
            }
            const double width = std::max(1.0, right - left);
            rects.push_back({left, width, static_cast<double>(row) / rows, 1.0 / rows,
                             predicted.details[tile.detail].op_class});
            edge = left + width;
        }
    }
    return rects;
}

bool drawsTileRows(const TimelinePredicted& predicted, std::size_t group, const TimeAxis& axis,
                   double laneHeight_px) {
    const auto [first, last] = visibleLaunches(predicted.launches, axis.range);
    std::size_t tiles = 0;
    for (std::size_t i = first; i < last; ++i) {
        const RegionLaunch& launch = predicted.launches[i];
        if (launch.picture < 0) {
            continue;
        }
        const auto& picture = predicted.pictures[static_cast<std::size_t>(launch.picture)];
        if (laneHeight_px < 2 * workersOfGroup(picture, group)) {
            return false;
        }
        const double origin = tilesStart_us(launch);
        const auto [begin, end] =
            tilesBetween(picture, group, axis.range.start_us - origin, axis.range.end_us - origin);
        tiles += end - begin;
        if (tiles > kMostTilesInRows) {
            return false;
        }
    }
    return tiles > 0;
}

} // namespace kerf::views

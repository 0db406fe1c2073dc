// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/drawing.h"
#include "views/timeline_painter.h"
#include "views/timeline_rects.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

/// Near enough to a slice narrower than a pixel.
constexpr double kReach_px = 2;

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

QString threeNumbers(const std::array<std::uint32_t, 3>& v) {
    return v[1] <= 1 && v[2] <= 1 ? QString::number(v[0])
                                  : QStringLiteral("%1,%2,%3").arg(v[0]).arg(v[1]).arg(v[2]);
}

void addTimes(QStringList& lines, double start_us, double end_us) {
    lines << QStringLiteral("start: %1").arg(formatTime(start_us))
          << QStringLiteral("duration: %1").arg(formatTime(end_us - start_us));
}

void addOp(QStringList& lines, const TimelineDetail& detail, bool lowered) {
    if (!detail.stage.empty()) {
        lines.prepend(QStringLiteral("stage: %1").arg(text(detail.stage)));
    }
    if (!detail.role.empty()) {
        lines << QStringLiteral("role: %1").arg(text(detail.role));
    }
    if (!detail.kernel.empty()) {
        lines << QStringLiteral("%1: %2").arg(lowered ? "stands for" : "kernel",
                                              text(detail.kernel));
    }
    if (detail.block[0] > 0) {
        lines << (lowered ? QStringLiteral("tiles: %1, %2 threads a worker")
                                .arg(detail.grid[0])
                                .arg(detail.block[0])
                          : QStringLiteral("grid × block: %1 × %2")
                                .arg(threeNumbers(detail.grid), threeNumbers(detail.block)));
        lines
            << QStringLiteral("registers: %1 a thread").arg(detail.registers)
            << QStringLiteral("shared memory: %1 KiB").arg(detail.shared_bytes / 1024.0, 0, 'f', 1);
    }
    if (detail.bytes > 0) {
        lines << QStringLiteral("bytes: %1").arg(detail.bytes);
    }
}

TimelineHit sliceHit(const std::vector<TimelineSlice>& slices,
                     const std::vector<TimelineDetail>& details, const TimeAxis& axis, double time,
                     bool lowered) {
    const double reach = kReach_px * axis.us_per_px();
    std::size_t best = slices.size();
    double nearest = reach;
    for (std::size_t i = firstEndingAfter(slices, time - reach);
         i < slices.size() && slices[i].start_us <= time + reach; ++i) {
        const double off = std::max({slices[i].start_us - time, time - slices[i].end_us, 0.0});
        if (best == slices.size() || off < nearest) {
            best = i;
            nearest = off;
        }
        if (nearest == 0) {
            break;
        }
    }
    if (best == slices.size()) {
        return {};
    }
    const TimelineSlice& slice = slices[best];
    const TimelineDetail& detail = details[slice.detail];
    QStringList lines;
    addTimes(lines, slice.start_us, slice.end_us);
    addOp(lines, detail, lowered);
    return {text(detail.title), lines.join('\n'), slice.start_us, slice.end_us};
}

const RegionLaunch* launchAt(const TimelinePredicted& predicted, double time_us) {
    const auto [first, last] =
        visibleLaunches(predicted.launches, {time_us, std::nextafter(time_us, INFINITY)});
    return first < last ? &predicted.launches[first] : nullptr;
}

TimelineHit regionHit(const TimelinePredicted& predicted, double time_us) {
    const RegionLaunch* launch = launchAt(predicted, time_us);
    if (launch == nullptr) {
        return {};
    }
    QStringList lines;
    addTimes(lines, launch->start_us, launch->end_us);
    if (launch->mode == graph::Mode::Megakernel) {
        lines << QStringLiteral("boundary (launch gap, prologue, drain): %1")
                     .arg(formatTime(launch->boundary_us));
        if (launch->picture >= 0) {
            lines << QStringLiteral("workers: %1")
                         .arg(
                             predicted.pictures[static_cast<std::size_t>(launch->picture)].workers);
        }
    }
    return {text(predicted.region_labels[launch->region]), lines.join('\n'), launch->start_us,
            launch->end_us};
}

/// The running tile whose worker is nearest to the height pointed at.
TimelineHit tileHit(const TimelinePredicted& predicted, std::size_t group, double time_us,
                    double share) {
    const RegionLaunch* launch = launchAt(predicted, time_us);
    if (launch == nullptr || launch->mode == graph::Mode::Conventional) {
        return {};
    }
    if (launch->picture < 0) {
        return regionHit(predicted, time_us);
    }
    const auto& picture = predicted.pictures[static_cast<std::size_t>(launch->picture)];
    const double origin = launch->start_us + launch->boundary_us;
    const int firstWorker = firstWorkerOf(group, picture.workers);
    const int workers = firstWorkerOf(group + 1, picture.workers) - firstWorker;
    const double wanted = firstWorker + share * workers - 0.5;
    const auto& tiles = picture.tiles[group];
    const auto at = static_cast<float>(time_us - origin);
    const TimelineTile* best = nullptr;
    int busy = 0;
    auto tile =
        std::ranges::lower_bound(tiles, at - picture.longest_tile_us, {}, &TimelineTile::start_us);
    for (; tile != tiles.end() && tile->start_us <= at; ++tile) {
        if (tile->end_us < at) {
            continue;
        }
        ++busy;
        if (best == nullptr || std::abs(tile->worker - wanted) < std::abs(best->worker - wanted)) {
            best = &*tile;
        }
    }
    if (best == nullptr) {
        return regionHit(predicted, time_us);
    }
    QStringList lines;
    const double start = origin + static_cast<double>(best->start_us);
    const double end = origin + static_cast<double>(best->end_us);
    addTimes(lines, start, end);
    lines << QStringLiteral("worker: %1 (%2 of %3 in this group are busy)")
                 .arg(best->worker)
                 .arg(busy)
                 .arg(workers)
          << QStringLiteral("bound by: %1%2")
                 .arg(QString::fromUtf8(toString(best->bound).data(),
                                        static_cast<qsizetype>(toString(best->bound).size())),
                      best->critical ? QStringLiteral(", on the critical path") : QString())
          << QStringLiteral("load: %1 from %2")
                 .arg(formatTime(static_cast<double>(best->load_end_us - best->load_start_us)),
                      formatTime(origin + static_cast<double>(best->load_start_us)));
    addOp(lines, predicted.details[best->detail], true);
    return {text(predicted.details[best->detail].title), lines.join('\n'), start, end};
}

} // namespace

TimelineHit hitAt(const TimelineScene& scene, const TimelineLayout& layout, const QPointF& point) {
    const auto row = std::ranges::find_if(
        layout.rows, [&](const TimelineRow& r) { return r.lane.contains(point); });
    if (row == layout.rows.end()) {
        return {};
    }
    const double time = layout.axis.timeAt(point.x());
    switch (row->kind) {
    case RowKind::Header:
        return {};
    case RowKind::Stages:
        return sliceHit(scene.recorded->stages.slices, scene.recorded->details, layout.axis, time,
                        false);
    case RowKind::Stream:
        return sliceHit(scene.recorded->streams[row->index].slices, scene.recorded->details,
                        layout.axis, time, false);
    case RowKind::Copies:
        return sliceHit(scene.recorded->copies.slices, scene.recorded->details, layout.axis, time,
                        false);
    case RowKind::Regions:
        return regionHit(*scene.predicted, time);
    case RowKind::Kernels:
        return sliceHit(scene.predicted->kernels.slices, scene.predicted->details, layout.axis,
                        time, true);
    case RowKind::Workers:
        return tileHit(*scene.predicted, row->index, time,
                       (point.y() - row->lane.top()) / std::max(1.0, row->lane.height()));
    }
    return {};
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme.h"
#include "views/timeline_painter.h"

#include <QFontMetricsF>

#include <algorithm>

namespace kerf::views {
namespace {

constexpr double kOverviewHeight = 14;
constexpr double kRulerHeight = 20;
constexpr double kHeaderHeight = 18;
constexpr double kBandHeight = 18; ///< stages and regions: hold text
constexpr double kLaneHeight = 15;
constexpr double kGap = 4;
constexpr double kFooterHeight = 18; ///< label of the predicted output
constexpr double kMostWorkersHeight = 90;
constexpr double kLeastWorkersHeight = 8;
constexpr double kLabelSpace = 14;

struct Wanted {
    TimelineRow row;
    double height = 0;
};

void addRecorded(const TimelineRecorded& recorded, std::vector<Wanted>& rows) {
    const auto add = [&](RowKind kind, std::size_t index, const QString& label, double height) {
        rows.push_back({{kind, index, label, {}, {}, true}, height});
    };
    add(RowKind::Header, 0, QStringLiteral("RECORDED"), kHeaderHeight);
    rows.back().row.note = QString::fromStdString(recorded.note);
    add(RowKind::Stages, 0, QString::fromStdString(recorded.stages.name), kBandHeight);
    for (std::size_t i = 0; i < recorded.streams.size(); ++i) {
        add(RowKind::Stream, i, QString::fromStdString(recorded.streams[i].name), kLaneHeight);
    }
    if (!recorded.copies.slices.empty()) {
        add(RowKind::Copies, 0, QString::fromStdString(recorded.copies.name), kLaneHeight - 3);
    }
}

void addPredicted(const TimelinePredicted& predicted, std::vector<Wanted>& rows) {
    const auto add = [&](RowKind kind, std::size_t index, const QString& label, double height) {
        rows.push_back({{kind, index, label, {}, {}, false}, height});
    };
    add(RowKind::Header, 0, QStringLiteral("PREDICTED"), kHeaderHeight);
    rows.back().row.note = QString::fromStdString(predicted.note);
    add(RowKind::Regions, 0, QStringLiteral("regions"), kBandHeight);
    if (!predicted.kernels.slices.empty()) {
        add(RowKind::Kernels, 0, QString::fromStdString(predicted.kernels.name), kLaneHeight);
    }
    for (std::size_t group = 0; group < kWorkerGroups && predicted.workers != 0; ++group) {
        if (predicted.workers < 0) {
            // Each region has its own number of workers: a lane is a quarter of them.
            add(RowKind::Workers, group, QStringLiteral("workers, %1/4").arg(group + 1),
                kLaneHeight);
            continue;
        }
        const int first = firstWorkerOf(group, predicted.workers);
        const int end = firstWorkerOf(group + 1, predicted.workers);
        if (end > first) {
            add(RowKind::Workers, group, QStringLiteral("workers %1–%2").arg(first).arg(end - 1),
                kLaneHeight);
        }
    }
}

double heightOf(const std::vector<Wanted>& rows) {
    double sum = 0;
    for (const Wanted& wanted : rows) {
        sum += wanted.height + kGap;
    }
    return sum;
}

/// Worker lanes share what is left; too little for all: everything but headers gets thinner.
void fit(std::vector<Wanted>& rows, double available_px) {
    const double spare = available_px - heightOf(rows);
    const auto isWorkers = [](const Wanted& w) { return w.row.kind == RowKind::Workers; };
    const auto workers = std::ranges::count_if(rows, isWorkers);
    if (spare >= 0) {
        for (Wanted& wanted : rows) {
            if (isWorkers(wanted)) {
                wanted.height = std::min(kMostWorkersHeight,
                                         wanted.height + spare / static_cast<double>(workers));
            }
        }
        return;
    }
    while (heightOf(rows) - available_px > 0) {
        const auto streams = std::ranges::count_if(
            rows, [](const Wanted& w) { return w.row.kind == RowKind::Stream; });
        if (streams <= 3) {
            break;
        }
        const auto last = std::find_if(rows.rbegin(), rows.rend(), [](const Wanted& w) {
            return w.row.kind == RowKind::Stream;
        });
        rows.erase(std::next(last).base());
    }
    double flexible = 0;
    for (const Wanted& wanted : rows) {
        flexible += wanted.row.kind == RowKind::Header ? 0 : wanted.height;
    }
    const double fixed = heightOf(rows) - flexible;
    const double scale = std::clamp((available_px - fixed) / std::max(flexible, 1.0), 0.0, 1.0);
    for (Wanted& wanted : rows) {
        if (wanted.row.kind != RowKind::Header) {
            wanted.height = std::max(kLeastWorkersHeight, wanted.height * scale);
        }
    }
}

} // namespace

double TimelineScene::total_us() const {
    return std::max({recorded != nullptr ? recorded->total_us : 0.0,
                     predicted != nullptr ? predicted->total_us : 0.0, kLeastSpan_us});
}

TimelineLayout layoutOf(const TimelineScene& scene, const QRectF& area) {
    TimelineLayout layout;
    std::vector<Wanted> rows;
    if (scene.recorded != nullptr) {
        addRecorded(*scene.recorded, rows);
    }
    const std::size_t recordedRows = rows.size();
    if (scene.predicted != nullptr) {
        addPredicted(*scene.predicted, rows);
    }
    const QFontMetricsF metrics(textFont(12));
    double labels = 0;
    for (const Wanted& wanted : rows) {
        labels = std::max(labels, metrics.horizontalAdvance(wanted.row.label));
    }
    labels = std::min(labels + kLabelSpace, area.width() * 0.3);

    double y = area.top();
    if (scene.has_overview) {
        layout.overview = {area.left(), y, area.width(), kOverviewHeight};
        layout.overview_axis = {{0, scene.total_us() * 1.04}, area.left(), area.width()};
        y += kOverviewHeight + kGap;
    }
    const double left = area.left() + labels;
    const double width = std::max(1.0, area.right() - left);
    layout.labels_left_px = area.left();
    layout.ruler = {left, y, width, kRulerHeight};
    layout.axis = {scene.range, left, width};
    y += kRulerHeight;
    layout.lanes = {left, y, width, std::max(0.0, area.bottom() - y)};
    const bool both = recordedRows > 0 && rows.size() > recordedRows;
    fit(rows, area.bottom() - y - kFooterHeight - (both ? 0 : kGap));
    layout.recorded_bottom_px = y;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].row.lane = {left, y, width, rows[i].height};
        y += rows[i].height + kGap;
        if (rows[i].row.recorded) {
            layout.recorded_bottom_px = y;
        }
        layout.rows.push_back(std::move(rows[i].row));
    }
    layout.predicted_bottom_px = std::min(y, area.bottom() - kFooterHeight);
    return layout;
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// Second page: recorded and predicted on one axis, and what the critical path consists of.
#include "views/drawing.h"
#include "views/report/sections.h"
#include "views/theme.h"
#include "views/timeline_painter.h"

#include <QFontMetricsF>

#include <algorithm>

namespace kerf::views {
namespace {

constexpr double kTimelineHeight = 300;
constexpr double kBarHeight = 16;
constexpr double kBarRow = 22;
constexpr double kBarLabel = 190;
constexpr std::size_t kMostBars = 10;

/// A stretch of a blame bar. Told apart by shade and hatch, never by an op's colour.
struct BlameStyle {
    QString name;
    QColor colour;
    bool hatched = false;
};

std::vector<BlameStyle> blameStyles(const Theme& theme) {
    const auto tint = [&](float alpha) {
        QColor colour = theme.accent;
        colour.setAlphaF(alpha);
        return colour;
    };
    return {{QStringLiteral("compute"), theme.accent},
            {QStringLiteral("bandwidth"), tint(0.6F)},
            {QStringLiteral("event wait"), tint(0.28F)},
            {QStringLiteral("prologue"), theme.muted},
            {QStringLiteral("tail"), theme.line},
            {QStringLiteral("launch gap"), theme.ink},
            {QStringLiteral("conventional"), theme.soft, true}};
}

/// µs of a region's launches together, in the order of blameStyles.
std::vector<double> blameOf(const search::RegionPrediction& region) {
    const auto count = static_cast<double>(region.use.count);
    std::vector<double> parts(region.blame.begin(), region.blame.end());
    parts.resize(7, 0.0);
    double sum = 0;
    for (const double part : parts) {
        sum += part;
    }
    // What the engine's critical path does not hold is the gap before the launch.
    parts[region.use.mode == graph::Mode::Megakernel ? 5 : 6] = std::max(0.0, region.us - sum);
    for (double& part : parts) {
        part *= count;
    }
    return parts;
}

void drawBar(Pages& pages, const QString& label, const std::vector<double>& parts, double most_us) {
    const Theme& theme = pages.theme();
    const auto styles = blameStyles(theme);
    QPainter& p = pages.painter();
    const QRectF row = pages.take(kBarRow);
    p.setFont(reportFont(11));
    p.setPen(theme.ink);
    drawElided(p, {row.left(), row.top(), kBarLabel - 8, kBarRow}, Qt::AlignLeft | Qt::AlignVCenter,
               label);
    const double width = row.width() - kBarLabel - 80;
    double x = row.left() + kBarLabel;
    double sum = 0;
    for (std::size_t i = 0; i < parts.size() && i < styles.size(); ++i) {
        sum += parts[i];
        const double length = most_us > 0 ? parts[i] / most_us * width : 0;
        const QRectF part(x, row.top() + (kBarRow - kBarHeight) / 2, length, kBarHeight);
        p.fillRect(part, styles[i].colour);
        if (styles[i].hatched && length > 0) {
            drawHatch(p, part, theme.muted);
        }
        x += length;
    }
    p.setFont(reportNumberFont(11));
    p.setPen(theme.ink);
    p.drawText(QRectF(x + 6, row.top(), 90, kBarRow), Qt::AlignLeft | Qt::AlignVCenter,
               formatTime(sum));
}

void drawLegend(Pages& pages, const std::vector<double>& totals) {
    const auto styles = blameStyles(pages.theme());
    double all = 0;
    for (const double part : totals) {
        all += part;
    }
    QPainter& p = pages.painter();
    const QRectF row = pages.take(22);
    p.setFont(reportFont(11));
    const QFontMetricsF metrics(p.font(), p.device());
    double x = row.left();
    for (std::size_t i = 0; i < styles.size(); ++i) {
        if (totals[i] <= 0) {
            continue;
        }
        const QString name = QStringLiteral("%1 %2 %")
                                 .arg(styles[i].name)
                                 .arg(totals[i] / std::max(all, 1e-9) * 100, 0, 'f', 0);
        const QRectF box(x, row.top() + 5, 12, 12);
        p.fillRect(box, styles[i].colour);
        if (styles[i].hatched) {
            drawHatch(p, box, pages.theme().muted);
        }
        p.setPen(pages.theme().ink);
        const double width = metrics.horizontalAdvance(name) + 4;
        p.drawText(QRectF(x + 17, row.top(), width, 22), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += width + 34;
    }
}

void drawBlame(Pages& pages, const search::Prediction& prediction) {
    pages.heading(QStringLiteral("Critical path: where the predicted time goes"));
    std::vector<std::pair<QString, std::vector<double>>> bars;
    std::vector<double> totals(7, 0.0);
    std::vector<double> rest(7, 0.0);
    std::size_t restCount = 0;
    for (const auto& region : prediction.regions) {
        const auto parts = blameOf(region);
        for (std::size_t i = 0; i < totals.size(); ++i) {
            totals[i] += parts[i];
            rest[i] += bars.size() >= kMostBars ? parts[i] : 0;
        }
        if (bars.size() < kMostBars) {
            const QString count =
                region.use.count > 1 ? QStringLiteral(" × %1").arg(region.use.count) : QString();
            bars.emplace_back(QString::fromStdString(region.label) + count, parts);
        } else {
            ++restCount;
        }
    }
    if (restCount > 0) {
        bars.emplace_back(QStringLiteral("%1 further regions").arg(restCount), rest);
    }
    double all = 0;
    for (const double part : totals) {
        all += part;
    }
    drawLegend(pages, totals);
    drawBar(pages, QStringLiteral("whole path"), totals, all);
    for (const auto& [label, parts] : bars) {
        drawBar(pages, label, parts, all);
    }
}

void drawRegions(Pages& pages, const search::Prediction& prediction) {
    pages.heading(QStringLiteral("Regions"));
    std::vector<TableRow> rows;
    for (const auto& region : prediction.regions) {
        const bool megakernel = region.use.mode == graph::Mode::Megakernel;
        const QString none = QStringLiteral("–");
        rows.push_back(
            {{QString::fromStdString(region.label), QString::number(region.use.count),
              formatTime(region.us), formatTime(region.us * static_cast<double>(region.use.count)),
              megakernel ? formatTime(region.boundary_us) : none,
              megakernel ? QString::number(region.workers) : none,
              megakernel ? QString::number(region.footprint.threads) : none,
              megakernel ? QString::number(region.footprint.registers) : none,
              megakernel ? QStringLiteral("%1 KiB").arg(region.footprint.shared_bytes / 1024)
                         : none}});
    }
    pages.table({{QStringLiteral("region"), 2},
                 {QStringLiteral("launches"), 1, true},
                 {QStringLiteral("one launch"), 1, true},
                 {QStringLiteral("together"), 1, true},
                 {QStringLiteral("boundary"), 1, true},
                 {QStringLiteral("workers"), 1, true},
                 {QStringLiteral("threads"), 1, true},
                 {QStringLiteral("registers"), 1, true},
                 {QStringLiteral("shared memory"), 1.3, true}},
                rows);
}

} // namespace

void drawEvidence(Pages& pages, const ReportData& data) {
    const ReportEntry& entry = chosenEntry(data);
    pages.startPage(QStringLiteral("Timeline and critical path"));
    pages.heading(QStringLiteral("One request, recorded and predicted"));
    const TimelineRecorded recorded = recordedOf(*entry.the_case);
    TimelineScene scene;
    scene.recorded = recorded.total_us > 0 ? &recorded : nullptr;
    scene.predicted = data.timeline ? &*data.timeline : nullptr;
    scene.has_overview = false;
    scene.output_name = outputName(*entry.the_case);
    scene.range = {0, scene.total_us() * 1.02};
    if (scene.isEmpty()) {
        pages.paragraph(QStringLiteral("The recording holds no complete request to show."), 12,
                        true);
    } else {
        const QRectF rect = pages.take(kTimelineHeight);
        paintTimeline(pages.painter(), scene, layoutOf(scene, rect), pages.theme());
    }
    const auto& prediction = entry.result.candidates.front().prediction;
    drawBlame(pages, prediction);
    drawRegions(pages, prediction);
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/candidates_chart.h"

#include "views/candidates_model.h"
#include "views/drawing.h"
#include "views/theme.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

constexpr double kGrab = 8;

QCPRange padded(double low, double high) {
    const double size = high > low ? high - low : std::max(std::abs(high), 1.0) * 0.2;
    return {low - size * 0.12, high + size * 0.12};
}

} // namespace

CandidatesChart::CandidatesChart(QWidget* parent) : QCustomPlot(parent) {
    setAccessibleName(QStringLiteral("Time to first output against throughput"));
    setAccessibleDescription(QStringLiteral("The table above has the same figures."));
    setMinimumHeight(96);
    front_ = addGraph();
    conventional_ = addGraph();
    others_ = addGraph();
    best_ = addGraph();
    current_ = addGraph();
    selected_ = addGraph();
    for (QCPGraph* points : {others_, conventional_, best_, current_, selected_}) {
        points->setLineStyle(QCPGraph::lsNone);
    }
    front_->setLineStyle(QCPGraph::lsStepLeft);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->ticker()->setTickCount(3);
        axis->setTickLabelFont(numberFont(10));
        axis->setLabelFont(textFont(10));
        axis->setSubTicks(false);
        axis->grid()->setVisible(false);
        axis->setLabelPadding(1);
        axis->setTickLabelPadding(3);
        axis->setTickLength(0, 3);
        axis->setNumberFormat(QStringLiteral("gb"));
        axis->setNumberPrecision(4);
    }
    applyColours();
}

void CandidatesChart::applyColours() {
    const Theme& theme = currentTheme();
    setBackground(QBrush(theme.panel)); // without a brush QCustomPlot paints black
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(QPen(theme.line, 1));
        axis->setTickPen(QPen(theme.line, 1));
        axis->setTickLabelColor(theme.muted);
        axis->setLabelColor(theme.muted);
    }
    const auto disc = [](const QColor& colour, double size) {
        return QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(colour, 1), QBrush(colour), size);
    };
    front_->setPen(QPen(theme.muted, 1, Qt::DashLine));
    others_->setScatterStyle(disc(theme.muted, 6));
    conventional_->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(theme.muted, 1), QBrush(theme.panel), 7));
    best_->setScatterStyle(disc(theme.accent, 8));
    current_->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.ink, 1), QBrush(Qt::NoBrush), 13));
    selected_->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.accent, 1), QBrush(Qt::NoBrush), 17));
    replot(QCustomPlot::rpQueuedReplot);
}

void CandidatesChart::setCandidates(const std::vector<search::Candidate>& candidates,
                                    const QString& metric) {
    candidates_ = candidates;
    metric_ = metric;
    for (int i = 0; i < graphCount(); ++i) {
        graph(i)->data()->clear();
    }
    double lowX = INFINITY;
    double highX = -INFINITY;
    double lowY = INFINITY;
    double highY = -INFINITY;
    for (const search::Candidate& candidate : candidates_) {
        highY = std::max(highY, candidate.prediction.ttfa_us);
    }
    unit_us_ = unitFor(highY);
    for (const search::Candidate& candidate : candidates_) {
        const double x = candidate.prediction.throughput_per_s;
        const double y = candidate.prediction.ttfa_us / unit_us_;
        lowX = std::min(lowX, x);
        highX = std::max(highX, x);
        lowY = std::min(lowY, y);
        QCPGraph* points = candidate.ties_best                                      ? best_
                           : candidate.prediction.kind == graph::Kind::Conventional ? conventional_
                                                                                    : others_;
        points->addData(x, y);
    }
    for (const std::size_t i : paretoFront(candidates_)) {
        front_->addData(candidates_[i].prediction.throughput_per_s,
                        candidates_[i].prediction.ttfa_us / unit_us_);
    }
    if (!candidates_.empty()) {
        xAxis->setRange(padded(lowX, highX));
        yAxis->setRange(padded(lowY, highY / unit_us_));
    }
    xAxis->setLabel(QStringLiteral("throughput, 1/s →"));
    yAxis->setLabel(QStringLiteral("%1, %2").arg(metric_, unitName(unit_us_)));
    replot(QCustomPlot::rpQueuedReplot);
}

void CandidatesChart::mark(QCPGraph* graph, int candidate) {
    graph->data()->clear();
    if (candidate >= 0 && candidate < static_cast<int>(candidates_.size())) {
        const search::Prediction& p = candidates_[static_cast<std::size_t>(candidate)].prediction;
        graph->addData(p.throughput_per_s, p.ttfa_us / unit_us_);
    }
}

void CandidatesChart::setMarked(int current, int selected) {
    mark(current_, current);
    mark(selected_, selected);
    replot(QCustomPlot::rpQueuedReplot);
}

QPointF CandidatesChart::pointOf(int candidate) {
    const search::Prediction& p = candidates_[static_cast<std::size_t>(candidate)].prediction;
    return {xAxis->coordToPixel(p.throughput_per_s), yAxis->coordToPixel(p.ttfa_us / unit_us_)};
}

int CandidatesChart::candidateAt(QPointF position) {
    int nearest = -1;
    double nearestDistance = kGrab;
    for (int i = 0; i < static_cast<int>(candidates_.size()); ++i) {
        const QPointF offset = pointOf(i) - position;
        const double distance = std::hypot(offset.x(), offset.y());
        // The first of candidates on the same spot: they come best first.
        if (distance < nearestDistance) {
            nearest = i;
            nearestDistance = distance;
        }
    }
    return nearest;
}

void CandidatesChart::mouseReleaseEvent(QMouseEvent* event) {
    QCustomPlot::mouseReleaseEvent(event);
    if (event->button() != Qt::LeftButton) {
        return;
    }
    if (const int candidate = candidateAt(event->position()); candidate >= 0) {
        emit candidateClicked(candidate);
    }
}

bool CandidatesChart::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int candidate = candidateAt(QPointF(help->pos()));
        QString text;
        if (candidate >= 0) {
            const search::Candidate& c = candidates_[static_cast<std::size_t>(candidate)];
            text = QStringLiteral("%1\n%2 %3, %4 outputs a second")
                       .arg(QString::fromStdString(c.regions), formatTime(c.prediction.ttfa_us),
                            metric_)
                       .arg(c.prediction.throughput_per_s, 0, 'g', 4);
        }
        QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return QCustomPlot::event(event);
}

void CandidatesChart::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        applyColours();
    }
}

} // namespace kerf::views

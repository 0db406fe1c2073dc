// SPDX-License-Identifier: GPL-3.0-or-later
// Time to first output against throughput; a point a candidate, the pareto front as a line.
#pragma once

#include "core/search/predictor.h"
#include "views/qcustomplot.h"

namespace kerf::views {

class CandidatesChart : public QCustomPlot {
    Q_OBJECT
public:
    explicit CandidatesChart(QWidget* parent = nullptr);

    void setCandidates(const std::vector<search::Candidate>& candidates, const QString& metric);
    /// Candidates drawn with a ring: on the strip, and selected in the table. -1: none.
    void setMarked(int current, int selected);
    void applyColours();
    /// Candidate whose point is within 8 px of `position`; -1: none.
    [[nodiscard]] int candidateAt(QPointF position);
    /// Where a candidate's point is.
    [[nodiscard]] QPointF pointOf(int candidate);

signals:
    void candidateClicked(int candidate);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void mark(QCPGraph* graph, int candidate);

    std::vector<search::Candidate> candidates_;
    double unit_us_ = 1e3;
    QString metric_;
    QCPGraph* front_ = nullptr;
    QCPGraph* others_ = nullptr;
    QCPGraph* conventional_ = nullptr;
    QCPGraph* best_ = nullptr;
    QCPGraph* current_ = nullptr;
    QCPGraph* selected_ = nullptr;
};

} // namespace kerf::views

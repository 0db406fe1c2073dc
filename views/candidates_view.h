// SPDX-License-Identifier: GPL-3.0-or-later
// The best compositions as a sortable table, and below it the pareto chart linked to it.
#pragma once

#include "core/search/predictor.h"
#include "views/candidates_model.h"

#include <QStackedWidget>

class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace kerf::views {

class CandidatesChart;

class CandidatesView : public QStackedWidget {
    Q_OBJECT
public:
    explicit CandidatesView(QWidget* parent = nullptr);

    void setResult(const search::SearchResult& result);
    /// Shows no result and why ("Not searched yet. Press Ctrl+B.").
    void clear(const QString& why);
    /// What the time is called: "TTFA", "TTFT" (at first "first output").
    void setMetric(const QString& metric);
    /// Marks the candidate that is on the strip, if it is among them.
    void setCurrent(const graph::Composition& composition);

    [[nodiscard]] QTableView& table() { return *table_; }
    [[nodiscard]] CandidatesModel& model() { return *model_; }
    [[nodiscard]] CandidatesChart& chart() { return *chart_; }

signals:
    /// Double click, Enter, or a click on its point.
    void candidateActivated(const kerf::graph::Composition& composition);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void activate(int candidate);
    void selectCandidate(int candidate);
    void fitColumns();

    CandidatesModel* model_ = nullptr;
    QSortFilterProxyModel* sorted_ = nullptr;
    QTableView* table_ = nullptr;
    CandidatesChart* chart_ = nullptr;
    QLabel* empty_ = nullptr;
};

} // namespace kerf::views

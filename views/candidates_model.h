// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates of a search as a table, and which of them no other one beats.
#pragma once

#include "core/search/predictor.h"

#include <QAbstractTableModel>

namespace kerf::views {

class CandidatesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Regions, FirstOutput, Rtf, PBest, Coverage, Throughput, Launches, ColumnCount };
    static constexpr int kSortRole = Qt::UserRole;          ///< a number, or text for Regions
    static constexpr int kCandidateRole = Qt::UserRole + 1; ///< index into candidates()

    using QAbstractTableModel::QAbstractTableModel;

    void setCandidates(std::vector<search::Candidate> candidates);
    void setCurrent(const graph::Composition& composition);
    /// What the time is called in the header: "TTFA", "TTFT".
    void setMetric(const QString& metric);
    [[nodiscard]] const std::vector<search::Candidate>& candidates() const { return candidates_; }
    /// Index of the candidate that setCurrent named; -1 where it is not among them.
    [[nodiscard]] int current() const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

private:
    [[nodiscard]] QString text(const search::Candidate& candidate, int column) const;
    [[nodiscard]] QVariant sortKey(const search::Candidate& candidate, int column) const;
    [[nodiscard]] QString toolTip(const search::Candidate& candidate) const;

    std::vector<search::Candidate> candidates_;
    graph::Composition current_;
    bool has_current_ = false;
    QString metric_ = QStringLiteral("first output");
    double unit_us_ = 1e3; ///< one unit for the whole column
};

/// Candidates that no other one beats in both time (less is better) and throughput (more is
/// better), by ascending throughput. Of equal ones the first.
[[nodiscard]] std::vector<std::size_t>
paretoFront(const std::vector<search::Candidate>& candidates);

/// "ms", "µs" or "s" for a unit of `us` microseconds.
[[nodiscard]] QString unitName(double us);
/// The unit that reads best for times up to `longest_us`, in µs: 1, 1e3 or 1e6.
[[nodiscard]] double unitFor(double longest_us);

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/candidates_model.h"

#include "views/drawing.h"
#include "views/theme.h"

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

int decimalsFor(double value) {
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

QString figures(double value) {
    return QString::number(value, 'f', decimalsFor(value));
}

QString percent(double share) {
    return QString::number(share * 100, 'f', 0) + QStringLiteral(" %");
}

/// "3 cuts" helps where the regions alone look alike.
QString nameOf(const search::Candidate& candidate) {
    const QString regions = QString::fromStdString(candidate.regions);
    const graph::Kind kind = candidate.prediction.kind;
    if (kind == graph::Kind::Conventional || kind == graph::Kind::Monolith) {
        const std::string_view name = graph::toString(kind);
        return regions + u' ' + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    }
    return regions;
}

} // namespace

QString unitName(double us) {
    return us >= 1e6   ? QStringLiteral("s")
           : us >= 1e3 ? QStringLiteral("ms")
                       : QStringLiteral("µs");
}

double unitFor(double longest_us) {
    return longest_us >= 999.5e3 ? 1e6 : longest_us >= 999.5 ? 1e3 : 1;
}

void CandidatesModel::setCandidates(std::vector<search::Candidate> candidates) {
    beginResetModel();
    candidates_ = std::move(candidates);
    double longest = 0;
    for (const search::Candidate& candidate : candidates_) {
        longest = std::max(longest, candidate.prediction.ttfa_us);
    }
    unit_us_ = unitFor(longest);
    endResetModel();
}

void CandidatesModel::setCurrent(const graph::Composition& composition) {
    const int before = current();
    current_ = composition;
    has_current_ = true;
    for (const int row : {before, current()}) {
        if (row >= 0) {
            emit dataChanged(index(row, 0), index(row, ColumnCount - 1));
        }
    }
}

void CandidatesModel::setMetric(const QString& metric) {
    metric_ = metric;
    emit headerDataChanged(Qt::Horizontal, FirstOutput, FirstOutput);
}

int CandidatesModel::current() const {
    for (std::size_t i = 0; has_current_ && i < candidates_.size(); ++i) {
        if (candidates_[i].prediction.composition == current_) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

int CandidatesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(candidates_.size());
}

int CandidatesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString CandidatesModel::text(const search::Candidate& candidate, int column) const {
    const search::Prediction& prediction = candidate.prediction;
    switch (column) {
    case Regions:
        return nameOf(candidate);
    case FirstOutput: {
        const double time = prediction.ttfa_us / unit_us_;
        const QString value = figures(time);
        const search::Interval& interval = candidate.uncertain.interval_us;
        if (interval.high <= interval.low) {
            return value;
        }
        const double half = (interval.high - interval.low) / 2 / unit_us_;
        return value + QStringLiteral(" ± ") + QString::number(half, 'f', decimalsFor(time));
    }
    case Rtf:
        return prediction.rtf > 0 ? QString::number(prediction.rtf, 'f', 3) : QStringLiteral("–");
    case PBest: {
        const QString p = QString::number(candidate.uncertain.p_best, 'f', 2);
        return candidate.ties_best ? p + QStringLiteral(" tie") : p;
    }
    case Coverage:
        return percent(prediction.coverage);
    case Throughput:
        return figures(prediction.throughput_per_s);
    case Launches:
        return QString::number(prediction.launches);
    default:
        return {};
    }
}

QVariant CandidatesModel::sortKey(const search::Candidate& candidate, int column) const {
    const search::Prediction& prediction = candidate.prediction;
    switch (column) {
    case FirstOutput:
        return prediction.ttfa_us;
    case Rtf:
        return prediction.rtf;
    case PBest:
        return candidate.uncertain.p_best;
    case Coverage:
        return prediction.coverage;
    case Throughput:
        return prediction.throughput_per_s;
    case Launches:
        return QVariant::fromValue<qlonglong>(prediction.launches);
    default:
        return nameOf(candidate);
    }
}

QString CandidatesModel::toolTip(const search::Candidate& candidate) const {
    const search::Prediction& p = candidate.prediction;
    const search::Interval& interval = candidate.uncertain.interval_us;
    QString text = nameOf(candidate) + QStringLiteral("\npredicted %1").arg(formatTime(p.ttfa_us));
    if (interval.high > interval.low) {
        text += QStringLiteral(", 90 % interval %1 to %2")
                    .arg(formatTime(interval.low), formatTime(interval.high));
    }
    text += QStringLiteral("\n%1 of the conventional path inside megakernels, %2 launches")
                .arg(percent(p.coverage))
                .arg(p.launches);
    if (candidate.ties_best) {
        text += QStringLiteral("\ncannot be told from the best");
    }
    return text;
}

QVariant CandidatesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const search::Candidate& candidate = candidates_[static_cast<std::size_t>(index.row())];
    const bool isCurrent = index.row() == current();
    switch (role) {
    case Qt::DisplayRole:
        return text(candidate, index.column());
    case Qt::TextAlignmentRole:
        return QVariant(index.column() == Regions ? Qt::AlignLeft | Qt::AlignVCenter
                                                  : Qt::AlignRight | Qt::AlignVCenter);
    case Qt::FontRole: {
        QFont font = index.column() == Regions ? fixedFont(12) : numberFont(12);
        font.setBold(isCurrent || (index.column() == PBest && candidate.ties_best));
        return font;
    }
    case Qt::BackgroundRole:
        return isCurrent ? QVariant(currentTheme().soft) : QVariant();
    case Qt::ToolTipRole:
        return toolTip(candidate);
    case Qt::AccessibleTextRole:
        return isCurrent && index.column() == Regions
                   ? text(candidate, Regions) + QStringLiteral(", on the strip")
                   : text(candidate, index.column());
    case kSortRole:
        return sortKey(candidate, index.column());
    case kCandidateRole:
        return index.row();
    default:
        return {};
    }
}

QVariant CandidatesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant(section == Regions ? Qt::AlignLeft | Qt::AlignVCenter
                                           : Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
        return {};
    }
    const bool tip = role == Qt::ToolTipRole;
    switch (section) {
    case Regions:
        return tip ? QStringLiteral("Regions in path order: M a megakernel, c conventional")
                   : QStringLiteral("regions");
    case FirstOutput:
        return tip ? QStringLiteral("Predicted time from request to first output, with half of its "
                                    "90 % interval")
                   : metric_ + QStringLiteral(", ") + unitName(unit_us_);
    case Rtf:
        return tip ? QStringLiteral("Real-time factor: compute time over audio time; – for text")
                   : QStringLiteral("rtf");
    case PBest:
        return tip ? QStringLiteral("Share of paired replicas in which it is the fastest")
                   : QStringLiteral("P best");
    case Coverage:
        return tip ? QStringLiteral("Share of the conventional path's time inside megakernels")
                   : QStringLiteral("coverage");
    case Throughput:
        return tip ? QStringLiteral("Steady-state outputs a second, whole batch")
                   : QStringLiteral("out/s");
    case Launches:
        return tip ? QStringLiteral("Kernel launches along the path") : QStringLiteral("launches");
    default:
        return {};
    }
}

std::vector<std::size_t> paretoFront(const std::vector<search::Candidate>& candidates) {
    std::vector<std::size_t> order(candidates.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    // Fastest first; of equally fast ones the highest throughput. Then each new front member must
    // have more throughput than all before it.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const search::Prediction& pa = candidates[a].prediction;
        const search::Prediction& pb = candidates[b].prediction;
        return pa.ttfa_us != pb.ttfa_us ? pa.ttfa_us < pb.ttfa_us
                                        : pa.throughput_per_s > pb.throughput_per_s;
    });
    std::vector<std::size_t> front;
    double most = -1;
    for (const std::size_t i : order) {
        if (candidates[i].prediction.throughput_per_s > most) {
            most = candidates[i].prediction.throughput_per_s;
            front.push_back(i);
        }
    }
    return front;
}

} // namespace kerf::views

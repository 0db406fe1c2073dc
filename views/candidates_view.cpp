// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/candidates_view.h"

#include "views/candidates_chart.h"
#include "views/theme.h"

#include <QEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace kerf::views {
namespace {
constexpr int kRowHeight = 22;
} // namespace

CandidatesView::CandidatesView(QWidget* parent) : QStackedWidget(parent) {
    setAccessibleName(QStringLiteral("Candidates"));
    model_ = new CandidatesModel(this);
    sorted_ = new QSortFilterProxyModel(this);
    sorted_->setSourceModel(model_);
    sorted_->setSortRole(CandidatesModel::kSortRole);

    auto* page = new QWidget(this);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    table_ = new QTableView(page);
    table_->setAccessibleName(QStringLiteral("Candidates, best first"));
    table_->setModel(sorted_);
    table_->setSortingEnabled(true);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setShowGrid(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->setTabKeyNavigation(false); // Tab leaves the table
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(kRowHeight);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setMinimumSectionSize(20);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->horizontalHeader()->setSectionResizeMode(CandidatesModel::Regions,
                                                     QHeaderView::Stretch);
    table_->sortByColumn(CandidatesModel::FirstOutput, Qt::AscendingOrder);
    table_->installEventFilter(this);
    table_->viewport()->installEventFilter(this);
    chart_ = new CandidatesChart(page);
    layout->addWidget(table_, 3);
    layout->addWidget(chart_, 2);
    addWidget(page);

    empty_ = new QLabel(this);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setMargin(16);
    addWidget(empty_);
    clear(QStringLiteral("No search yet. Search shows the best compositions here."));

    connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        activate(index.data(CandidatesModel::kCandidateRole).toInt());
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                const int row = index.isValid() ? sorted_->mapToSource(index).row() : -1;
                chart_->setMarked(model_->current(), row);
            });
    connect(chart_, &CandidatesChart::candidateClicked, this, [this](int candidate) {
        selectCandidate(candidate);
        activate(candidate);
    });
    changeEvent(nullptr);
}

void CandidatesView::setResult(const search::SearchResult& result) {
    if (result.candidates.empty()) {
        clear(QStringLiteral("The search found no composition that can run."));
        return;
    }
    model_->setCandidates(result.candidates);
    chart_->setCandidates(
        result.candidates,
        model_->headerData(CandidatesModel::FirstOutput, Qt::Horizontal, Qt::DisplayRole)
            .toString()
            .section(u',', 0, 0));
    chart_->setMarked(model_->current(), -1);
    setCurrentIndex(0);
    fitColumns();
}

void CandidatesView::clear(const QString& why) {
    model_->setCandidates({});
    chart_->setCandidates({}, {});
    empty_->setText(why);
    setCurrentIndex(1);
}

void CandidatesView::setMetric(const QString& metric) {
    model_->setMetric(metric);
    chart_->setCandidates(model_->candidates(), metric);
    chart_->setMarked(model_->current(), -1);
}

void CandidatesView::setCurrent(const graph::Composition& composition) {
    model_->setCurrent(composition);
    const QModelIndex selected = table_->selectionModel()->currentIndex();
    chart_->setMarked(model_->current(),
                      selected.isValid() ? sorted_->mapToSource(selected).row() : -1);
}

void CandidatesView::activate(int candidate) {
    if (candidate >= 0 && candidate < model_->rowCount()) {
        emit candidateActivated(
            model_->candidates()[static_cast<std::size_t>(candidate)].prediction.composition);
    }
}

void CandidatesView::selectCandidate(int candidate) {
    const QModelIndex index = sorted_->mapFromSource(model_->index(candidate, 0));
    table_->setCurrentIndex(index);
    table_->scrollTo(index);
}

void CandidatesView::fitColumns() {
    // Columns in the order in which they are given up when the view is narrow.
    constexpr std::array kOptional{CandidatesModel::Launches, CandidatesModel::Throughput,
                                   CandidatesModel::Coverage, CandidatesModel::Rtf};
    constexpr int kRegionsAtLeast = 110;
    int room = table_->viewport()->width() - kRegionsAtLeast;
    std::array<int, CandidatesModel::ColumnCount> widths{};
    for (int column = 1; column < CandidatesModel::ColumnCount; ++column) {
        table_->setColumnHidden(column, false);
        const auto hint = static_cast<QAbstractItemView*>(table_);
        int width = table_->horizontalHeader()->sectionSizeHint(column);
        for (int row = 0; row < sorted_->rowCount(); ++row) {
            width = std::max(width, hint->sizeHintForIndex(sorted_->index(row, column)).width());
        }
        widths[static_cast<std::size_t>(column)] = width + 8;
        room -= width + 8;
    }
    for (const int column : kOptional) {
        if (room < 0) {
            table_->setColumnHidden(column, true);
            room += widths[static_cast<std::size_t>(column)];
        }
    }
    for (int column = 1; column < CandidatesModel::ColumnCount; ++column) {
        table_->setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
    }
}

bool CandidatesView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            const QModelIndex index = table_->currentIndex();
            if (index.isValid()) {
                activate(index.data(CandidatesModel::kCandidateRole).toInt());
            }
            return true;
        }
    }
    if (watched == table_->viewport() && event->type() == QEvent::Resize) {
        fitColumns();
    }
    return QStackedWidget::eventFilter(watched, event);
}

void CandidatesView::changeEvent(QEvent* event) {
    if (event != nullptr) {
        QStackedWidget::changeEvent(event);
    }
    if (event == nullptr || event->type() == QEvent::PaletteChange) {
        const Theme& theme = currentTheme();
        // The view lies on a panel: no box of its own, quiet header, selection as a soft row.
        QPalette palette = table_->palette();
        palette.setColor(QPalette::Base, Qt::transparent);
        palette.setColor(QPalette::Highlight, theme.soft);
        palette.setColor(QPalette::HighlightedText, theme.ink);
        table_->setPalette(palette);
        table_->viewport()->setAutoFillBackground(false);
        table_->horizontalHeader()->setStyleSheet(
            QStringLiteral("QHeaderView{background:transparent}"
                           "QHeaderView::up-arrow,QHeaderView::down-arrow{width:7px;height:7px;"
                           "subcontrol-origin:padding;subcontrol-position:left center}"
                           "QHeaderView::section{background:transparent;border:none;"
                           "border-bottom:1px solid %1;color:%2;padding:2px 4px;font-size:11px}")
                .arg(theme.line.name(), theme.muted.name()));
        QPalette muted = empty_->palette();
        muted.setColor(QPalette::WindowText, theme.muted);
        empty_->setPalette(muted);
    }
}

} // namespace kerf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_case.h"
#include "views/candidates_chart.h"
#include "views/candidates_view.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

using namespace kerf;
using namespace kerf::views;

Q_DECLARE_METATYPE(kerf::graph::Composition)

namespace {
search::SearchResult sample() {
    return test::sampleResult(test::sampleCase()->chain);
}
} // namespace

class TestCandidates : public QObject {
    Q_OBJECT

private slots:
    void theModelKeepsTheRulesOfModels() {
        CandidatesModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setCandidates(sample().candidates);
        model.setCurrent(graph::monolith());
        model.setMetric(QStringLiteral("TTFT"));
        model.setCandidates({});
        QCOMPARE(model.rowCount(), 0);
    }

    void cells_data() {
        QTest::addColumn<int>("row");
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("expected");
        QTest::newRow("regions") << 1 << int(CandidatesModel::Regions) << "c M M M";
        QTest::newRow("monolith is named") << 3 << int(CandidatesModel::Regions) << "M monolith";
        QTest::newRow("time: 14.2 ms ± 2 %")
            << 1 << int(CandidatesModel::FirstOutput) << "14.2 ± 0.3";
        QTest::newRow("a tie is said") << 0 << int(CandidatesModel::PBest) << "0.55 tie";
        QTest::newRow("coverage") << 4 << int(CandidatesModel::Coverage) << "40 %";
        QTest::newRow("throughput") << 0 << int(CandidatesModel::Throughput) << "412";
    }
    void cells() {
        QFETCH(int, row);
        QFETCH(int, column);
        CandidatesModel model;
        model.setCandidates(sample().candidates);
        QTEST(model.index(row, column).data().toString(), "expected");
    }

    void theParetoFrontHoldsWhatNothingBeats() {
        // (time, throughput): b beats c, d equals b; a is fastest, e has the most throughput.
        std::vector<search::Candidate> candidates(5);
        const std::vector<std::pair<double, double>> points{
            {10, 100}, {12, 150}, {13, 140}, {12, 150}, {20, 300}};
        for (std::size_t i = 0; i < points.size(); ++i) {
            candidates[i].prediction.ttfa_us = points[i].first;
            candidates[i].prediction.throughput_per_s = points[i].second;
        }
        QCOMPARE(paretoFront(candidates), (std::vector<std::size_t>{0, 1, 4}));
    }

    void columnsSortByTheirNumbers() {
        CandidatesView view;
        view.setResult(sample());
        view.table().sortByColumn(CandidatesModel::FirstOutput, Qt::DescendingOrder);
        QCOMPARE(view.table().model()->index(0, 0).data().toString(),
                 QStringLiteral("c conventional"));
    }

    void enterActivatesTheSelectedCandidate() {
        CandidatesView view;
        const search::SearchResult result = sample();
        view.setResult(result);
        QSignalSpy activated(&view, &CandidatesView::candidateActivated);
        view.table().setCurrentIndex(view.table().model()->index(2, 0));
        QTest::keyClick(&view.table(), Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QVERIFY(activated[0][0].value<graph::Composition>() ==
                result.candidates[2].prediction.composition);
    }

    void aClickOnAPointSelectsItsRow() {
        CandidatesView view;
        view.resize(400, 400);
        view.setResult(sample());
        view.show();
        view.chart().replot();
        QSignalSpy activated(&view, &CandidatesView::candidateActivated);
        QTest::mouseClick(&view.chart(), Qt::LeftButton, {}, view.chart().pointOf(4).toPoint());
        QCOMPARE(activated.count(), 1);
        QCOMPARE(view.table().currentIndex().row(), 4);
    }

    void narrowViewsGiveUpColumnsFromTheLeastImportant() {
        CandidatesView view;
        view.resize(330, 300);
        view.setResult(sample());
        view.show();
        QVERIFY(view.table().isColumnHidden(CandidatesModel::Launches));
        QVERIFY(!view.table().isColumnHidden(CandidatesModel::FirstOutput));
        QVERIFY(!view.table().isColumnHidden(CandidatesModel::PBest));
        view.resize(900, 300);
        QVERIFY(!view.table().isColumnHidden(CandidatesModel::Launches));
    }

    void theCurrentCandidateIsMarked() {
        CandidatesModel model;
        model.setCandidates(sample().candidates);
        QCOMPARE(model.current(), -1);
        model.setCurrent(graph::monolith());
        QCOMPARE(model.current(), 3);
        QVERIFY(model.index(3, 0)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("on the strip")));
    }

    void clearSaysWhy() {
        CandidatesView view;
        view.setResult(sample());
        view.clear(QStringLiteral("Searching…"));
        QCOMPARE(view.currentIndex(), 1);
        QCOMPARE(view.model().rowCount(), 0);
    }
};

QTEST_MAIN(TestCandidates)
#include "tst_candidates.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/statistics.h"

#include <QTest>

using namespace kerf::lab;

class TestLabStatistics : public QObject {
    Q_OBJECT
private slots:
    void medianIsTheMiddleValue() { QCOMPARE(median({9, 1, 5}), 5.0); }
    void medianOfAnEvenCountIsTheMeanOfTheMiddleTwo() { QCOMPARE(median({8, 1, 4, 2}), 3.0); }
    void medianOfNothingIsZero() { QCOMPARE(median({}), 0.0); }
    /// Median 3; deviations 2, 1, 0, 1, 97: their median 1.
    void spreadIgnoresAnOutlier() {
        const Summary summary = summarise({1, 2, 3, 4, 100});
        QCOMPARE(summary.median, 3.0);
        QCOMPARE(summary.spread, 1.4826);
        QCOMPARE(summary.count, 5);
    }
    void equalValuesHaveNoSpread() { QCOMPARE(summarise({2, 2, 2}).spread, 0.0); }
    /// 3-4-5 triangle.
    void differenceAddsSpreadsInQuadrature() {
        const Summary result = difference({10, 3, 31}, {4, 4, 7});
        QCOMPARE(result.median, 6.0);
        QCOMPARE(result.spread, 5.0);
        QCOMPARE(result.count, 7);
    }
};

QTEST_APPLESS_MAIN(TestLabStatistics)
#include "tst_lab_statistics.moc"

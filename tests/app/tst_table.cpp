// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/table.h"

#include <QTest>
#include <limits>

using namespace kerf::cli;

class TestTable : public QObject {
    Q_OBJECT
private slots:
    void alignsNumbersRightAndTextLeft() {
        const Table table{
            {{"name", "name", false}, {"ms", "us", true}},
            {{text("a"), number(1500, 1, 1e-3)}, {text("long"), number(12000, 1, 1e-3)}}};
        QCOMPARE(toText(table), std::string("name    ms\na      1.5\nlong  12.0\n"));
    }
    void countsCharactersNotBytes() {
        const Table table{{{"x", "x", true}, {"y", "y", true}},
                          {{missing(), text("1")}, {text("22"), text("2")}}};
        QCOMPARE(toText(table), std::string(" x  y\n –  1\n22  2\n"));
    }
    void csvHasUnroundedValuesUnderKeys() {
        const Table table{{{"TTFA ms", "ttfa_us", true}},
                          {{number(1234.5678, 1, 1e-3)}, {missing()}}};
        QCOMPARE(toCsv(table), std::string("ttfa_us\n1234.5678\n\n"));
    }
    void csvQuotesSeparatorsAndQuotes() {
        const Table table{{{"a", "a", false}}, {{text("x,\"y\"")}}};
        QCOMPARE(toCsv(table), std::string("a\n\"x,\"\"y\"\"\"\n"));
    }
    void infinityIsMissing() {
        QCOMPARE(number(std::numeric_limits<double>::infinity(), 1).raw, std::string());
    }
    void percentHasItsSign() { QCOMPARE(percent(0.0134).shown, std::string("+1.3")); }
};

QTEST_APPLESS_MAIN(TestTable)
#include "tst_table.moc"

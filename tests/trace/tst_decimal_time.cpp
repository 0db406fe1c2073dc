// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/decimal_time.h"

#include <QTest>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <random>
#include <string>

using namespace kerf::trace;

class TestDecimalTime : public QObject {
    Q_OBJECT

private slots:
    void microsecondsBecomeNanoseconds_data();
    void microsecondsBecomeNanoseconds();
    void faultsAreTold_data();
    void faultsAreTold();
    void wholeNumbersAreExact_data();
    void wholeNumbersAreExact();
    void anyNanosecondsSurviveTheWayThroughText();
};

void TestDecimalTime::microsecondsBecomeNanoseconds_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("expected_ns");
    const auto row = [](const char* text, qint64 ns) { QTest::newRow(text) << text << ns; };
    row("0", 0);
    row("-0", 0);
    row("0.000", 0);
    row("7", 7'000);
    row("+7", 7'000);
    row("-7", -7'000);
    row("1.2", 1'200);
    row("1.23", 1'230);
    row("1.234", 1'234);
    row("-1.234", -1'234);
    row("0.001", 1);
    row("1.2344", 1'234);
    row("1.2345", 1'235);
    row("-1.2345", -1'235);
    row("0.0004999999999999999999999999", 0);
    row("0.0005", 1);
    row("-0.0005", -1);
    row("0.00005", 0);
    row("0.9995", 1'000);
    // beyond 2^53 ns, where a double has no room for the last digits
    row("1712195495505583.0", 1'712'195'495'505'583'000);
    row("1712195495505583.001", 1'712'195'495'505'583'001);
    row("2413669097444.592", 2'413'669'097'444'592);
    row("1e3", 1'000'000);
    row("1.5E3", 1'500'000);
    row("1.5e+3", 1'500'000);
    row("1500e-3", 1'500);
    row("5e-4", 1);
    row("4e-4", 0);
    row("0e999999999999999999999", 0);
    row("1e-999999999999999999999", 0);
    row("0000000000000000000000001.5", 1'500);
    row("9223372036854775.807", std::numeric_limits<qint64>::max());
    row("-9223372036854775.807", -std::numeric_limits<qint64>::max());
}

void TestDecimalTime::microsecondsBecomeNanoseconds() {
    QFETCH(QString, text);
    QFETCH(qint64, expected_ns);
    const auto ns = nanosecondsOf(text.toStdString());
    QVERIFY(ns.has_value());
    QCOMPARE(static_cast<qint64>(*ns), expected_ns);
}

void TestDecimalTime::faultsAreTold_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("expected");
    const auto row = [](const char* text, DecimalFault fault) {
        QTest::newRow(text) << text << static_cast<int>(fault);
    };
    row("", DecimalFault::NotANumber);
    row("-", DecimalFault::NotANumber);
    row(".5", DecimalFault::NotANumber);
    row("5.", DecimalFault::NotANumber);
    row("1e", DecimalFault::NotANumber);
    row("1e+", DecimalFault::NotANumber);
    row("1.2.3", DecimalFault::NotANumber);
    row("12us", DecimalFault::NotANumber);
    row(" 12", DecimalFault::NotANumber);
    row("0x10", DecimalFault::NotANumber);
    row("null", DecimalFault::NotANumber);
    row("\"12\"", DecimalFault::NotANumber);
    row("\"", DecimalFault::NotANumber);
    row("NaN", DecimalFault::NotFinite);
    row("nan", DecimalFault::NotFinite);
    row("Infinity", DecimalFault::NotFinite);
    row("-Infinity", DecimalFault::NotFinite);
    row("inf", DecimalFault::NotFinite);
    row("\"Infinity\"", DecimalFault::NotFinite);
    row("\"-Infinity\"", DecimalFault::NotFinite);
    row("\"NaN\"", DecimalFault::NotFinite);
    row("9223372036854775.808", DecimalFault::OutOfRange);
    row("9223372036854775.8075", DecimalFault::OutOfRange);
    row("1e300", DecimalFault::OutOfRange);
    row("-1e999999999999999999999", DecimalFault::OutOfRange);
    row("100000000000000000000", DecimalFault::OutOfRange);
}

void TestDecimalTime::faultsAreTold() {
    QFETCH(QString, text);
    QFETCH(int, expected);
    const auto ns = nanosecondsOf(text.toStdString());
    QVERIFY(!ns.has_value());
    QCOMPARE(static_cast<int>(ns.error()), expected);
}

void TestDecimalTime::wholeNumbersAreExact_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("valid");
    QTest::addColumn<qint64>("expected");
    QTest::newRow("plain") << "42" << true << qint64{42};
    QTest::newRow("negative") << "-42" << true << qint64{-42};
    QTest::newRow("decimal zero") << "7.0" << true << qint64{7};
    QTest::newRow("exponent") << "1.5e1" << true << qint64{15};
    QTest::newRow("beyond 2^53") << "1790857026000000001" << true << qint64{1790857026000000001};
    QTest::newRow("largest") << "9223372036854775807" << true << std::numeric_limits<qint64>::max();
    QTest::newRow("too large") << "9223372036854775808" << false << qint64{0};
    QTest::newRow("fraction") << "7.5" << false << qint64{0};
    QTest::newRow("small fraction") << "5e-3" << false << qint64{0};
    QTest::newRow("text") << "stream 7" << false << qint64{0};
}

void TestDecimalTime::wholeNumbersAreExact() {
    QFETCH(QString, text);
    QFETCH(bool, valid);
    QFETCH(qint64, expected);
    const auto value = integerOf(text.toStdString());
    QCOMPARE(value.has_value(), valid);
    QCOMPARE(static_cast<qint64>(value.value_or(0)), expected);
}

void TestDecimalTime::anyNanosecondsSurviveTheWayThroughText() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        const auto ns = static_cast<std::int64_t>(random() >> (random() % 64));
        if (ns < 0) {
            continue;
        }
        const auto text = fmt::format("{}.{:03}", ns / 1000, ns % 1000);
        QCOMPARE(nanosecondsOf(text).value_or(-1), ns);
    }
}

QTEST_APPLESS_MAIN(TestDecimalTime)
#include "tst_decimal_time.moc"

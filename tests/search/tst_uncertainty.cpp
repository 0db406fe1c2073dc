// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/uncertainty.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <future>

using namespace kerf::search;

namespace {

TimeParts parts(ErrorSource source, double us) {
    TimeParts result{};
    result[static_cast<std::size_t>(source)] = us;
    return result;
}
ErrorModel allSources(double standard_deviation) {
    ErrorModel model{};
    model.fill(standard_deviation);
    return model;
}

constexpr int kMany = 40000;

} // namespace

class TestUncertainty : public QObject {
    Q_OBJECT

private slots:
    void withoutErrorTheIntervalIsThePrediction();
    void oneSourceHasLogNormalQuantiles_data();
    void oneSourceHasLogNormalQuantiles();
    void sharedErrorLeavesNoDoubt();
    void equalIndependentCandidatesWinHalf();
    void equalTimesShareTheWin();
    void chanceOfWinningIsAnalytic();
    void sharesOfWinningAddUpToOne();
    void tieByProbabilityOrByFraction_data();
    void tieByProbabilityOrByFraction();
    void sameSeedSameBits();
    void orderOfCandidatesDoesNotMatter();
    void threadsDoNotMatter();
    void nothingGivesNothing();
};

void TestUncertainty::withoutErrorTheIntervalIsThePrediction() {
    const TimeParts times{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto result = quantify({times}, allSources(0), 200, 1);
    QCOMPARE(result[0].predicted_us, 45.0);
    QCOMPARE(result[0].interval_us.low, 45.0);
    QCOMPARE(result[0].interval_us.high, 45.0);
}

void TestUncertainty::oneSourceHasLogNormalQuantiles_data() {
    // Median 1 and standard deviation s: s² = w(w − 1) with w = e^σ²; quantiles e^(±1.644854 σ).
    QTest::addColumn<double>("deviation");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    // s = √2: w = 2, σ = √ln 2 = 0.832555
    QTest::newRow("s = √2") << std::sqrt(2.0) << 0.254252 << 3.933111;
    // s = 0.15: w = (1 + √1.09)/2 = 1.022015, σ = 0.147569
    QTest::newRow("s = 0.15") << 0.15 << 0.784484 << 1.274723;
}

void TestUncertainty::oneSourceHasLogNormalQuantiles() {
    QFETCH(double, deviation);
    QFETCH(double, low);
    QFETCH(double, high);
    const auto result = quantify({parts(ErrorSource::Event, 100)}, allSources(deviation), kMany, 7);
    QVERIFY(std::abs(result[0].interval_us.low / (100 * low) - 1) < 0.03);
    QVERIFY(std::abs(result[0].interval_us.high / (100 * high) - 1) < 0.03);
}

void TestUncertainty::sharedErrorLeavesNoDoubt() {
    const TimeParts fast = parts(ErrorSource::MegakernelProduct, 100);
    const TimeParts slow = parts(ErrorSource::MegakernelProduct, 101);
    QCOMPARE(compare(fast, slow, allSources(0.5), 0, 200, 3).p_a_beats_b, 1.0);
    QCOMPARE(compare(slow, fast, allSources(0.5), 0, 200, 3).p_a_beats_b, 0.0);
}

void TestUncertainty::equalIndependentCandidatesWinHalf() {
    const auto result = compare(parts(ErrorSource::Launch, 100), parts(ErrorSource::Event, 100),
                                allSources(0.2), 0, kMany, 5);
    QVERIFY(std::abs(result.p_a_beats_b - 0.5) < 0.01); // four standard errors
    QVERIFY(result.tie);
}

void TestUncertainty::equalTimesShareTheWin() {
    const TimeParts times = parts(ErrorSource::Launch, 100);
    const auto result = quantify({times, times}, allSources(0.2), 100, 5);
    QVERIFY(std::abs(result[0].p_best - 0.5) < 1e-12);
    QVERIFY(std::abs(result[1].p_best - 0.5) < 1e-12);
}

void TestUncertainty::chanceOfWinningIsAnalytic() {
    // P(100 X < 110 Y) = Φ(ln 1.1 / (σ √2)), s = 0.15: Φ(0.095310 / 0.208693) = Φ(0.45670) =
    // 0.67606
    const auto result = compare(parts(ErrorSource::Launch, 100), parts(ErrorSource::Event, 110),
                                allSources(0.15), 0, kMany, 11);
    QVERIFY(std::abs(result.p_a_beats_b - 0.67606) < 0.01);
    QCOMPARE(result.difference_us, -10.0);
}

void TestUncertainty::sharesOfWinningAddUpToOne() {
    const auto result = quantify({parts(ErrorSource::Launch, 100), parts(ErrorSource::Event, 105),
                                  parts(ErrorSource::ConventionalRun, 95)},
                                 allSources(0.3), 500, 2);
    QVERIFY(std::abs(result[0].p_best + result[1].p_best + result[2].p_best - 1) < 1e-12);
}

void TestUncertainty::tieByProbabilityOrByFraction_data() {
    QTest::addColumn<double>("a");
    QTest::addColumn<double>("deviation");
    QTest::addColumn<double>("fraction");
    QTest::addColumn<bool>("tie");
    // b = 100 of another source
    QTest::newRow("far apart") << 50.0 << 0.05 << 0.02 << false;
    QTest::newRow("certain, but within the fraction") << 99.0 << 0.0 << 0.02 << true;
    QTest::newRow("certain and at the fraction") << 98.0 << 0.0 << 0.02 << false;
    QTest::newRow("uncertain, though far apart") << 80.0 << 0.5 << 0.0 << true;
}

void TestUncertainty::tieByProbabilityOrByFraction() {
    QFETCH(double, a);
    QFETCH(double, deviation);
    QFETCH(double, fraction);
    QFETCH(bool, tie);
    const auto result = compare(parts(ErrorSource::Launch, a), parts(ErrorSource::Event, 100),
                                allSources(deviation), fraction, 1000, 4);
    QCOMPARE(result.tie, tie);
}

void TestUncertainty::sameSeedSameBits() {
    const TimeParts times{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto first = quantify({times}, allSources(0.2), 200, 9);
    const auto second = quantify({times}, allSources(0.2), 200, 9);
    const auto other = quantify({times}, allSources(0.2), 200, 10);
    QVERIFY(first[0].interval_us.low == second[0].interval_us.low);
    QVERIFY(first[0].interval_us.low != other[0].interval_us.low);
}

void TestUncertainty::orderOfCandidatesDoesNotMatter() {
    const TimeParts a{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const TimeParts b{9, 8, 7, 6, 5, 4, 3, 2, 1};
    const auto ab = quantify({a, b}, allSources(0.2), 200, 9);
    const auto ba = quantify({b, a}, allSources(0.2), 200, 9);
    QVERIFY(ab[0].interval_us.high == ba[1].interval_us.high);
    QVERIFY(ab[0].p_best == ba[1].p_best);
}

void TestUncertainty::threadsDoNotMatter() {
    const TimeParts a{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto run = [&] { return quantify({a}, allSources(0.2), 2000, 9)[0].interval_us.high; };
    const double alone = run();
    std::vector<std::future<double>> together;
    for (int i = 0; i < 4; ++i) {
        together.push_back(std::async(std::launch::async, run));
    }
    QVERIFY(std::all_of(together.begin(), together.end(),
                        [&](auto& future) { return future.get() == alone; }));
}

void TestUncertainty::nothingGivesNothing() {
    QVERIFY(quantify({}, allSources(0.2), 200, 1).empty());
}

QTEST_APPLESS_MAIN(TestUncertainty)
#include "tst_uncertainty.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// The same input gives the same bits, whatever the number of threads and the order of candidates.
// Before Qt, whose "emit" is a macro.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "core/search/predictor.h"

#include <QTest>
#include <algorithm>
#include <random>

#include "search/toy_case.h"

using namespace kerf;

namespace {

search::SearchResult searchOn(std::size_t threads) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    search::Predictor predictor(test::caseOf(test::speechLike()));
    Progress progress;
    return search::searchCase(predictor, {}, 5, progress).value();
}

std::vector<search::TimeParts> someCandidates() {
    std::mt19937 random(1);
    std::vector<search::TimeParts> candidates(7);
    for (auto& parts : candidates) {
        for (auto& part : parts) {
            part = static_cast<double>(random() % 1000);
        }
    }
    return candidates;
}

} // namespace

class TestDeterminism : public QObject {
    Q_OBJECT
private slots:
    void aSearchOnAnyNumberOfThreads_data();
    void aSearchOnAnyNumberOfThreads();
    void replicasInAnyOrderOfCandidates();
    void replicasFromManyThreadsAtOnce();
    void anotherSeedGivesOtherReplicas();
};

void TestDeterminism::aSearchOnAnyNumberOfThreads_data() {
    QTest::addColumn<std::size_t>("threads");
    QTest::newRow("2") << std::size_t{2};
    QTest::newRow("8") << std::size_t{8};
}

void TestDeterminism::aSearchOnAnyNumberOfThreads() {
    QFETCH(std::size_t, threads);
    const auto one = searchOn(1);
    const auto many = searchOn(threads);
    QCOMPARE(many.candidates.size(), one.candidates.size());
    for (std::size_t i = 0; i < one.candidates.size(); ++i) {
        const auto& a = one.candidates[i];
        const auto& b = many.candidates[i];
        QVERIFY(a.prediction.composition == b.prediction.composition);
        QVERIFY(a.prediction.ttfa_us == b.prediction.ttfa_us);
        QVERIFY(a.uncertain.interval_us.low == b.uncertain.interval_us.low);
        QVERIFY(a.uncertain.interval_us.high == b.uncertain.interval_us.high);
        QVERIFY(a.uncertain.p_best == b.uncertain.p_best);
        QVERIFY(a.prediction.streaming.mean_batch_p95_us ==
                b.prediction.streaming.mean_batch_p95_us);
        QCOMPARE(a.ties_best, b.ties_best);
    }
}

void TestDeterminism::replicasInAnyOrderOfCandidates() {
    const auto candidates = someCandidates();
    search::ErrorModel errors{};
    errors.fill(0.2);
    const auto expected = search::quantify(candidates, errors, 300, 42);
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6};
    std::mt19937 random(2);
    for (int shuffles = 0; shuffles < 10; ++shuffles) {
        std::shuffle(order.begin(), order.end(), random);
        std::vector<search::TimeParts> shuffled;
        for (const auto i : order) {
            shuffled.push_back(candidates[i]);
        }
        const auto found = search::quantify(shuffled, errors, 300, 42);
        for (std::size_t i = 0; i < order.size(); ++i) {
            QVERIFY(found[i].p_best == expected[order[i]].p_best);
            QVERIFY(found[i].mean_us == expected[order[i]].mean_us);
            QVERIFY(found[i].interval_us.low == expected[order[i]].interval_us.low);
            QVERIFY(found[i].interval_us.high == expected[order[i]].interval_us.high);
        }
    }
}

void TestDeterminism::replicasFromManyThreadsAtOnce() {
    const auto candidates = someCandidates();
    search::ErrorModel errors{};
    errors.fill(0.2);
    const auto expected = search::quantify(candidates, errors, 300, 42);
    std::vector<double> means(64);
    tbb::parallel_for(std::size_t{0}, means.size(), [&](std::size_t i) {
        means[i] = search::quantify(candidates, errors, 300, 42)[i % candidates.size()].mean_us;
    });
    for (std::size_t i = 0; i < means.size(); ++i) {
        QVERIFY(means[i] == expected[i % candidates.size()].mean_us);
    }
}

void TestDeterminism::anotherSeedGivesOtherReplicas() {
    search::ErrorModel errors{};
    errors.fill(0.2);
    QVERIFY(search::quantify(someCandidates(), errors, 300, 42)[0].mean_us !=
            search::quantify(someCandidates(), errors, 300, 43)[0].mean_us);
}

QTEST_APPLESS_MAIN(TestDeterminism)
#include "tst_determinism.moc"

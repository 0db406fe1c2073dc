// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/predictor.h"

#include "search/toy_case.h"

#include <QTest>
#include <random>

using namespace kerf;
using graph::Composition;
using graph::Mode;

namespace {

std::shared_ptr<const search::Case> toyCase() {
    auto made = test::caseOf(test::speechLike());
    made->audio_ms_per_path = 100;
    return made;
}

Composition randomComposition(const graph::Chain& chain, std::mt19937& random) {
    Composition composition;
    composition.first_mode = random() % 2 == 0 ? Mode::Megakernel : Mode::Conventional;
    for (std::size_t site = 0; site < chain.sites.size(); ++site) {
        if (random() % 4 == 0) {
            composition.cuts[static_cast<graph::SiteIndex>(site)] =
                random() % 2 == 0 ? Mode::Megakernel : Mode::Conventional;
        }
    }
    return composition;
}

} // namespace

class TestPredictor : public QObject {
    Q_OBJECT
private slots:
    void theConventionalPredictionIsTheReplay();
    void theMonolithIsOneLaunch();
    void partsSumToTheTime();
    void aMovedBoundaryEqualsAFreshPrediction();
    void coverageIsTheShareOfConventionalTime();
    void throughputAndRtfFollowFromTheSteadyPass();
    void theCacheStaysBounded();
    void searchReportsEveryKindBestFirst();
    void noRandomCompositionBeatsTheBestFound();
    void aCancelledSearchSaysSo();
};

void TestPredictor::theConventionalPredictionIsTheReplay() {
    const auto theCase = toyCase();
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::fullyConventional(), 0);
    QVERIFY(prediction);
    const double replayUs = workload::replayUs(theCase->corrected);
    QVERIFY(std::abs(prediction->ttfa_us - replayUs) < 1e-6 * replayUs);
    QCOMPARE(prediction->coverage, 0.0);
    // prefill 1+15+3, inner 12 × (1+10+3), outer 2 × 19, tail 14 recorded kernels.
    QCOMPARE(prediction->launches, 19 + 12 * 14 + 2 * 19 + 14);
}

void TestPredictor::theMonolithIsOneLaunch() {
    search::Predictor predictor(toyCase());
    const auto prediction = predictor.predict(graph::monolith(), 0);
    QVERIFY(prediction);
    QCOMPARE(prediction->launches, 1);
    QCOMPARE(prediction->coverage, 1.0);
    QCOMPARE(prediction->regions.size(), std::size_t{1});
}

void TestPredictor::partsSumToTheTime() {
    const auto theCase = toyCase();
    search::Predictor predictor(theCase);
    std::mt19937 random(1);
    for (int i = 0; i < 30; ++i) {
        const auto prediction = predictor.predict(randomComposition(theCase->chain, random), 0);
        QVERIFY(prediction);
        QVERIFY(std::abs(search::total(prediction->parts) - prediction->ttfa_us) <
                1e-6 * prediction->ttfa_us);
    }
}

void TestPredictor::aMovedBoundaryEqualsAFreshPrediction() {
    const auto theCase = toyCase();
    search::Predictor warm(theCase);
    std::mt19937 random(7);
    auto composition = randomComposition(theCase->chain, random);
    for (int i = 0; i < 25; ++i) {
        // Move one boundary, as a drag does.
        const auto from = static_cast<graph::SiteIndex>(random() % theCase->chain.sites.size());
        const auto to = static_cast<graph::SiteIndex>(random() % theCase->chain.sites.size());
        composition.cuts.erase(from);
        composition.cuts[to] = Mode::Megakernel;
        const auto incremental = warm.predict(composition, 50);
        search::Predictor cold(theCase);
        const auto full = cold.predict(composition, 50);
        QVERIFY(incremental && full);
        QCOMPARE(incremental->ttfa_us, full->ttfa_us); // the same bits
        QCOMPARE(incremental->ttfa_interval_us.low, full->ttfa_interval_us.low);
        QCOMPARE(incremental->steady_us, full->steady_us);
    }
    QVERIFY(warm.cacheStats().hits > 0);
}

void TestPredictor::coverageIsTheShareOfConventionalTime() {
    const auto theCase = toyCase();
    search::Predictor predictor(theCase);
    Composition composition = graph::fullyConventional();
    for (std::size_t i = 0; i < theCase->chain.sites.size(); ++i) {
        if (theCase->chain.sites[i].key == "tail/start") {
            composition.cuts[static_cast<graph::SiteIndex>(i)] = Mode::Megakernel;
        }
    }
    const auto prediction = predictor.predict(composition, 0);
    QVERIFY(prediction);
    const auto& tail = theCase->corrected.stages[3];
    const double expected =
        (workload::stageUs(tail) + tail.entry_gap_us) / workload::replayUs(theCase->corrected);
    QVERIFY(std::abs(prediction->coverage - expected) < 1e-9);
}

void TestPredictor::throughputAndRtfFollowFromTheSteadyPass() {
    const auto theCase = toyCase();
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::fullyConventional(), 0);
    QVERIFY(prediction);
    const auto& stages = theCase->corrected.stages;
    const auto whole = [](const workload::Stage& stage) {
        return workload::stageUs(stage) + stage.entry_gap_us;
    };
    const double steadyUs = 3 * (whole(stages[2]) + 4 * whole(stages[1])) + whole(stages[3]);
    QVERIFY(std::abs(prediction->steady_us - steadyUs) < 1e-6 * steadyUs);
    QVERIFY(std::abs(prediction->throughput_per_s - 1e6 / steadyUs) < 1e-6);
    QVERIFY(std::abs(prediction->rtf - steadyUs / 100'000) < 1e-9);
}

void TestPredictor::theCacheStaysBounded() {
    const auto theCase = toyCase();
    search::Predictor predictor(theCase, 20);
    std::mt19937 random(3);
    for (int i = 0; i < 40; ++i) {
        QVERIFY(predictor.predict(randomComposition(theCase->chain, random), 0));
        QVERIFY(predictor.cacheStats().entries <= 20);
    }
}

void TestPredictor::searchReportsEveryKindBestFirst() {
    search::Predictor predictor(toyCase());
    Progress progress;
    const auto result = search::searchCase(predictor, {}, 5, progress);
    QVERIFY(result);
    std::set<graph::Kind> kinds;
    for (std::size_t i = 0; i < result->candidates.size(); ++i) {
        kinds.insert(result->candidates[i].prediction.kind);
        QVERIFY(i == 0 || result->candidates[i - 1].prediction.ttfa_us <=
                              result->candidates[i].prediction.ttfa_us);
    }
    QCOMPARE(kinds.size(), std::size_t{4});
    QVERIFY(result->candidates.front().ties_best);
    double sum = 0;
    for (const auto& candidate : result->candidates) {
        sum += candidate.uncertain.p_best;
    }
    QVERIFY(std::abs(sum - 1) < 1e-9);
}

void TestPredictor::noRandomCompositionBeatsTheBestFound() {
    const auto theCase = toyCase();
    search::Predictor predictor(theCase);
    Progress progress;
    const auto result = search::searchCase(predictor, {}, 5, progress);
    QVERIFY(result);
    const double best = result->candidates.front().prediction.ttfa_us;
    std::mt19937 random(11);
    for (int i = 0; i < 300; ++i) {
        const auto other = predictor.predict(randomComposition(theCase->chain, random), 0);
        QVERIFY(other);
        QVERIFY(other->ttfa_us >= best * (1 - 1e-12));
    }
}

void TestPredictor::aCancelledSearchSaysSo() {
    search::Predictor predictor(toyCase());
    Progress progress;
    progress.cancelled = true;
    const auto result = search::searchCase(predictor, {}, 5, progress);
    QVERIFY(!result);
    QVERIFY(result.error().what.find("cancelled") != std::string::npos);
}

QTEST_APPLESS_MAIN(TestPredictor)
#include "tst_predictor.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/programmatic.h"

#include <QTest>

#include "search/toy_case.h"

using namespace kerf;
using graph::Mode;
using workload::OpRole;

namespace {

/// kernel, kernel (gap 0.5), memset (0.4), kernel (0.3), kernel (0.03), kernel (overlaps by 0.2).
workload::Workload oneStage(int repeats) {
    workload::Stage stage;
    stage.name = "step";
    stage.entry_gap_us = 5;
    stage.ops = {test::op(OpRole::Product, 10, 0),     test::op(OpRole::Product, 10, 0.5),
                 test::op(OpRole::Memset, 1, 0.4),     test::op(OpRole::Product, 10, 0.3),
                 test::op(OpRole::Attention, 8, 0.03), test::op(OpRole::Product, 10, -0.2)};
    workload::Workload workload;
    workload.model = "toy";
    workload.stages = {stage};
    workload.path = {{0, repeats}};
    return workload;
}

/// Two megakernels: all up to the last product, whose many tiles leave a tail; and the sample.
graph::Composition twoRegions(const search::Case& theCase) {
    auto composition = graph::monolith();
    composition.cuts[test::siteOf(theCase.chain, "tail/before suffix/sample.1")] = Mode::Megakernel;
    return composition;
}

double blame(const search::RegionPrediction& region, sim::Bound bound) {
    return region.blame[static_cast<std::size_t>(bound)];
}

} // namespace

class TestProgrammatic : public QObject {
    Q_OBJECT
private slots:
    void gapsBetweenKernelsShrinkByTheDifference();
    void noGapShrinksBelowZero();
    void aDearerProgrammaticGapSavesNothing();
    void offChangesNothing();
    void boundariesCostTheSmallerGapAndHideTheShorterOfTailAndStart();
    void conventionalNeighboursHideNothing();
    void partsStillSumToTheTime();
    void everyIterationsBoundaryIsCounted();
};

void TestProgrammatic::gapsBetweenKernelsShrinkByTheDifference() {
    const auto theCase = test::caseOf(oneStage(3));
    theCase->hardware.launch_gap_us.value = 0.60;
    theCase->hardware.launch_gap_pdl_us.value = 0.55;
    const auto baseline = search::conventionalProgrammatic(*theCase);
    // Kernel pairs a pass: 0→1 saves 0.05, 3→4 all of its 0.03, 4→5 nothing (they overlap). The
    // memset's two gaps and the entry gap stay.
    QCOMPARE(baseline.edges, 9);
    QVERIFY(std::abs(baseline.saved_us - 3 * 0.08) < 1e-9);
    // 10+10+1+10+8+10 of work and 0.5+0.4+0.3+0.03−0.2 of gaps and 5 of entry, three times.
    QVERIFY(std::abs(baseline.us - 3 * (49 + 1.03 + 5 - 0.08)) < 1e-9);
}

void TestProgrammatic::noGapShrinksBelowZero() {
    const auto theCase = test::caseOf(oneStage(1));
    theCase->hardware.launch_gap_us.value = 100;
    const auto baseline = search::conventionalProgrammatic(*theCase);
    QVERIFY(std::abs(baseline.saved_us - 0.53) < 1e-9); // 0.5 + 0.03
}

void TestProgrammatic::aDearerProgrammaticGapSavesNothing() {
    const auto theCase = test::caseOf(oneStage(1));
    theCase->hardware.launch_gap_pdl_us.value = theCase->hardware.launch_gap_us.value + 1;
    QCOMPARE(search::conventionalProgrammatic(*theCase).saved_us, 0.0);
}

void TestProgrammatic::offChangesNothing() {
    const auto theCase = test::caseOf(test::speechLike());
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(twoRegions(*theCase), 0);
    QVERIFY(prediction);
    QCOMPARE(prediction->overlap_us, 0.0);
    const auto& hardware = theCase->hardware;
    QCOMPARE(prediction->regions[0].boundary_us,
             hardware.launch_gap_us.value + hardware.prologue_us.value + hardware.drain_us.value);
}

void TestProgrammatic::boundariesCostTheSmallerGapAndHideTheShorterOfTailAndStart() {
    const auto plain = test::caseOf(test::speechLike());
    search::Predictor without(plain);
    const auto before = without.predict(twoRegions(*plain), 0);
    auto on = std::make_shared<search::Case>(*plain);
    on->programmatic_boundaries = true;
    search::Predictor with(on);
    const auto after = with.predict(twoRegions(*on), 0);
    QVERIFY(before && after);
    QCOMPARE(after->regions.size(), std::size_t{2});
    const double tailUs = blame(after->regions[0], sim::Bound::Tail);
    const double startUs =
        on->hardware.prologue_us.value + blame(after->regions[1], sim::Bound::Prologue);
    const double gapUs = on->hardware.launch_gap_us.value - on->hardware.launch_gap_pdl_us.value;
    QVERIFY(tailUs > 0);
    QVERIFY(std::abs(after->overlap_us - std::min(tailUs, startUs)) < 1e-9);
    QVERIFY(std::abs(before->ttfa_us - 2 * gapUs - after->overlap_us - after->ttfa_us) < 1e-6);
}

void TestProgrammatic::conventionalNeighboursHideNothing() {
    auto theCase = test::caseOf(test::speechLike());
    theCase->programmatic_boundaries = true;
    search::Predictor predictor(theCase);
    auto composition = twoRegions(*theCase);
    composition.first_mode = Mode::Conventional;
    const auto first = predictor.predict(composition, 0);
    composition.first_mode = Mode::Megakernel;
    composition.cuts.begin()->second = Mode::Conventional;
    const auto last = predictor.predict(composition, 0);
    QVERIFY(first && last);
    QCOMPARE(first->overlap_us, 0.0);
    QCOMPARE(last->overlap_us, 0.0);
}

void TestProgrammatic::partsStillSumToTheTime() {
    auto theCase = test::caseOf(test::speechLike());
    theCase->programmatic_boundaries = true;
    search::Predictor predictor(theCase);
    auto composition = graph::monolith();
    for (std::size_t i = 0; i < theCase->chain.sites.size(); ++i) {
        composition.cuts[static_cast<graph::SiteIndex>(i)] = Mode::Megakernel;
    }
    const auto prediction = predictor.predict(composition, 0);
    QVERIFY(prediction);
    QVERIFY(prediction->overlap_us > 0);
    QVERIFY(std::abs(search::total(prediction->parts) - prediction->ttfa_us) <
            1e-6 * prediction->ttfa_us);
    for (const double part : prediction->parts) {
        QVERIFY(part >= 0);
    }
}

void TestProgrammatic::everyIterationsBoundaryIsCounted() {
    const auto theCase = test::caseOf(test::speechLike());
    auto composition = graph::monolith();
    composition.cuts[test::siteOf(theCase->chain, "inner/enter")] = Mode::Megakernel;
    composition.cuts[test::siteOf(theCase->chain, "inner/again")] = Mode::Megakernel;
    std::int64_t pairs = 0;
    for (const auto& pair : graph::consecutiveRegions(theCase->chain, composition)) {
        pairs += pair.count;
    }
    std::int64_t launches = 0;
    for (const auto& use : graph::regionsOf(theCase->chain, composition)) {
        launches += use.count;
    }
    QCOMPARE(pairs, launches - 1);
}

QTEST_APPLESS_MAIN(TestProgrammatic)
#include "tst_programmatic.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_timeline.h"
#include "views/time_range.h"
#include "views/timeline_rects.h"

#include <QTest>

using namespace kerf;
using namespace kerf::views;

class TestTimelineModel : public QObject {
    Q_OBJECT

private slots:
    void theRecordedRequestIsTheOneWithTheMedianSpan();
    void opsLieWhereTheirSamplesSay();
    void copiesHaveTheirOwnLane();
    void withoutAWholeRequestMeansAreShown();
    void launchesFollowEachOtherUpToThePrediction();
    void aRegionIsSimulatedOnceHoweverOftenItIsLaunched();
    void tilesBeyondTheCapAreSaidToBeMissing();
    void aFailedSimulationLeavesABlock();
    void conventionalOpsFillTheirRegion();

    void ticksAreRoundAndLabelled_data();
    void ticksAreRoundAndLabelled();
    void zoomKeepsTheTimeUnderTheCursor();
    void rangeStaysWithinTheRequest_data();
    void rangeStaysWithinTheRequest();

    void wideSlicesAreRectanglesOfTheirOwn();
    void aMillionSlicesGiveAtMostARectangleAPixel();
    void busyBarsShowTheShareOfWorkers();
    void tileRowsShowEachWorker();
};

namespace {

TimelinePredicted predictedSmall() {
    return timelineOf(*test::smallCase(), test::smallPrediction(), [](graph::Region) {
        return Expected<sim::RegionResult>(test::smallRegion());
    });
}

} // namespace

void TestTimelineModel::theRecordedRequestIsTheOneWithTheMedianSpan() {
    QCOMPARE(recordedOf(*test::smallCase()).total_us, 31.0);
}

void TestTimelineModel::opsLieWhereTheirSamplesSay() {
    const auto recorded = recordedOf(*test::smallCase());
    QCOMPARE(recorded.streams.size(), 1U);
    const auto& slices = recorded.streams[0].slices;
    QCOMPARE(slices.size(), 5U); // prefill, and norm and product of both steps
    QCOMPARE(slices[1].start_us, 12.0);
    QCOMPARE(slices[2].start_us, 15.0); // 12 + 2 norm + 1 gap
    QCOMPARE(slices[4].end_us, 30.0);   // 22 + 2 + 1 + 5
    QCOMPARE(recorded.details[slices[2].detail].kernel, std::string("gemm_step"));
}

void TestTimelineModel::copiesHaveTheirOwnLane() {
    const auto recorded = recordedOf(*test::smallCase());
    QCOMPARE(recorded.copies.slices.size(), 2U);
    QCOMPARE(recorded.copies.slices[1].start_us, 30.0);
}

void TestTimelineModel::withoutAWholeRequestMeansAreShown() {
    auto theCase = test::smallCase();
    for (auto& stage : theCase->traced.stages) {
        stage.instances.clear();
    }
    theCase->traced.stages[1].entry_gap_us = 1;
    const auto recorded = recordedOf(*theCase);
    QCOMPARE(recorded.total_us, 30.0); // 10, then twice 1 + 9
    QVERIFY(recorded.note.find("typical") != std::string::npos);
}

void TestTimelineModel::launchesFollowEachOtherUpToThePrediction() {
    const auto predicted = predictedSmall();
    QCOMPARE(predicted.launches.size(), 3U);
    QCOMPARE(predicted.launches[1].start_us, 15.0);
    QCOMPARE(predicted.launches[2].start_us, 23.0);
    QCOMPARE(predicted.total_us, test::smallPrediction().ttfa_us);
}

void TestTimelineModel::aRegionIsSimulatedOnceHoweverOftenItIsLaunched() {
    auto theCase = test::smallCase();
    theCase->chain.items[2].count = 5; // the first step, three in between, the last
    auto prediction = test::smallPrediction();
    prediction.regions.push_back(prediction.regions[1]);
    prediction.regions.back().use.region = {1, 1};
    int simulated = 0;
    const auto predicted = timelineOf(*theCase, prediction, [&](graph::Region) {
        ++simulated;
        return Expected<sim::RegionResult>(test::smallRegion());
    });
    QCOMPARE(predicted.launches.size(), 6U);
    QCOMPARE(simulated, 3);
}

void TestTimelineModel::tilesBeyondTheCapAreSaidToBeMissing() {
    const auto predicted = timelineOf(
        *test::smallCase(), test::smallPrediction(),
        [](graph::Region) { return Expected<sim::RegionResult>(test::smallRegion()); }, 12);
    QCOMPARE(predicted.pictures.size(), 1U); // 12 tiles a region: none left for the second
    QCOMPARE(predicted.launches[2].picture, std::ptrdiff_t(-1));
    QVERIFY(predicted.note.find("too many tiles") != std::string::npos);
}

void TestTimelineModel::aFailedSimulationLeavesABlock() {
    const auto predicted =
        timelineOf(*test::smallCase(), test::smallPrediction(),
                   [](graph::Region) -> Expected<sim::RegionResult> { return fail("no"); });
    QCOMPARE(predicted.total_us, 31.0);
    QVERIFY(predicted.note.find("not simulated") != std::string::npos);
}

void TestTimelineModel::conventionalOpsFillTheirRegion() {
    const auto predicted = predictedSmall();
    QCOMPARE(predicted.kernels.slices.size(), 1U);
    QCOMPARE(predicted.kernels.slices[0].end_us, 15.0);
}

void TestTimelineModel::ticksAreRoundAndLabelled_data() {
    QTest::addColumn<double>("span_us");
    QTest::addColumn<QString>("second");
    QTest::newRow("milliseconds") << 10'000.0 << QStringLiteral("1 ms");
    QTest::newRow("tenths of milliseconds") << 2'000.0 << QStringLiteral("0.2 ms");
    QTest::newRow("microseconds") << 50.0 << QStringLiteral("5 µs");
    QTest::newRow("tenths of microseconds") << 2.0 << QStringLiteral("0.2 µs");
}

void TestTimelineModel::ticksAreRoundAndLabelled() {
    QFETCH(double, span_us);
    const auto ticks = ticksOf({{0, span_us}, 0, 1000}, 90);
    QTEST(ticks.at(1).label, "second");
}

void TestTimelineModel::zoomKeepsTheTimeUnderTheCursor() {
    const TimeRange range = zoomed({0, 100}, 4, 30, 100);
    QCOMPARE(range.span_us(), 25.0);
    QCOMPARE((30 - range.start_us) / range.span_us(), 0.3);
}

void TestTimelineModel::rangeStaysWithinTheRequest_data() {
    QTest::addColumn<double>("start");
    QTest::addColumn<double>("end");
    QTest::addColumn<double>("expected_start");
    QTest::addColumn<double>("expected_end");
    QTest::newRow("inside") << 10.0 << 20.0 << 10.0 << 20.0;
    QTest::newRow("before") << -10.0 << 20.0 << 0.0 << 30.0;
    QTest::newRow("behind") << 90.0 << 120.0 << 70.0 << 100.0;
    QTest::newRow("longer") << -50.0 << 500.0 << 0.0 << 100.0;
    QTest::newRow("too short") << 10.0 << 10.0 << 10.0 << 10.0 + kLeastSpan_us;
}

void TestTimelineModel::rangeStaysWithinTheRequest() {
    QFETCH(double, start);
    QFETCH(double, end);
    const TimeRange range = clamped({start, end}, 100);
    QTEST(range.start_us, "expected_start");
    QTEST(range.end_us, "expected_end");
}

void TestTimelineModel::wideSlicesAreRectanglesOfTheirOwn() {
    std::vector<TimelineDetail> details(2);
    details[1].op_class = workload::OpClass::Product;
    const auto rects = rectsOf({{0, 10, 0}, {12, 30, 1}}, details, {{0, 100}, 50, 200});
    const std::vector<LaneRect> expected{{50, 20, 0, 1, workload::OpClass::Elementwise},
                                         {74, 36, 0, 1, workload::OpClass::Product}};
    QCOMPARE(rects, expected);
}

void TestTimelineModel::aMillionSlicesGiveAtMostARectangleAPixel() {
    std::vector<TimelineDetail> details(2);
    details[1].op_class = workload::OpClass::Product;
    std::vector<TimelineSlice> slices;
    for (std::uint32_t i = 0; i < 1'000'000; ++i) {
        slices.push_back({i * 1.0, i + 0.9, i / 10'000 % 2});
    }
    const auto rects = rectsOf(slices, details, {{0, 1e6}, 0, 1000});
    QVERIFY(rects.size() <= 1000);
    QCOMPARE(rects.size(), 100U); // equal neighbours are joined: a hundred stretches of one class
}

void TestTimelineModel::busyBarsShowTheShareOfWorkers() {
    const auto predicted = predictedSmall();
    // 10 px a µs: the first step's tiles start at 17 µs (8 µs launch, 2 µs boundary).
    const TimeAxis axis{{15, 25}, 0, 100};
    const auto workers01 = busyRects(predicted, 0, axis);
    QCOMPARE(workers01.size(), 2U);
    QCOMPARE(workers01[0].left_px, 20.0);
    QCOMPARE(workers01[0].width_px, 10.0);
    QVERIFY(workers01[1].op_class == workload::OpClass::Product);
    QCOMPARE(workers01[1].left_px, 30.0);
    QCOMPARE(workers01[1].height, 1.0);
    const auto workers67 = busyRects(predicted, 3, axis);
    QCOMPARE(workers67.size(), 1U); // no product there
}

void TestTimelineModel::tileRowsShowEachWorker() {
    const auto rects = tileRects(predictedSmall(), 0, {{15, 25}, 0, 100});
    QCOMPARE(rects.size(), 4U); // two workers, two tiles
    QCOMPARE(rects[0].height, 0.5);
}

QTEST_GUILESS_MAIN(TestTimelineModel)
#include "tst_timeline_model.moc"

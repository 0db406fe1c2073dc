// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/metrics.h"

#include <QTest>
#include <numeric>
#include <random>

#include "search/toy_case.h"

using namespace kerf;

namespace {

using search::Output;
using search::OutputSettings;

workload::PathTree treeOf(const char* path) {
    const auto workload = test::speechLike();
    return workload::foldPath(workload::parsePath(workload, path).value());
}

Expected<Output> outputOf(const OutputSettings& settings, const char* path, int batch = 1) {
    return search::outputOf(settings, treeOf(path), batch, "p.kerf, model toy");
}

/// A toy of `batch` requests whose last stage, `tail`, passes once a request.
std::shared_ptr<search::Case> oneTailARequest(int batch) {
    auto workload = test::speechLike();
    workload.batch = batch;
    workload.path.back().repeats = batch;
    auto theCase = test::caseOf(workload);
    theCase->requests_per_last_pass = 1;
    theCase->last_passes = batch;
    return theCase;
}

/// First chunk that is late, from playing chunks one after another; 0: none of the first 10,000.
std::int64_t stallByPlaying(double first_us, double chunk_us, double gap_us) {
    double heard_until_us = first_us; // from the first chunk on
    for (std::int64_t chunk = 2; chunk < 10'000; ++chunk) {
        if (static_cast<double>(chunk - 1) * gap_us > heard_until_us) {
            return chunk;
        }
        heard_until_us += chunk_us;
    }
    return 0;
}

} // namespace

class TestMetrics : public QObject {
    Q_OBJECT
private slots:
    void percentilesAreThoseOfNumpy_data();
    void percentilesAreThoseOfNumpy();
    void percentilesThatWouldBeNoiseAreRefused_data();
    void percentilesThatWouldBeNoiseAreRefused();
    void requestsLeaveWithTheirPass();
    void requestsLeaveTogetherWithoutPasses();
    void playbackStalls_data();
    void playbackStalls();
    void playbackAgreesWithPlayingChunkByChunk();
    void framesComeFromTheLoop_data();
    void framesComeFromTheLoop();
    void audioIsNotCountedTwice();
    void contradictionsAreRefused_data();
    void contradictionsAreRefused();
    void passesOfTheLastStageReleaseRequests();
    void together95IsTheTtfa();
    void oneAfterAnotherThe95thIsInterpolated();
    void aMegakernelReleasesItsFirstRequestBeforeItsLast();
    void theMeanBatchP95ScalesWithTheReplicas();
    void theGapIsTheSteadyPass();
    void textHasNoUnderrun();
    void theNinetyNinthNeedsAHundredRequests();
};

void TestMetrics::percentilesAreThoseOfNumpy_data() {
    QTest::addColumn<std::vector<double>>("samples");
    QTest::addColumn<double>("share");
    QTest::addColumn<double>("expected");
    std::vector<double> hundred(100);
    std::iota(hundred.begin(), hundred.end(), 1.0);
    QTest::newRow("one") << std::vector<double>{7} << 0.95 << 7.0;
    QTest::newRow("between two") << std::vector<double>{4, 1, 3, 2} << 0.95 << 3.85;
    QTest::newRow("median of even") << std::vector<double>{4, 1, 3, 2} << 0.5 << 2.5;
    QTest::newRow("ends") << std::vector<double>{4, 1, 3, 2} << 0.0 << 1.0;
    QTest::newRow("p99 of a hundred") << hundred << 0.99 << 99.01;
}

void TestMetrics::percentilesAreThoseOfNumpy() {
    QFETCH(std::vector<double>, samples);
    QFETCH(double, share);
    QFETCH(double, expected);
    QVERIFY(std::abs(search::percentile(samples, share).value() - expected) < 1e-9);
}

void TestMetrics::percentilesThatWouldBeNoiseAreRefused_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<double>("share");
    QTest::newRow("no sample") << 0 << 0.5;
    QTest::newRow("p99 of 99") << 99 << 0.99;
    QTest::newRow("beyond 100 %") << 200 << 1.1;
    QTest::newRow("not a number") << 200 << std::nan("");
}

void TestMetrics::percentilesThatWouldBeNoiseAreRefused() {
    QFETCH(int, count);
    QFETCH(double, share);
    QVERIFY(!search::percentile(std::vector<double>(static_cast<std::size_t>(count), 1), share));
}

void TestMetrics::requestsLeaveWithTheirPass() {
    QCOMPARE(search::requestTimesUs(10, 40, 4, 2, 7),
             (std::vector<double>{10, 10, 20, 20, 30, 30, 40}));
}

void TestMetrics::requestsLeaveTogetherWithoutPasses() {
    QCOMPARE(search::requestTimesUs(10, 40, 1, 1, 3), (std::vector<double>{40, 40, 40}));
}

void TestMetrics::playbackStalls_data() {
    QTest::addColumn<double>("first");
    QTest::addColumn<double>("chunk");
    QTest::addColumn<double>("gap");
    QTest::addColumn<double>("underrun");
    QTest::addColumn<int>("stallsAt");
    QTest::newRow("in time") << 80.0 << 80.0 << 60.0 << 0.0 << 0;
    QTest::newRow("just in time") << 80.0 << 80.0 << 80.0 << 0.0 << 0;
    QTest::newRow("late from the start") << 80.0 << 80.0 << 100.0 << 20.0 << 2;
    // 80 of lead last for four chunks that are 20 late each; the fifth gap is too much.
    QTest::newRow("a lead that is used up") << 160.0 << 80.0 << 100.0 << 20.0 << 6;
    QTest::newRow("part of a lead") << 150.0 << 80.0 << 100.0 << 20.0 << 5;
    QTest::newRow("short first chunk") << 40.0 << 80.0 << 60.0 << 0.0 << 2;
    QTest::newRow("short but enough") << 70.0 << 80.0 << 60.0 << 0.0 << 0;
}

void TestMetrics::playbackStalls() {
    QFETCH(double, first);
    QFETCH(double, chunk);
    QFETCH(double, gap);
    QFETCH(double, underrun);
    QFETCH(int, stallsAt);
    const auto playback = search::playbackOf(first, chunk, gap);
    QCOMPARE(playback.underrun_us, underrun);
    QCOMPARE(playback.stalls_at_chunk, stallsAt);
}

void TestMetrics::playbackAgreesWithPlayingChunkByChunk() {
    std::mt19937 random(5);
    for (int i = 0; i < 2'000; ++i) { // whole numbers: the comparisons are exact
        const double first = 1 + static_cast<double>(random() % 300);
        const double chunk = 1 + static_cast<double>(random() % 100);
        const double gap = 1 + static_cast<double>(random() % 100);
        QCOMPARE(search::playbackOf(first, chunk, gap).stalls_at_chunk,
                 stallByPlaying(first, chunk, gap));
    }
}

void TestMetrics::framesComeFromTheLoop_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("given");
    QTest::addColumn<int>("expected");
    QTest::newRow("loop") << "prefill, 3 × (outer, 4 × inner), tail" << 0 << 3;
    QTest::newRow("loop and said") << "prefill, 3 × (outer, 4 × inner), tail" << 3 << 3;
    // Frames need one outer less than inner: still three.
    QTest::newRow("entered in the middle")
        << "prefill, 4 × inner, 2 × (outer, 4 × inner), tail" << 0 << 3;
    // 4 × inner is the inside of one frame, not four.
    QTest::newRow("one frame has no loop") << "prefill, 4 × inner, tail" << 1 << 1;
    QTest::newRow("not known") << "prefill, 4 × inner, tail" << 0 << 0;
}

void TestMetrics::framesComeFromTheLoop() {
    QFETCH(QString, path);
    QFETCH(int, given);
    QFETCH(int, expected);
    const auto output = outputOf({0, given, 80, 0}, path.toUtf8().constData());
    QVERIFY(output);
    QCOMPARE(output->first_chunk_frames, expected);
    QCOMPARE(output->first_chunk_audio_ms, 80.0 * expected);
    QCOMPARE(output->chunk_audio_ms, 80.0 * expected);
}

void TestMetrics::audioIsNotCountedTwice() {
    const auto output = outputOf({240, 3, 80, 0}, "prefill, 3 × (outer, 4 × inner), tail");
    QVERIFY(output);
    QCOMPARE(output->first_chunk_audio_ms, 240.0);
    QCOMPARE(output->chunk_audio_ms, 240.0);
}

void TestMetrics::contradictionsAreRefused_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<OutputSettings>("settings");
    QTest::addColumn<QString>("named");
    const QString loop = "prefill, 3 × (outer, 4 × inner), tail";
    QTest::newRow("frames") << loop << OutputSettings{0, 8, 80, 0} << "first_chunk_frames is 8";
    QTest::newRow("audio") << loop << OutputSettings{320, 0, 80, 0} << "audio_ms_per_path is 320";
    QTest::newRow("negative") << loop << OutputSettings{0, -1, 0, 0} << "first_chunk_frames is -1";
    QTest::newRow("endless") << loop << OutputSettings{0, 0, HUGE_VAL, 0} << "frame_audio_ms";
    QTest::newRow("passes") << loop << OutputSettings{0, 0, 0, 2} << "ends with 1";
    QTest::newRow("passes in a loop")
        << "prefill, 3 × (outer, 4 × tail)" << OutputSettings{0, 0, 0, 2} << "ends with 0";
}

void TestMetrics::contradictionsAreRefused() {
    QFETCH(QString, path);
    QFETCH(OutputSettings, settings);
    QFETCH(QString, named);
    const auto output = outputOf(settings, path.toUtf8().constData(), 8);
    QVERIFY(!output);
    QCOMPARE(output.error().where, std::string("p.kerf, model toy"));
    QVERIFY2(output.error().what.find(named.toStdString()) != std::string::npos,
             output.error().what.c_str());
}

void TestMetrics::passesOfTheLastStageReleaseRequests() {
    const auto output = outputOf({0, 0, 0, 2}, "prefill, 3 × (outer, 4 × inner), 4 × tail", 7);
    QVERIFY(output);
    QCOMPARE(output->last_passes, 4); // 2, 2, 2 and 1
}

void TestMetrics::together95IsTheTtfa() {
    auto theCase = test::caseOf(test::speechLike());
    theCase->corrected.batch = 8;
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::monolith(), 0);
    QVERIFY(prediction);
    QCOMPARE(prediction->streaming.requests, 8);
    QCOMPARE(prediction->streaming.batch_p95_us, prediction->ttfa_us);
    QCOMPARE(prediction->streaming.first_request_us, prediction->ttfa_us);
}

void TestMetrics::oneAfterAnotherThe95thIsInterpolated() {
    const auto theCase = oneTailARequest(4);
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::fullyConventional(), 0);
    QVERIFY(prediction);
    const auto& tail = theCase->corrected.stages[3];
    const double passUs = workload::stageUs(tail) + tail.entry_gap_us;
    const auto& metrics = prediction->streaming;
    QVERIFY(std::abs(prediction->ttfa_us - metrics.first_request_us - 3 * passUs) < 1e-6);
    // Four requests: place 0.95 × 3 = 2.85, so 0.15 of a pass before the last.
    QVERIFY(std::abs(prediction->ttfa_us - metrics.batch_p95_us - 0.15 * passUs) < 1e-6);
}

void TestMetrics::aMegakernelReleasesItsFirstRequestBeforeItsLast() {
    const auto theCase = oneTailARequest(4);
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::monolith(), 0);
    QVERIFY(prediction);
    QVERIFY(prediction->streaming.first_request_us < prediction->streaming.batch_p95_us);
    QVERIFY(prediction->streaming.batch_p95_us < prediction->ttfa_us);
}

void TestMetrics::theMeanBatchP95ScalesWithTheReplicas() {
    const auto theCase = oneTailARequest(4);
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::fullyConventional(), 200);
    QVERIFY(prediction);
    const auto uncertain =
        search::quantify({prediction->parts}, theCase->errors, 200, search::kReplicaSeed).front();
    const auto& metrics = prediction->streaming;
    QVERIFY(std::abs(metrics.mean_batch_p95_us / metrics.batch_p95_us -
                     uncertain.mean_us / prediction->ttfa_us) < 1e-9);
    // 10 % log-normal around the median: the mean lies exp(σ²/2) ≈ 0.5 % above it, ± 10 %/√200.
    QVERIFY(std::abs(uncertain.mean_us / prediction->ttfa_us - 1.005) < 0.03);
}

void TestMetrics::theGapIsTheSteadyPass() {
    auto theCase = test::caseOf(test::speechLike());
    theCase->audio_ms_per_path = 0.2; // 200 µs, far less than a pass takes
    theCase->first_chunk_audio_ms = 0.2;
    search::Predictor predictor(theCase);
    const auto prediction = predictor.predict(graph::fullyConventional(), 0);
    QVERIFY(prediction);
    const auto& metrics = prediction->streaming;
    QCOMPARE(metrics.inter_chunk_us, prediction->steady_us);
    QVERIFY(std::abs(metrics.playback.underrun_us - (prediction->steady_us - 200)) < 1e-9);
    QCOMPARE(metrics.playback.stalls_at_chunk, 2);
    QVERIFY(prediction->rtf > 1);
}

void TestMetrics::textHasNoUnderrun() {
    search::Predictor predictor(test::caseOf(test::speechLike()));
    const auto prediction = predictor.predict(graph::fullyConventional(), 0);
    QVERIFY(prediction);
    QCOMPARE(prediction->streaming.playback.stalls_at_chunk, 0);
    QCOMPARE(prediction->streaming.chunk_audio_us, 0.0);
}

void TestMetrics::theNinetyNinthNeedsAHundredRequests() {
    for (const int batch : {99, 100}) {
        auto theCase = test::caseOf(test::speechLike());
        theCase->corrected.batch = batch;
        search::Predictor predictor(theCase);
        const auto prediction = predictor.predict(graph::fullyConventional(), 0);
        QVERIFY(prediction);
        QCOMPARE(prediction->streaming.batch_p99_us, batch == 100 ? prediction->ttfa_us : 0.0);
    }
}

QTEST_APPLESS_MAIN(TestMetrics)
#include "tst_metrics.moc"

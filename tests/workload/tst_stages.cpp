// SPDX-License-Identifier: GPL-3.0-or-later
// Stages and paths found in recordings: by hand for each way of finding them, then real runs.
#include "real_runs.h"
#include "recording_maker.h"

#include <QTest>
#include <cmath>

using namespace kerf;
using namespace kerf::workload;
using test::RecordingMaker;

namespace {

const std::vector<std::string> kPrefill{"embed", "gemm", "fmha", "norm"};
const std::vector<std::string> kDecode{"embed", "gemv", "fmha", "argmax"};

Workload build(const RecordingMaker& maker) {
    auto workload = buildWorkload(maker.recording, "m", 1);
    if (!workload) {
        qFatal("%s", toString(workload.error()).c_str());
    }
    return *workload;
}

std::string pathText(const Workload& workload) {
    return formatPath(workload, workload.path);
}

bool hasNote(const Workload& workload, const std::string& part) {
    return std::any_of(workload.notes.begin(), workload.notes.end(), [&](const std::string& note) {
        return note.find(part) != std::string::npos;
    });
}

} // namespace

class TestStages : public QObject {
    Q_OBJECT

private slots:
    void noGpuWorkIsAnError();
    void innermostAnnotationNamesTheStage();
    void requestAnnotationSetsThePath();
    void annotationOfAnotherThreadDoesNotCount();
    void counterIsNoPartOfTheName();
    void graphsWithoutAnnotationsGoByKernels();
    void periodSetsThePathWithoutRequests();
    void eagerRangesAreStages();
    void gapsSplitWhatNothingElseDoes();
    void workBetweenGraphsIsAStage();
    void executionWithOtherKernelsGivesNoSamples();
    void differentGraphsUnderOneNameAreTwoStages();
    void busiestDeviceIsUsed();
    void gapsAndDurationsAreThoseOfTheRecording();
    void overlapIsANegativeGap();
    void centreIsTheMeanWithoutAccidents();
    void pathIsThatOfTheRun_data() { test::addRealRuns(); }
    void pathIsThatOfTheRun();
    void replayIsTheSpanOfTheRequests_data() { test::addRealRuns(); }
    void replayIsTheSpanOfTheRequests();
    void everyActivityBelongsToAStage_data() { test::addRealRuns(); }
    void everyActivityBelongsToAStage();
};

void TestStages::noGpuWorkIsAnError() {
    const auto workload = buildWorkload({}, "m", 1);
    QVERIFY(!workload && !workload.error().advice.empty());
}

void TestStages::innermostAnnotationNamesTheStage() {
    RecordingMaker maker;
    maker.annotated("request", [&] {
        maker.annotated("prefill", [&] { maker.graph(kPrefill); });
        maker.annotated("decode", [&] { maker.graph(kDecode); });
    });
    const Workload workload = build(maker);
    QCOMPARE(workload.stages.size(), std::size_t{2});
    QCOMPARE(workload.stages[0].name, std::string("prefill"));
    QCOMPARE(workload.stages[1].name, std::string("decode"));
    QCOMPARE(workload.stages[1].ops.size(), std::size_t{4});
}

void TestStages::requestAnnotationSetsThePath() {
    RecordingMaker maker;
    for (int i = 0; i < 3; ++i) {
        maker.annotated("request", [&] {
            maker.annotated("prefill", [&] { maker.graph(kPrefill); });
            for (int step = 0; step < 4; ++step) {
                maker.annotated("decode", [&] { maker.graph(kDecode); });
            }
        });
    }
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("prefill, 4 × decode"));
    QCOMPARE(workload.requests, 3);
    QCOMPARE(workload.stages[1].instances.size(), std::size_t{12});
    QCOMPARE(workload.stages[0].entry_gap_samples_us.size(), std::size_t{0}); // only starts paths
    QCOMPARE(workload.stages[1].entry_gap_samples_us.size(), std::size_t{12});
}

void TestStages::annotationOfAnotherThreadDoesNotCount() {
    RecordingMaker maker;
    maker.annotated("mine",
                    [&] { maker.annotated("other thread", [&] { maker.graph(kPrefill); }); });
    maker.recording.annotations[1].track = 99;
    QCOMPARE(build(maker).stages[0].name, std::string("mine"));
}

void TestStages::counterIsNoPartOfTheName() {
    RecordingMaker maker;
    for (int i = 0; i < 3; ++i) {
        maker.annotated("step#" + std::to_string(i), [&] { maker.graph(kDecode); });
    }
    const Workload workload = build(maker);
    QCOMPARE(workload.stages.size(), std::size_t{1});
    QCOMPARE(workload.stages[0].name, std::string("step"));
    QCOMPARE(workload.requests, 3);
}

void TestStages::graphsWithoutAnnotationsGoByKernels() {
    RecordingMaker maker;
    maker.graph(kPrefill);
    maker.graph(kDecode);
    maker.graph(kDecode);
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("graph 1, 2 × graph 2"));
}

void TestStages::periodSetsThePathWithoutRequests() {
    RecordingMaker maker;
    for (int i = 0; i < 3; ++i) {
        maker.graph(kPrefill);
        maker.graph(kDecode);
        maker.graph(kDecode);
    }
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("graph 1, 2 × graph 2"));
    QCOMPARE(workload.requests, 3);
    QVERIFY(hasNote(workload, "smallest period"));
}

void TestStages::eagerRangesAreStages() {
    RecordingMaker maker;
    for (int i = 0; i < 2; ++i) {
        maker.annotated("encoder", [&] { maker.eager(kPrefill); });
        maker.annotated("decoder", [&] { maker.eager(kDecode); });
    }
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("encoder, decoder"));
    QCOMPARE(workload.requests, 2);
}

void TestStages::gapsSplitWhatNothingElseDoes() {
    RecordingMaker maker;
    for (int i = 0; i < 3; ++i) {
        maker.eager(kPrefill);
        maker.idle(100'000); // above 20 µs and ten times the median gap of 0.5 µs
        maker.eager(kDecode);
        maker.idle(100'000);
    }
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("part 1, part 2"));
    QVERIFY(hasNote(workload, "idles for 20 µs"));
}

void TestStages::workBetweenGraphsIsAStage() {
    RecordingMaker maker;
    for (int i = 0; i < 2; ++i) {
        maker.graph(kPrefill);
        maker.eager({"sample"});
        maker.graph(kDecode);
    }
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("graph 1, outside 1, graph 2"));
    QVERIFY(hasNote(workload, "2 of 18 activities"));
}

void TestStages::executionWithOtherKernelsGivesNoSamples() {
    RecordingMaker maker;
    std::vector<std::string> longer(10, "gemm");
    for (int i = 0; i < 3; ++i) {
        auto kernels = longer;
        if (i == 1) {
            kernels.push_back("Memset (Device)");
        }
        maker.annotated("decode", [&] { maker.graph(kernels); });
    }
    const Workload workload = build(maker);
    QCOMPARE(workload.stages.size(), std::size_t{1});
    QCOMPARE(workload.stages[0].ops.size(), std::size_t{10});
    QCOMPARE(workload.stages[0].ops[0].duration_samples_us.size(), std::size_t{2});
    QCOMPARE(workload.stages[0].instances.size(), std::size_t{3});
    QVERIFY(!workload.stages[0].instances[1].counted);
    QVERIFY(hasNote(workload, "1 of 3 executions of decode"));
}

void TestStages::differentGraphsUnderOneNameAreTwoStages() {
    RecordingMaker maker;
    for (int i = 0; i < 2; ++i) {
        maker.annotated("step", [&] {
            maker.graph({"a", "b", "c"});
            maker.graph({"d", "e", "f"});
        });
    }
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("step, step (2)"));
    QCOMPARE(workload.requests, 2);
}

void TestStages::busiestDeviceIsUsed() {
    RecordingMaker maker;
    maker.graph(kPrefill);
    maker.graph({"x"});
    maker.recording.activities.back().device = 1;
    const Workload workload = build(maker);
    QCOMPARE(pathText(workload), std::string("graph 1"));
    QVERIFY(hasNote(workload, "2 devices"));
}

void TestStages::gapsAndDurationsAreThoseOfTheRecording() {
    RecordingMaker maker;
    maker.duration_ns = 3'250;
    maker.gap_ns = 750;
    maker.graph(kPrefill);
    maker.idle(9'250); // 10 µs with the gap
    maker.graph(kDecode);
    const Workload workload = build(maker);
    QCOMPARE(workload.stages[0].ops[0].gap_us, 0.0);
    QCOMPARE(workload.stages[0].ops[1].gap_us, 0.75);
    QCOMPARE(workload.stages[0].ops[1].duration_us, 3.25);
    QCOMPARE(workload.stages[1].entry_gap_us, 10.0);
    QCOMPARE(stageUs(workload.stages[0]), 4 * 3.25 + 3 * 0.75);
    QCOMPARE(replayUs(workload), 2 * (4 * 3.25 + 3 * 0.75) + 10.0);
}

void TestStages::overlapIsANegativeGap() {
    RecordingMaker maker; // long 10 µs from 0, short 1 µs from 2, last 1 µs from 12
    maker.graph({"long", "short", "last"});
    auto& activities = maker.recording.activities;
    activities[0].duration_ns = 10'000;
    activities[1].start_ns = activities[0].start_ns + 2'000;
    activities[1].duration_ns = 1'000;
    activities[2].start_ns = activities[0].start_ns + 12'000;
    activities[2].duration_ns = 1'000;
    const Stage stage = build(maker).stages[0];
    QCOMPARE(stage.ops[1].gap_us, -8.0);
    QCOMPARE(stage.ops[2].gap_us, 2.0);
    QCOMPARE(stageUs(stage), 13.0);
}

void TestStages::centreIsTheMeanWithoutAccidents() {
    QCOMPARE(robustCentre({}), 0.0);
    QCOMPARE(robustCentre({1, 2, 6}), 3.0);
    QCOMPARE(robustCentre({1, 2, 3, 500}), 2.0); // beyond 2 · 2 + 10
    QCOMPARE(robustCentre({-1, -1, -1}), -1.0);
    QCOMPARE(robustCentre({2, 400}), 2.0);
}

void TestStages::pathIsThatOfTheRun() {
    QFETCH(int, run);
    const auto real = test::realRuns()[static_cast<std::size_t>(run)];
    const Workload workload = test::load(real);
    std::string expected;
    for (const auto& step : real.facts["first_output_path"]) {
        const int repeats = step[1];
        expected += expected.empty() ? "" : ", ";
        expected += repeats == 1 ? "" : std::to_string(repeats) + " × ";
        expected += step[0].get<std::string>();
    }
    QCOMPARE(QString::fromStdString(pathText(workload)), QString::fromStdString(expected));
    QCOMPARE(workload.requests, 3); // as recorded
    QVERIFY(workload.notes.empty());
}

void TestStages::replayIsTheSpanOfTheRequests() {
    QFETCH(int, run);
    const auto real = test::realRuns()[static_cast<std::size_t>(run)];
    const trace::Recording recording = test::read(real);
    const Workload workload = test::load(real);
    // Three requests of equally many activities, with idle time between them.
    const std::size_t each = recording.activities.size() / 3;
    double sum_us = 0;
    for (std::size_t r = 0; r < 3; ++r) {
        const std::int64_t start = recording.activities[r * each].start_ns;
        std::int64_t end = start;
        for (std::size_t i = r * each; i < (r + 1) * each; ++i) {
            const auto& activity = recording.activities[i];
            end = std::max(end, activity.start_ns + activity.duration_ns);
        }
        sum_us += static_cast<double>(end - start) / 1000;
    }
    const double error = replayUs(workload) / (sum_us / 3) - 1;
    QVERIFY2(std::abs(error) < 0.003, std::to_string(error).c_str());
}

void TestStages::everyActivityBelongsToAStage() {
    QFETCH(int, run);
    const auto real = test::realRuns()[static_cast<std::size_t>(run)];
    std::size_t ops = 0;
    for (const Stage& stage : test::load(real).stages) {
        ops += stage.ops.size() * stage.instances.size();
    }
    QCOMPARE(ops, test::read(real).activities.size());
}

QTEST_APPLESS_MAIN(TestStages)
#include "tst_stages.moc"

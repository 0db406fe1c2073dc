// SPDX-License-Identifier: GPL-3.0-or-later
// Tracing correction by hand, untraced timings, and the replay of the real runs.
#include "core/workload/replay.h"
#include "real_runs.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>

using namespace kerf;
using namespace kerf::workload;

namespace {

// The measured cost of tracing a node: median over the chains of single operators.
TracingCorrection measuredCorrection() {
    std::ifstream file(test::sourceDir() / "docs/validation/data/tracing_cost_h200.json");
    const auto json = nlohmann::json::parse(file);
    std::vector<double> costs;
    for (const auto& row : json["rows"]) {
        costs.push_back(row["tracing_us_per_node"]);
    }
    const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
    std::nth_element(costs.begin(), middle, costs.end());
    return {*middle, "tracing_cost_h200.json"};
}

Op op(double duration_us, double gap_us) {
    Op result;
    result.duration_us = duration_us;
    result.gap_us = gap_us;
    result.duration_samples_us = {static_cast<float>(duration_us)};
    result.gap_samples_us = {static_cast<float>(gap_us)};
    return result;
}

/// Two executions of a stage of three ops: 2 µs each, gaps 0.5 and 0.05, entered after 5 µs.
Workload threeOps() {
    Workload workload;
    Stage& stage = workload.stages.emplace_back();
    stage.name = "step";
    stage.ops = {op(2, 0), op(2, 0.5), op(2, 0.05)};
    stage.entry_gap_us = 5;
    stage.entry_gap_samples_us = {5};
    workload.path = {{0, 2}};
    return workload;
}

std::vector<ReplayRow> replays() {
    const TracingCorrection correction = measuredCorrection();
    std::vector<ReplayRow> rows;
    for (const auto& run : test::realRuns()) {
        rows.push_back(replay(test::load(run), correction));
    }
    std::sort(rows.begin(), rows.end(), [](const ReplayRow& a, const ReplayRow& b) {
        return a.model != b.model ? a.model > b.model : a.batch < b.batch;
    });
    return rows;
}

std::string written(const QTemporaryDir& folder, const std::string& text) {
    const auto path = folder.filePath("runs.json").toStdString();
    std::ofstream(path) << text;
    return path;
}

} // namespace

class TestReplay : public QObject {
    Q_OBJECT

private slots:
    void replayAddsUpOpsAndGaps();
    void correctionComesOffGapsFirst();
    void correctionComesOffSamplesToo();
    void correctionOfOneStageAlone();
    void correctionKeepsNegativeGaps();
    void noCorrectionChangesNothing();
    void rowKnowsItsErrors();
    void realRunsReplayWithinBounds();
    void readsUntracedTimings();
    void refusesBadTimings_data();
    void refusesBadTimings();
};

void TestReplay::replayAddsUpOpsAndGaps() {
    QCOMPARE(stageUs(threeOps().stages[0]), 6.55);
    QCOMPARE(replayUs(threeOps()), 6.55 + 5 + 6.55);
}

void TestReplay::correctionComesOffGapsFirst() {
    const Stage stage = corrected(threeOps(), {0.1, ""}).stages[0];
    QCOMPARE(stage.entry_gap_us, 4.9); // the first op's
    QCOMPARE(stage.ops[0].duration_us, 2.0);
    QCOMPARE(stage.ops[1].gap_us, 0.4);
    QCOMPARE(stage.ops[1].duration_us, 2.0);
    QCOMPARE(stage.ops[2].gap_us, 0.0); // 0.05 of it fits into the gap
    QCOMPARE(stage.ops[2].duration_us, 1.95);
}

void TestReplay::correctionComesOffSamplesToo() {
    const Stage stage = corrected(threeOps(), {0.1, ""}).stages[0];
    QCOMPARE(stage.entry_gap_samples_us[0], 4.9F);
    QCOMPARE(stage.ops[1].gap_samples_us[0], 0.4F);
    QCOMPARE(stage.ops[2].gap_samples_us[0], 0.0F);
    QCOMPARE(stage.ops[2].duration_samples_us[0], 1.95F);
}

void TestReplay::correctionOfOneStageAlone() {
    Workload workload = threeOps();
    workload.stages[0].entry_gap_us = 0;
    workload.stages[0].entry_gap_samples_us.clear(); // it only starts paths
    workload.path = {{0, 1}};
    QCOMPARE(replayUs(corrected(workload, {0.1, ""})), 6.55 - 3 * 0.1);
}

void TestReplay::correctionKeepsNegativeGaps() {
    Workload workload = threeOps();
    workload.stages[0].ops[1] = op(0.08, -0.5);
    const Op changed = corrected(workload, {0.1, ""}).stages[0].ops[1];
    QCOMPARE(changed.gap_us, -0.5);
    QCOMPARE(changed.duration_us, 0.0); // never below
}

void TestReplay::noCorrectionChangesNothing() {
    QCOMPARE(replayUs(corrected(threeOps(), {})), replayUs(threeOps()));
}

void TestReplay::rowKnowsItsErrors() {
    Workload workload = threeOps();
    QVERIFY(!replay(workload, {}).hasMeasurement());
    QCOMPARE(replay(workload, {}).predictedError(), 0.0);
    workload.untraced.first_output.emplace().p50_us = 18.1 / 1.25;
    QCOMPARE(replay(workload, {}).predictedError(), 0.25);
}

void TestReplay::realRunsReplayWithinBounds() {
    const auto rows = replays();
    QVERIFY(rows.size() == 2 || rows.size() == 21);
    double sum = 0;
    double worst = 0;
    for (const ReplayRow& row : rows) {
        QVERIFY(row.hasMeasurement());
        // docs/validation/replay.md is made of these lines.
        qInfo("| %s | %d | %.1f | %.1f | %.1f | %+.2f %% | %+.2f %% |", row.model.c_str(),
              row.batch, row.predicted_us, row.corrected_us, row.measured_us,
              100 * row.predictedError(), 100 * row.correctedError());
        QVERIFY(row.predictedError() > -0.005 && row.predictedError() < 0.057);
        sum += std::abs(row.correctedError());
        worst = std::max(worst, std::abs(row.correctedError()));
    }
    const double mean = sum / static_cast<double>(rows.size());
    qInfo("mean %.2f %%, worst %.2f %%", 100 * mean, 100 * worst);
    QVERIFY(mean <= 0.015);
    QVERIFY(worst <= 0.03);
}

void TestReplay::readsUntracedTimings() {
    const auto path = (test::testData() / "untraced.json").string();
    const auto untraced = readUntraced(path, "llama-1b", 8);
    QVERIFY2(untraced.has_value(), untraced ? "" : toString(untraced.error()).c_str());
    QVERIFY(untraced->first_output.has_value());
    QCOMPARE(untraced->first_output->p50_us, 3833.792); // as in the file
    QCOMPARE(untraced->stages.size(), std::size_t{2});
    QVERIFY(!untraced->stages[0].second.samples_us.empty());
}

void TestReplay::refusesBadTimings_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::newRow("no json") << "{"
                             << "no untraced timings";
    QTest::newRow("empty") << ""
                           << "no untraced timings";
    QTest::newRow("array") << "[]"
                           << "no untraced timings";
    QTest::newRow("runs is no object") << R"({"runs": 3})"
                                       << "no untraced timings";
    QTest::newRow("other model") << R"({"runs": {"a": {"model": "x", "batch": 1}}})"
                                 << "of m at batch 1";
    QTest::newRow("run is a number") << R"({"runs": {"a": 1}})"
                                     << "of m at batch 1";
    QTest::newRow("no p50")
        << R"({"runs": {"a": {"model": "m", "batch": 1, "first_output_uninstrumented_us": {}}}})"
        << "p50";
    QTest::newRow("timing is a number")
        << R"({"runs": {"a": {"model": "m", "batch": 1, "first_output_uninstrumented_us": 3}}})"
        << "p50";
    QTest::newRow("negative p50")
        << R"({"runs": {"a": {"model": "m", "batch": 1, "uninstrumented_us": {"s": {"p50": -1}}}}})"
        << "p50";
}

void TestReplay::refusesBadTimings() {
    QFETCH(QString, text);
    QFETCH(QString, what);
    const QTemporaryDir folder;
    const auto path = written(folder, text.toStdString());
    const auto untraced = readUntraced(path, "m", 1);
    QVERIFY(!untraced.has_value());
    QVERIFY2(QString::fromStdString(untraced.error().what).contains(what),
             untraced.error().what.c_str());
    QVERIFY(untraced.error().where.starts_with(path));
    QVERIFY(!readUntraced(path + ".missing", "m", 1).has_value());
}

QTEST_APPLESS_MAIN(TestReplay)
#include "tst_replay.moc"

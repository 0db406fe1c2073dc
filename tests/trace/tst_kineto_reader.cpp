// SPDX-License-Identifier: GPL-3.0-or-later
// Real traces against values that other programs worked out (MANIFEST.json, runs.json).
#include "core/trace/kineto_reader.h"
#include "core/trace/reader.h"
#include "core/trace/summary.h"
#include "shared_data.h"

#include <QTest>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace kerf;
using namespace kerf::trace;
using nlohmann::json;

namespace {

json readJson(const std::filesystem::path& path) {
    std::ifstream file(path);
    return json::parse(file, nullptr, false);
}

std::filesystem::path publicData() {
    return test::sharedData() / "public";
}
std::filesystem::path h200Data() {
    return test::sharedData() / "h200";
}

} // namespace

class TestKinetoReader : public QObject {
    Q_OBJECT

private slots:
    void publicTraceHasTheManifestsValues_data();
    void publicTraceHasTheManifestsValues();
    void manifestsRefusalsAreRefused_data();
    void manifestsRefusalsAreRefused();
    void traceWithoutGpuWorkSaysWhatIsMissing();
    void h200TraceHasTheKernelsOfItsRun_data();
    void h200TraceHasTheKernelsOfItsRun();
    void h200TraceKeepsWhatTheModelNeeds();
    void progressOnlyGrows();
};

void TestKinetoReader::publicTraceHasTheManifestsValues_data() {
    KERF_NEEDS_SHARED_DATA();
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("expected");
    for (const json& entry : readJson(publicData() / "MANIFEST.json")) {
        const json& expected = entry["expected"];
        if (expected["format"] == kKinetoFormat) {
            const auto file = QString::fromStdString(entry["file"]);
            QTest::newRow(qPrintable(file)) << file << QString::fromStdString(expected.dump());
        }
    }
}

void TestKinetoReader::publicTraceHasTheManifestsValues() {
    QFETCH(QString, file);
    QFETCH(QString, expected);
    Progress progress;
    const auto recording = readKineto(publicData() / file.toStdString(), progress);
    QVERIFY2(recording, recording ? "" : toString(recording.error()).c_str());
    const json actual = toJson(summarise(*recording));
    const json expected_values = json::parse(expected.toStdString());
    for (const auto& [key, value] : expected_values.items()) {
        QVERIFY2(actual.contains(key), key.c_str());
        QVERIFY2(actual[key] == value,
                 qPrintable(QString::fromStdString(key + ": " + actual[key].dump() + ", expected " +
                                                   value.dump())));
    }
}

void TestKinetoReader::manifestsRefusalsAreRefused_data() {
    KERF_NEEDS_SHARED_DATA();
    QTest::addColumn<QString>("file");
    for (const json& entry : readJson(publicData() / "MANIFEST.json")) {
        if (entry["expected"].value("must_be_refused", false)) {
            const auto file = QString::fromStdString(entry["file"]);
            QTest::newRow(qPrintable(file)) << file;
        }
    }
}

void TestKinetoReader::manifestsRefusalsAreRefused() {
    QFETCH(QString, file);
    Progress progress;
    const auto path = publicData() / file.toStdString();
    const auto recording = readRecording(path, progress);
    QVERIFY(!recording);
    QCOMPARE(recording.error().where, path.string());
    QVERIFY(QString::fromStdString(recording.error().what).contains("no timeline"));
    QVERIFY(!recording.error().advice.empty());
}

void TestKinetoReader::traceWithoutGpuWorkSaysWhatIsMissing() {
    KERF_NEEDS_SHARED_DATA();
    Progress progress;
    const auto recording = readRecording(publicData() / "hta/cpu_only.json.gz", progress);
    QVERIFY(!recording);
    QVERIFY(QString::fromStdString(recording.error().what).contains("no GPU work"));
}

void TestKinetoReader::h200TraceHasTheKernelsOfItsRun_data() {
    KERF_NEEDS_SHARED_DATA();
    QTest::addColumn<QString>("file");
    QTest::addColumn<qint64>("kernels");
    const json runs = readJson(h200Data() / "runs.json");
    for (const auto& [name, run] : runs["runs"].items()) {
        QTest::newRow(name.c_str())
            << QString::fromStdString("conventional/" + name + ".json.gz")
            << static_cast<qint64>(run["kernels_in_trace"].get<std::int64_t>());
    }
}

void TestKinetoReader::h200TraceHasTheKernelsOfItsRun() {
    QFETCH(QString, file);
    QFETCH(qint64, kernels);
    Progress progress;
    const auto recording = readRecording(h200Data() / file.toStdString(), progress);
    QVERIFY2(recording, recording ? "" : toString(recording.error()).c_str());
    QCOMPARE(static_cast<qint64>(summarise(*recording).kernels), kernels);
}

void TestKinetoReader::h200TraceKeepsWhatTheModelNeeds() {
    KERF_NEEDS_SHARED_DATA();
    Progress progress;
    const auto recording = readRecording(h200Data() / "conventional/llama-1b_b1.json.gz", progress);
    QVERIFY(recording);
    QCOMPARE(recording->devices.size(), std::size_t{1});
    const Device& device = recording->devices.front();
    QCOMPARE(device.name, std::string("NVIDIA H200")); // as the file's header says
    QCOMPARE(device.sm_count, 132);
    QCOMPARE(device.max_threads_per_sm, 2048);
    QCOMPARE(device.registers_per_sm, 65536);
    QCOMPARE(device.shared_bytes_per_sm, 233472);
    QCOMPARE(device.shared_bytes_per_block_optin, 232448);
    QCOMPARE(device.memory_bytes, std::int64_t{150109880320});
    for (const Activity& activity : recording->activities) {
        if (activity.kind == ActivityKind::Kernel) {
            QVERIFY(activity.grid[0] > 0 && activity.block[0] > 0);
            QVERIFY(activity.registers_per_thread > 0);
            QVERIFY(activity.correlation > 0);
        }
    }
    QVERIFY(std::ranges::is_sorted(recording->activities, {}, &Activity::start_ns));
    QVERIFY(std::ranges::is_sorted(recording->annotations, {}, &Annotation::start_ns));
}

void TestKinetoReader::progressOnlyGrows() {
    KERF_NEEDS_SHARED_DATA();
    Progress progress;
    double last = -1;
    bool grew = true;
    progress.report = [&](double fraction, std::string_view) {
        grew = grew && fraction >= last && fraction <= 1;
        last = fraction;
    };
    QVERIFY(readKineto(h200Data() / "conventional/qwen3-tts-0.6b_b1.json.gz", progress));
    QVERIFY(grew);
    QVERIFY(last > 0.8);
}

QTEST_APPLESS_MAIN(TestKinetoReader)
#include "tst_kineto_reader.moc"

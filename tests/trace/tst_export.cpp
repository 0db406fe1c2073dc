// SPDX-License-Identifier: GPL-3.0-or-later
// What is exported can be read again, and says what the recording said.
#include "core/trace/export.h"
#include "core/trace/reader.h"
#include "trace/trace_files.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>
#include <algorithm>
#include <tuple>

using namespace kerf;
using namespace kerf::trace;

namespace {

/// One of everything, with odd numbers.
Recording sample() {
    Recording recording;
    recording.base_time_ns = 1'764'000'000'000'000'001;
    recording.names = {"gemm<float, 4>", "Memcpy HtoD", "Memset", "cudaGraphLaunch", "decode"};
    recording.activities = {{.start_ns = 1,
                             .duration_ns = 999,
                             .name = 1,
                             .kind = ActivityKind::Memcpy,
                             .stream = 7,
                             .process = 77,
                             .correlation = 4,
                             .bytes = 1U << 31U},
                            {.start_ns = 123'456'789'012'345,
                             .duration_ns = 1001,
                             .name = 0,
                             .device = 1,
                             .stream = 13,
                             .process = 77,
                             .correlation = 5,
                             .graph_node_id = 0x6'0000'0003,
                             .grid = {132, 2, 3},
                             .block = {256, 4, 5},
                             .registers_per_thread = 96,
                             .shared_bytes = 99'328},
                            {.start_ns = 123'456'789'999'999,
                             .duration_ns = 0,
                             .name = 2,
                             .kind = ActivityKind::Memset,
                             .stream = 7,
                             .process = 77,
                             .correlation = 5,
                             .bytes = 64}};
    recording.api_calls = {{.start_ns = 0,
                            .duration_ns = 10,
                            .name = 3,
                            .correlation = 5,
                            .process = 77,
                            .thread = 78}};
    recording.annotations = {
        {.start_ns = 0, .duration_ns = 2000, .name = 4, .process = 77, .track = 78},
        {.start_ns = 1, .duration_ns = 5, .name = 4, .on_gpu = true, .device = 1, .track = 13}};
    recording.devices = {{.id = 1, .name = "NVIDIA H200", .sm_count = 132, .compute_major = 9}};
    recording.versions = {{"cuda_driver_version", "13000"}};
    return recording;
}

Expected<Recording> again(const Recording& recording) {
    const test::TraceFolder folder;
    Progress progress;
    return readRecording(folder.write("out.json", toChromeTrace(recording)), progress);
}

auto fieldsOf(const Recording& recording, const Activity& a) {
    return std::tuple(a.start_ns, a.duration_ns, recording.names[a.name], a.kind, a.device,
                      a.stream, a.correlation, a.graph_node_id, a.grid, a.block,
                      a.registers_per_thread, a.shared_bytes, a.bytes);
}

} // namespace

class TestExport : public QObject {
    Q_OBJECT
private slots:
    void activitiesComeBack() {
        const Recording before = sample();
        const auto after = again(before);
        QVERIFY2(after, after ? "" : toString(after.error()).c_str());
        QCOMPARE(after->activities.size(), before.activities.size());
        for (std::size_t i = 0; i < before.activities.size(); ++i) {
            QVERIFY(fieldsOf(*after, after->activities[i]) ==
                    fieldsOf(before, before.activities[i]));
        }
        QCOMPARE(after->base_time_ns, before.base_time_ns);
    }
    void hostCallsComeBack() {
        const auto after = again(sample());
        QVERIFY(after);
        QCOMPARE(after->api_calls.size(), 1U);
        QCOMPARE(after->names[after->api_calls[0].name], "cudaGraphLaunch");
        QCOMPARE(after->api_calls[0].process, 77);
        QCOMPARE(after->api_calls[0].thread, 78);
        QCOMPARE(after->api_calls[0].correlation, 5U);
    }
    void annotationsComeBack() {
        const auto after = again(sample());
        QVERIFY(after);
        QCOMPARE(after->annotations.size(), 2U);
        QCOMPARE(after->annotations[0].duration_ns, 2000);
        QVERIFY(!after->annotations[0].on_gpu);
        QVERIFY(after->annotations[1].on_gpu);
        QCOMPARE(after->annotations[1].device, 1);
        QCOMPARE(after->annotations[1].track, 13);
    }
    void devicesAndVersionsComeBack() {
        const auto after = again(sample());
        QVERIFY(after);
        QCOMPARE(after->devices.size(), 1U);
        QCOMPARE(after->devices[0].name, "NVIDIA H200");
        QCOMPARE(after->devices[0].sm_count, 132);
        QCOMPARE(after->versions.at("cuda_driver_version"), "13000");
    }
    void oddNamesStayValidJson() {
        Recording recording = sample();
        recording.names[0] = "quote\" back\\slash \x01 tab\t \xFF\xFE end";
        const auto document =
            QJsonDocument::fromJson(QByteArray::fromStdString(toChromeTrace(recording)));
        QVERIFY(document.isObject());
        QVERIFY(again(recording));
    }
    void aRecordingWithoutEventsIsValidJson() {
        const auto document =
            QJsonDocument::fromJson(QByteArray::fromStdString(toChromeTrace(Recording{})));
        QVERIFY(document.object().contains("traceEvents"));
    }
    void everyCsvRowHasEveryColumn() {
        Recording recording = sample();
        recording.names[0] = "gemm";
        const auto lines = QString::fromStdString(toCsv(recording)).trimmed().split('\n');
        QCOMPARE(lines.size(), 1 + 3 + 1 + 2);
        for (const QString& line : lines) {
            QCOMPARE(line.count(','), 18);
        }
    }
    void csvTimesAreAbsoluteAndNamesQuoted() {
        const std::string csv = toCsv(sample());
        QVERIFY(
            csv.find(
                "memcpy,Memcpy HtoD,1764000000000000002,999,0,7,77,,4,0,,,,,,,,,2147483648\n") !=
            std::string::npos);
        QVERIFY(
            csv.find("kernel,\"gemm<float, 4>\",1764123456789012346,1001,1,13,77,,5,25769803779,"
                     "132,2,3,256,4,5,96,99328,\n") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestExport)
#include "tst_export.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings written by the collector's own writer come back count for count.
#include "core/trace/health.h"
#include "core/trace/reader.h"
#include "cupti_collector/rows/rows.h"
#include "cupti_collector/store/writer.h"
#include "trace/trace_files.h"

#include <QTest>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace kerf;
using namespace kerf::collector;

std::string textOf(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Span span(std::uint64_t start_ns, std::uint64_t end_ns, std::uint32_t correlation) {
    return {.start_ns = start_ns, .end_ns = end_ns, .stream = 7, .correlation = correlation};
}

/// Two kernels of one graph launch, a copy, a memset, their calls, two NVTX ranges, one device.
RowBatch smallRun() {
    constexpr std::uint64_t kStart = 1'764'000'000'000'000'000; // ns since 1970, as CUPTI gives
    RowBatch batch;
    batch.names = {{1, "gemm"}, {2, "cudaGraphLaunch"}, {3, "decode"}, {4, "NVIDIA H200"}};
    batch.shapes = {{.id = 1,
                     .name = 1,
                     .grid = {132, 2, 1},
                     .block = {256, 1, 1},
                     .registers_per_thread = 96,
                     .static_shared_bytes = 1024,
                     .dynamic_shared_bytes = 98304}};
    batch.kernels = {{span(kStart + 500, kStart + 1500, 9), 1},
                     {span(kStart + 1600, kStart + 2000, 9), 1}};
    batch.kernels[1].span.graph_node = 0xFFFF'FFFF'0000'0003; // all 64 bits are used
    batch.copies = {{.span = span(kStart + 100, kStart + 200, 5),
                     .bytes = 4096,
                     .copy_kind = 1,
                     .source_kind = 2,
                     .destination_kind = 3}};
    batch.memsets = {{.span = span(kStart + 210, kStart + 220, 6), .bytes = 64, .memory_kind = 3}};
    for (const std::uint32_t correlation : {5U, 6U, 9U}) {
        batch.api_calls.push_back({.name = 2,
                                   .start_ns = kStart + correlation,
                                   .end_ns = kStart + correlation + 10,
                                   .process = 77,
                                   .thread = 78,
                                   .correlation = correlation});
    }
    batch.markers = {{.time_ns = kStart, .id = 1, .flags = 2, .name = 3, .thread = 78},
                     {.time_ns = kStart + 20, .id = 2, .flags = 2, .name = 3, .thread = 78},
                     {.time_ns = kStart + 30, .id = 2, .flags = 4, .thread = 78},
                     {.time_ns = kStart + 90, .id = 1, .flags = 4, .thread = 78}};
    batch.external = {{.kind = 1, .external_id = 3, .correlation = 9}};
    batch.devices = {{.device = 0,
                      .name = 4,
                      .compute_major = 9,
                      .sm_count = 132,
                      .max_warps_per_sm = 64,
                      .warp_threads = 32,
                      .memory_bytes = 150'000'000'000}};
    return batch;
}

/// Writes `batch` and closes the file.
std::filesystem::path recordingOf(const test::TraceFolder& folder, const RowBatch& batch) {
    const auto path = folder.path() / "run.kerfrec";
    Writer writer(
        {.paths = {path.string()}, .meta = {{"process", "77"}, {"cupti_version", "130001"}}});
    writer.push([&](RowBatch& out) { out = batch; });
    writer.finish();
    return path;
}

Expected<trace::Recording> read(const std::filesystem::path& path) {
    Progress progress;
    return trace::readRecording(path, progress);
}

void execute(const std::filesystem::path& path, const char* sql) {
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    QCOMPARE(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
}

} // namespace

class TestKerfrecReader : public QObject {
    Q_OBJECT
private slots:
    void kernelsComeBackWithTheirLaunch() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY2(recording, recording ? "" : toString(recording.error()).c_str());
        QCOMPARE(recording->activities.size(), 4U);
        const auto& gemm = recording->activities[2];
        QCOMPARE(recording->names[gemm.name], "gemm");
        QCOMPARE(gemm.duration_ns, 1000);
        QCOMPARE(gemm.grid[0], 132U);
        QCOMPARE(gemm.grid[1], 2U);
        QCOMPARE(gemm.block[0], 256U);
        QCOMPARE(gemm.registers_per_thread, 96U);
        QCOMPARE(gemm.shared_bytes, 99328U); // 1024 + 98304
        QVERIFY(gemm.has_external_id);
        QCOMPARE(recording->activities[3].graph_node_id, 0xFFFF'FFFF'0000'0003U);
    }
    void linkerNamesAreShownAsCpp() {
        const test::TraceFolder folder;
        RowBatch batch = smallRun();
        batch.names[0].text = "_ZN6kernel4gemmEPKfi"; // kernel::gemm(float const*, int)
        const auto recording = read(recordingOf(folder, batch));
        QVERIFY(recording);
        QCOMPARE(recording->names[recording->activities[2].name],
                 "kernel::gemm(float const*, int)");
    }
    void timesStartAtTheFirstEvent() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY(recording);
        QCOMPARE(recording->base_time_ns.value(), 1'764'000'000'000'000'000);
        QCOMPARE(recording->activities[0].start_ns, 100);
        QCOMPARE(recording->activities[3].start_ns, 1600);
    }
    void copiesAndMemsetsAreNamedAsKinetoNamesThem() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY(recording);
        QCOMPARE(recording->names[recording->activities[0].name], "Memcpy HtoD (Pinned -> Device)");
        QCOMPARE(recording->activities[0].bytes, 4096U);
        QCOMPARE(recording->names[recording->activities[1].name], "Memset (Device)");
    }
    void launchesAreLinkedToTheirCalls() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY(recording);
        QCOMPARE(recording->api_calls.size(), 3U);
        QCOMPARE(recording->names[recording->api_calls[0].name], "cudaGraphLaunch");
        QCOMPARE(recording->health.without_host_call, 0);
    }
    void aDriverCallInsideARuntimeCallCountsOnce() {
        const test::TraceFolder folder;
        RowBatch batch = smallRun();
        auto inner = batch.api_calls[2];
        inner.domain = ApiDomain::Driver;
        batch.api_calls.push_back(inner);
        inner.correlation = 11; // one that the program made itself
        batch.api_calls.push_back(inner);
        const auto recording = read(recordingOf(folder, batch));
        QVERIFY(recording);
        QCOMPARE(recording->api_calls.size(), 4U);
    }
    void notesOfTheRecorderAreShown() {
        const test::TraceFolder folder;
        RowBatch batch = smallRun();
        batch.notes = {"graph 3 was read in part"};
        const auto recording = read(recordingOf(folder, batch));
        QVERIFY(recording);
        QCOMPARE(recording->health.notes,
                 std::vector<std::string>{"Recorder: graph 3 was read in part."});
    }
    void wholeGraphLaunchesAreNotedNotTakenForKernels() {
        const test::TraceFolder folder;
        RowBatch batch = smallRun();
        batch.graph_launches = {
            {.span = span(1'764'000'000'000'000'300, 1'764'000'000'000'002'300, 9)}};
        const auto recording = read(recordingOf(folder, batch));
        QVERIFY(recording);
        QCOMPARE(recording->activities.size(), 4U);
        QCOMPARE(recording->health.notes.size(), 1U);
        QVERIFY(
            recording->health.notes[0].starts_with("1 graph launches were recorded as a whole"));
    }
    void nestedRangesArePairedById() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY(recording);
        QCOMPARE(recording->annotations.size(), 2U);
        QCOMPARE(recording->annotations[0].duration_ns, 90);
        QCOMPARE(recording->annotations[1].start_ns, 20);
        QCOMPARE(recording->annotations[1].duration_ns, 10);
        QCOMPARE(recording->annotations[1].process, 77);
    }
    void theDeviceIsDescribed() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY(recording);
        QCOMPARE(recording->devices.size(), 1U);
        QCOMPARE(recording->devices[0].name, "NVIDIA H200");
        QCOMPARE(recording->devices[0].max_threads_per_sm, 2048);
        QCOMPARE(recording->versions.at("cupti_version"), "130001");
    }
    void aCompleteFileIsClean() {
        const test::TraceFolder folder;
        const auto recording = read(recordingOf(folder, smallRun()));
        QVERIFY(recording);
        QVERIFY2(trace::isClean(recording->health),
                 trace::describe(recording->health).front().c_str());
    }
    void lossIsShownByCause() {
        const test::TraceFolder folder;
        RowBatch batch = smallRun();
        batch.loss = {.dropped_by_cupti = 12, .zero_time = 3};
        const auto recording = read(recordingOf(folder, batch));
        QVERIFY(recording);
        QCOMPARE(recording->health.dropped, 15);
        QCOMPARE(recording->health.notes.size(), 2U);
        QVERIFY(recording->health.notes[0].find("dropped by CUPTI") != std::string::npos);
    }
    void openRangesAreNoted() {
        const test::TraceFolder folder;
        RowBatch batch = smallRun();
        batch.markers.pop_back();
        const auto recording = read(recordingOf(folder, batch));
        QVERIFY(recording);
        QCOMPARE(recording->annotations.size(), 1U);
        QCOMPARE(recording->health.notes.size(), 1U);
    }
    void aKilledWriterLeavesWhatItCommitted() {
        const test::TraceFolder folder;
        const auto path = folder.path() / "run.kerfrec";
        const pid_t child = fork();
        if (child == 0) {
            Writer writer({.paths = {path.string()}});
            writer.push([](RowBatch& out) { out = smallRun(); });
            writer.flush();
            raise(SIGKILL);
        }
        int status = 0;
        waitpid(child, &status, 0);
        QVERIFY(WIFSIGNALED(status));
        const auto recording = read(path);
        QVERIFY2(recording, recording ? "" : toString(recording.error()).c_str());
        QCOMPARE(recording->activities.size(), 4U);
        QVERIFY(recording->health.truncated);
        QCOMPARE(recoverDatabase(path.string()), "");
        QVERIFY(!std::filesystem::exists(path.string() + "-wal"));
        QCOMPARE(read(path)->activities.size(), 4U);
    }
    void anotherVersionIsRefused() {
        const test::TraceFolder folder;
        const auto path = recordingOf(folder, smallRun());
        execute(path, "PRAGMA user_version=2");
        const auto recording = read(path);
        QVERIFY(!recording);
        QCOMPARE(recording.error().what,
                 "the recording has format version 2; this Kerf reads version 1");
    }
    void aForeignDatabaseIsNamed() {
        const test::TraceFolder folder;
        const auto path = folder.path() / "other.sqlite";
        execute(path, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)");
        const auto recording = read(path);
        QVERIFY(!recording);
        QCOMPARE(recording.error().what,
                 "this is an SQLite database that kerf-record did not write");
    }
    void aMissingTableIsNamed() {
        const test::TraceFolder folder;
        const auto path = recordingOf(folder, smallRun());
        execute(path, "DROP TABLE kernels");
        const auto recording = read(path);
        QVERIFY(!recording);
        QVERIFY(recording.error().where.ends_with("table kernels"));
    }
    void aCutOffFileIsRefused() {
        const test::TraceFolder folder;
        const auto content = textOf(recordingOf(folder, smallRun()));
        // at every size the answer is an error that names the file, never a crash or half a run
        for (std::size_t size = 100; size < content.size(); size += content.size() / 23) {
            const auto path = folder.write("cut.kerfrec", content.substr(0, size));
            const auto recording = read(path);
            QVERIFY2(!recording, fmt::format("{} of {} bytes", size, content.size()).c_str());
            QVERIFY(recording.error().where.find("cut.kerfrec") != std::string::npos);
        }
    }
    void damagedPagesNeverCrash() {
        const test::TraceFolder folder;
        const auto content = textOf(recordingOf(folder, smallRun()));
        for (std::size_t at = 100; at + 64 < content.size(); at += 997) {
            auto damaged = content;
            damaged.replace(at, 64, 64, '\xA5');
            const auto recording = read(folder.write("damaged.kerfrec", damaged));
            QVERIFY(recording || !recording.error().what.empty());
        }
    }
};

QTEST_APPLESS_MAIN(TestKerfrecReader)
#include "tst_kerfrec_reader.moc"

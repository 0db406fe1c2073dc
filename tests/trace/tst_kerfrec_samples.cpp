// SPDX-License-Identifier: GPL-3.0-or-later
// Two recordings that kerf-record made on an H200, against what the recorded programs did:
// cupti_collector/validate/workload.cu ("branches 3") and decode.py ("4").
#include "core/trace/reader.h"
#include "core/trace/summary.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>
#include <sqlite3.h>

using namespace kerf;

namespace {

std::string sample(const char* name) {
    return std::string(KERF_TEST_DATA "/kerfrec/") + name;
}

trace::Recording read(const char* name) {
    Progress progress;
    return trace::readRecording(sample(name), progress).value();
}

std::map<std::string, int> annotationsOf(const trace::Recording& recording) {
    std::map<std::string, int> counts;
    for (const auto& annotation : recording.annotations) {
        ++counts[recording.names[annotation.name]];
    }
    return counts;
}

std::int64_t countIn(const char* name, const char* sql) {
    sqlite3* file = nullptr;
    sqlite3_stmt* statement = nullptr;
    std::int64_t count = -1;
    if (sqlite3_open_v2(sample(name).c_str(), &file, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
        sqlite3_prepare_v2(file, sql, -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        count = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(file);
    return count;
}

} // namespace

class TestKerfrecSamples : public QObject {
    Q_OBJECT
private slots:
    void everyNodeOfTheBranchedGraphIsThere() {
        const auto summary = trace::summarise(read("branches.kerfrec"));
        QCOMPARE(summary.kernels,
                 3 * 7); // launches × (2 × 2 on the sides, main, primary, dependent)
        QCOMPARE(summary.memcpys, 3);
        QCOMPARE(summary.memsets, 3);
        QCOMPARE(summary.streams_with_kernels, 3); // the main one and two sides
        QCOMPARE(summary.graph_launches, 3);
        QCOMPARE(summary.kernels_per_graph_launch, (std::vector<std::int64_t>{7, 7, 7}));
        QCOMPARE(summary.kernels_without_host_call, 0);
        QCOMPARE(summary.gpu_name.value_or(""), std::string("NVIDIA H200"));
        QCOMPARE(summary.sm_count.value_or(0), 132);
    }
    void branchesRunSideBySide() {
        // The main branch spins for 40,000 cycles, the sides for 20,000 and 10,000: at 1.98 GHz
        // 20.2 µs against 15.2 µs; one after another they would take 50 µs.
        const auto recording = read("branches.kerfrec");
        std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> spans; // by launch
        for (const auto& activity : recording.activities) {
            if (recording.names[activity.name].find("spin") == std::string::npos) {
                continue;
            }
            const auto end = activity.start_ns + activity.duration_ns;
            auto [at, fresh] = spans.try_emplace(activity.correlation, activity.start_ns, end);
            at->second = {std::min(at->second.first, activity.start_ns),
                          std::max(at->second.second, end)};
        }
        QCOMPARE(spans.size(), std::size_t{3});
        for (const auto& [launch, span] : spans) {
            const double us = static_cast<double>(span.second - span.first) / 1e3;
            QVERIFY2(us > 20 && us < 25, qPrintable(QString::number(us)));
        }
    }
    void rangesAroundTheLaunchesAreThere() {
        QCOMPARE(annotationsOf(read("branches.kerfrec")),
                 (std::map<std::string, int>{{"even step", 2}, {"odd step", 1}}));
    }
    void theGraphHasItsNodesAndEdges() {
        QCOMPARE(countIn("branches.kerfrec", "SELECT COUNT(*) FROM graph_nodes"), 9);
        // memset → 3 branches, 1 inside each side, 3 into the join, programmatic, → copy
        QCOMPARE(countIn("branches.kerfrec", "SELECT COUNT(*) FROM graph_edges"), 10);
        QCOMPARE(countIn("branches.kerfrec", "SELECT COUNT(*) FROM graph_edges WHERE type = 1"), 1);
    }
    void everyReplayOfTheDecodeStepIsThere() {
        const auto recording = read("decode.kerfrec");
        const auto summary = trace::summarise(recording);
        QCOMPARE(summary.graph_launches, 50 + 4); // to warm up, then as asked
        const std::set<std::int64_t> sizes(summary.kernels_per_graph_launch.begin(),
                                           summary.kernels_per_graph_launch.end());
        QCOMPARE(sizes.size(), std::size_t{1}); // all alike
        // 8 layers: 4 products, attention, 2 norms, 2 adds, GELU and the keys' preparation
        QCOMPARE(*sizes.begin() % 8, 0);
        QCOMPARE(summary.kernels_in_graph_launches, 54 * *sizes.begin());
        QCOMPARE(annotationsOf(recording)["decode step"], 54);
        QCOMPARE(recording.model, std::string("small-decode"));
        QCOMPARE(recording.batch, 4);
    }
    void namesAreThoseOfTheSource() {
        const auto recording = read("decode.kerfrec");
        QVERIFY(std::none_of(recording.names.begin(), recording.names.end(),
                             [](const auto& name) { return name.starts_with("_Z"); }));
    }
    void thePassWithoutNodesIsInTheSameFile() {
        QCOMPARE(countIn("decode.kerfrec", "SELECT COUNT(*) FROM untraced_graph_launches"), 54);
    }
    void nothingWasLost() {
        for (const char* name : {"branches.kerfrec", "decode.kerfrec"}) {
            QCOMPARE(countIn(name, "SELECT COALESCE(SUM(count), 0) FROM health"), 0);
            QCOMPARE(read(name).health.dropped, 0);
            QVERIFY(!read(name).health.truncated);
        }
    }
};

QTEST_APPLESS_MAIN(TestKerfrecSamples)
#include "tst_kerfrec_samples.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Counters from a launch to the op of the chain.
#include "core/cost/ncu_match.h"
#include "core/graph/build_chain.h"
#include "core/project/project.h"

#include "../graph/workload_maker.h"
#include "shared_data.h"

#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <fstream>

using namespace kerf;
using workload::OpRole;

namespace {

/// An H200 with figures of this test's own where values are worked out from them.
cost::Hardware hardware() {
    auto h200 = cost::shippedHardware("NVIDIA H200").value();
    h200.memory_gbps.value = 4500;
    h200.ramp_us.value = 0.5;
    h200.l2_bytes = 60'000'000;
    return h200;
}

/// "decode": 2 layers of (norm, product, attention, product), three times along the path.
workload::Workload decode(int batch = 1) {
    workload::Workload made;
    made.model = "toy";
    made.batch = batch;
    workload::Stage stage;
    stage.name = "decode";
    for (int layer = 0; layer < 2; ++layer) {
        stage.ops.push_back(test::op(OpRole::Norm, 1, 0.5, 1));
        stage.ops.push_back(test::op(OpRole::Product, 10, 0.5, 128, 160 * 1024));
        stage.ops.push_back(test::op(OpRole::Attention, 6, 0.5, 32));
        stage.ops.push_back(test::op(OpRole::Product, 10, 0.5, 128, 160 * 1024));
    }
    stage.fold = {0, 4, 2, 0};
    made.stages = {stage};
    made.path = {{0, 3}};
    return made;
}

cost::NcuLaunch launch(const std::string& kernel, std::uint32_t blocks, double readBytes) {
    cost::NcuLaunch made;
    made.kernel = kernel;
    made.grid = {blocks, 1, 1};
    made.block = {256, 1, 1};
    made.read_bytes = readBytes;
    made.line = 42;
    return made;
}

/// Launches of the products of a decode stage that read these MB.
std::vector<cost::NcuLaunch> products(const std::vector<double>& megabytes) {
    std::vector<cost::NcuLaunch> launches;
    for (const double mb : megabytes) {
        launches.push_back(launch("product", 128, mb * 1e6));
    }
    return launches;
}

Expected<cost::MatchedCounters> match(const std::vector<cost::NcuLaunch>& launches,
                                      const workload::Workload& workload = decode()) {
    return cost::matchCounters({"c.csv", launches}, workload, hardware());
}

double megabytes(const cost::MatchedCounters& matched, std::size_t stage, std::size_t op) {
    const auto& counters = matched.by_op[stage][op];
    return counters ? counters->read_bytes / 1e6 : -1;
}

bool noted(const std::vector<std::string>& notes, const std::string& what) {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const auto& note) { return note.find(what) != std::string::npos; });
}

/// The first product of a layer.
graph::ChainOp productOf(const workload::Workload& workload, const graph::MeasuredCosts& measured,
                         const workload::Workload& reference) {
    const auto chain = graph::buildChain(workload, reference, workload::foldPath(workload.path),
                                         graph::defaultFusionRules(), hardware(), measured)
                           .value();
    return *std::find_if(chain.ops.begin(), chain.ops.end(),
                         [](const auto& op) { return op.key == "decode/layer/product.1"; });
}

} // namespace

class TestNcuMatch : public QObject {
    Q_OBJECT
private slots:
    void launchesAreDealtInOrder() {
        const auto matched = match(products({10, 20, 12, 22}));
        QVERIFY2(matched.has_value(), matched ? "" : toString(matched.error()).c_str());
        QCOMPARE(megabytes(*matched, 0, 1), 10.0);
        QCOMPARE(megabytes(*matched, 0, 3), 20.0);
        QCOMPARE(megabytes(*matched, 0, 5), 12.0);
        QCOMPARE(megabytes(*matched, 0, 7), 22.0);
    }
    void furtherExecutionsAreAveraged() {
        const auto matched = match(products({10, 20, 12, 22, 14, 24, 16, 26}));
        QCOMPARE(megabytes(*matched, 0, 1), 12.0); // 10 and 14
        QCOMPARE(megabytes(*matched, 0, 7), 24.0); // 22 and 26
    }
    void aBrokenNumberOfExecutionsIsNotUsed() {
        auto launches = products({10, 20, 12, 22, 14, 24});
        launches.push_back(launch("norm", 1, 1e6));
        const auto matched = match(launches);
        QVERIFY(matched.has_value());
        QCOMPARE(megabytes(*matched, 0, 1), -1.0);
        QVERIFY(noted(matched->notes, "6 launches for 4 recorded executions of product"));
    }
    void anOpOfEveryLayerTakesAnyNumber() {
        const auto matched =
            match({launch("norm", 1, 1e6), launch("norm", 1, 2e6), launch("norm", 1, 6e6)});
        QVERIFY(matched.has_value());
        QCOMPARE(megabytes(*matched, 0, 0), 3.0);
        QCOMPARE(megabytes(*matched, 0, 4), 3.0);
    }
    void aKernelOfSeveralStagesFollowsThePath() {
        // prefill once, decode twice: the second and third launches are both decode's first
        // product, and so on.
        auto workload = decode();
        workload.stages.push_back(workload.stages[0]);
        workload.stages[1].name = "prefill";
        workload.stages[1].ops.resize(2); // norm, product
        workload.stages[1].fold = {2, 0, 0, 0};
        workload.path = {{1, 1}, {0, 2}};
        const auto matched = match(products({90, 10, 20, 30, 40, 12, 22, 32, 42}), workload);
        QVERIFY2(matched.has_value(), matched ? "" : toString(matched.error()).c_str());
        QCOMPARE(megabytes(*matched, 1, 1), 90.0);
        QCOMPARE(megabytes(*matched, 0, 1), 11.0);
        QCOMPARE(megabytes(*matched, 0, 7), 41.0);
    }
    void anotherGridOrBlockIsAnotherKernel() {
        auto launches = products({10, 20, 12, 22});
        launches.push_back(launch("norm", 2, 1e6));
        auto block = launch("norm", 1, 1e6);
        block.block = {128, 1, 1};
        launches.push_back(block);
        const auto matched = match(launches);
        QVERIFY(matched.has_value());
        QCOMPARE(megabytes(*matched, 0, 0), -1.0);
        QVERIFY(noted(matched->notes, "2 of 6 launches match no recorded kernel"));
        QVERIFY(noted(matched->notes, "norm (grid 2×1×1, block 256×1×1)"));
    }
    void kernelsWithoutLaunchAreNoted() {
        const auto matched = match(products({10, 20, 12, 22}));
        QVERIFY(noted(matched->notes, "c.csv: has no launch of 2 recorded kernels"));
        QVERIFY(noted(matched->notes, "attention (grid 32×1×1, block 256×1×1)"));
    }
    void nothingIsNotedWhereAllMatch() {
        auto launches = products({10, 20, 12, 22});
        launches.push_back(launch("norm", 1, 1e6));
        launches.push_back(launch("attention", 32, 1e6));
        QVERIFY(match(launches)->notes.empty());
    }
    void templatesMayBeSpelledOtherwise_data() {
        QTest::addColumn<QString>("recorded");
        QTest::addColumn<QString>("counted");
        QTest::newRow("arguments") << "void ns::gemm<4, float>(float*, int)"
                                   << "void ns::gemm<(int)4, float>(T2 *, int)";
        QTest::newRow("function name only") << "void ns::gemm<4, float>(float*, int)"
                                            << "gemm";
        QTest::newRow("nameless namespace") << "void (anonymous namespace)::gemm<4>(int)"
                                            << "void <unnamed>::gemm<4>(int)";
    }
    void templatesMayBeSpelledOtherwise() {
        QFETCH(const QString, recorded);
        QFETCH(const QString, counted);
        auto workload = decode();
        for (auto& op : workload.stages[0].ops) {
            op.kernel = op.role == OpRole::Product ? recorded.toStdString() : op.kernel;
        }
        auto launches = products({10, 20, 12, 22});
        for (auto& one : launches) {
            one.kernel = counted.toStdString();
        }
        const auto matched = match(launches, workload);
        QVERIFY2(matched.has_value(), matched ? "" : toString(matched.error()).c_str());
        QCOMPARE(megabytes(*matched, 0, 5), 12.0);
    }
    void twoKernelsOfOneFunctionAreNotMixedUp() {
        auto workload = decode();
        workload.stages[0].ops[1].kernel = "gemm<1>()";
        workload.stages[0].ops[3].kernel = "gemm<2>()";
        auto launches = products({10});
        launches[0].kernel = "gemm<(int)1>()";
        launches.push_back(launch("norm", 1, 1e6));
        const auto matched = match(launches, workload);
        QVERIFY(matched.has_value());
        QCOMPARE(megabytes(*matched, 0, 1), -1.0);
        QVERIFY(noted(matched->notes, "gemm<(int)1>()"));
    }
    void bytesComeFromWhatTheFileHas_data() {
        QTest::addColumn<double>("total");
        QTest::addColumn<double>("write");
        QTest::addColumn<double>("rate");
        QTest::newRow("all less written") << 12.0 << 2.0 << -1.0;
        QTest::newRow("all") << 10.0 << -1.0 << -1.0;
        QTest::newRow("rate times duration") << -1.0 << -1.0 << 1e6; // 1 MB/µs for 10 µs
    }
    void bytesComeFromWhatTheFileHas() {
        QFETCH(const double, total);
        QFETCH(const double, write);
        QFETCH(const double, rate);
        auto launches = products({0, 0, 0, 0});
        for (auto& one : launches) {
            one.read_bytes.reset();
            one.duration_us = 10;
            one.total_bytes = total > 0 ? std::optional(total * 1e6) : std::nullopt;
            one.write_bytes = write > 0 ? std::optional(write * 1e6) : std::nullopt;
            one.bytes_per_us = rate > 0 ? std::optional(rate) : std::nullopt;
        }
        QCOMPARE(megabytes(match(launches).value(), 0, 3), 10.0);
    }

    void fasterThanTheMemoryIsRefused_data() {
        QTest::addColumn<double>("read");
        QTest::addColumn<double>("write");
        QTest::addColumn<double>("us"); // below 0: not in the file
        QTest::addColumn<bool>("good");
        // 4500 GB/s and a tenth: 49.5 MB in 10 µs.
        QTest::newRow("just possible") << 49.4e6 << 0.0 << 10.0 << true;
        QTest::newRow("too fast") << 49.6e6 << 0.0 << 10.0 << false;
        QTest::newRow("with what is written") << 40e6 << 9.6e6 << 10.0 << false;
        // The recorded kernel took 10 µs, and L2 may have held 60 MB of its bytes.
        QTest::newRow("no time, perhaps from L2") << 109.4e6 << 0.0 << -1.0 << true;
        QTest::newRow("no time, too many bytes") << 109.6e6 << 0.0 << -1.0 << false;
    }
    void fasterThanTheMemoryIsRefused() {
        QFETCH(const double, read);
        QFETCH(const double, write);
        QFETCH(const double, us);
        QFETCH(const bool, good);
        auto launches = products({1, 1, 1, 1});
        launches[2].read_bytes = read;
        launches[2].write_bytes = write;
        launches[2].duration_us = us > 0 ? std::optional(us) : std::nullopt;
        launches[2].line = 77;
        const auto matched = match(launches);
        QCOMPARE(matched.has_value(), good);
        if (!good) {
            const auto message = toString(matched.error());
            QVERIFY2(message.find("c.csv, line 77") != std::string::npos, message.c_str());
            QVERIFY2(message.find("product") != std::string::npos, message.c_str());
        }
    }
    void aFileOfAnotherRunIsRefused() {
        const auto matched = match({launch("saxpy", 7, 1e6)});
        QVERIFY(!matched.has_value());
        QVERIFY(toString(matched.error()).find("toy at batch 1") != std::string::npos);
    }
    void aFileWithoutBytesIsRefused() {
        auto launches = products({1, 1, 1, 1});
        for (auto& one : launches) {
            one.read_bytes.reset();
        }
        const auto matched = match(launches);
        QVERIFY(!matched.has_value());
        QVERIFY(toString(matched.error()).find("dram__bytes_read.sum") != std::string::npos);
    }

    void countedBytesBecomeTheWeights() {
        // Layer 1 reads 33 MB, layer 2 34: 33.5 MB in tiles of at most 32 KB: ⌈1022.3⌉.
        const auto matched = match(products({33, 5, 34, 5})).value();
        const auto op = productOf(decode(), {.counters = &matched}, decode());
        QVERIFY(op.tier == graph::Tier::Counters);
        QCOMPARE(op.tile.tiles, 1023U);
        QVERIFY(std::abs(op.tile.tiles * op.tile.load_bytes - 33.5e6) < 1);
        QCOMPARE(op.relative_error, 0.1);
        QVERIFY2(op.source.starts_with("counters: 33.5 MB"), op.source.c_str());
    }
    void withoutCountersTheEstimateStays() {
        const auto op = productOf(decode(), {}, decode());
        QVERIFY(op.tier == graph::Tier::Estimated);
        QCOMPARE(op.relative_error, 0.25);
    }
    void sharesOfPeakTellWhatBinds_data() {
        QTest::addColumn<double>("dram");
        QTest::addColumn<double>("sm");
        QTest::addColumn<double>("referenceUs");
        QTest::addColumn<bool>("streamed");
        // By the rule of 1.35, 10 µs are too long where the smallest batch took 4, and right where
        // it took 10.
        QTest::newRow("bound by memory") << 0.5 << 0.3 << 4.0 << true;
        QTest::newRow("as much of both") << 0.5 << 0.5 << 4.0 << true;
        QTest::newRow("bound by arithmetic") << 0.3 << 0.5 << 10.0 << false;
    }
    void sharesOfPeakTellWhatBinds() {
        QFETCH(const double, dram);
        QFETCH(const double, sm);
        QFETCH(const double, referenceUs);
        QFETCH(const bool, streamed);
        auto launches = products({10, 10, 10, 10});
        auto matched = match(launches).value();
        auto reference = decode();
        for (auto& op : reference.stages[0].ops) {
            op.duration_us = op.role == OpRole::Product ? referenceUs : op.duration_us;
        }
        const bool byTheRule =
            productOf(decode(8), {.counters = &matched}, reference).tile.load_bytes > 0;
        QCOMPARE(byTheRule, !streamed);
        for (auto& one : launches) {
            one.dram_share = dram;
            one.sm_share = sm;
        }
        matched = match(launches).value();
        const auto op = productOf(decode(8), {.counters = &matched}, reference);
        QVERIFY(op.tier == graph::Tier::Counters);
        QCOMPARE(op.tile.load_bytes > 0, streamed);
        QCOMPARE(op.tile.tiles, streamed ? 306U : 128U); // ⌈10e6 / 32 KB⌉; the recorded blocks
    }
    void aKernelThatStreamsSlowlyIsStillStreamed() {
        // 10 MB take 2.2 µs at full bandwidth; the kernel takes 10 µs at the smallest batch as
        // well.
        const auto matched = match(products({10, 10, 10, 10})).value();
        const auto op = productOf(decode(), {.counters = &matched}, decode());
        QCOMPARE(op.tile.tiles, 306U); // ⌈10e6 / 32 KB⌉
    }
    void theReferenceBatchCountsForTheOthers() {
        const auto matched = match(products({33, 5, 33, 5})).value();
        const auto op = productOf(decode(8), {.reference_counters = &matched}, decode());
        QVERIFY(op.tier == graph::Tier::Counters);
        QVERIFY(std::abs(op.tile.tiles * op.tile.load_bytes - 33e6) < 1);
        QVERIFY2(op.source.find("batch of reference") != std::string::npos, op.source.c_str());
    }
    void notesReachTheChain() {
        const auto matched = match(products({10, 20, 12, 22})).value();
        const auto workload = decode();
        const auto chain =
            graph::buildChain(workload, workload, workload::foldPath(workload.path),
                              graph::defaultFusionRules(), hardware(), {.counters = &matched})
                .value();
        QVERIFY(noted(chain.notes, "has no launch of"));
    }

    void aProjectTakesItsCounters() {
        // The counters of the real recording's "down" products, 8192 × 2048 weights of 2 bytes.
        const double weights = 8192.0 * 2048 * 2;
        const QTemporaryDir folder;
        const auto csv = std::filesystem::path(folder.path().toStdString()) / "c.csv";
        Progress progress;
        auto project =
            project::importRecordings({test::testData() / "llama-1b_b1.json.gz"}, {}, progress)
                .value();
        const auto before = project::loadCases(project, progress).value().front();
        std::ofstream(csv) << csvOf(*before, weights);
        project.counters = {{csv.string(), "llama-1b", 1}};
        const auto cases = project::loadCases(project, progress);
        QVERIFY2(cases.has_value(), cases ? "" : toString(cases.error()).c_str());
        const auto& chain = cases->front()->chain;
        const auto down = std::find_if(chain.ops.begin(), chain.ops.end(), [](const auto& op) {
            return op.key == "decode/layer/product.4";
        });
        QVERIFY(down->tier == graph::Tier::Counters);
        QCOMPARE(down->tile.tiles, 1024U); // 33.5 MB in tiles of exactly 32 KB
        QCOMPARE(down->tile.load_bytes, 32768.0);
        QVERIFY(noted(cases->front()->health, "has no launch of"));
        // Written and read again.
        const auto file = std::filesystem::path(folder.path().toStdString()) / "p.kerf";
        QVERIFY(project::writeProject(project, file));
        const auto read = project::readProject(file).value();
        QCOMPARE(read.counters.size(), std::size_t{1});
        QCOMPARE(read.counters[0].file, std::string("c.csv"));
        QVERIFY(project::loadCases(read, progress).has_value());
    }
    void badEntriesOfAProjectAreRefused_data() {
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("times");
        QTest::addColumn<bool>("there");
        QTest::addColumn<QString>("says");
        QTest::newRow("another batch") << 2 << 1 << true << "llama-1b at batch 2";
        QTest::newRow("twice") << 1 << 2 << true << "second file";
        QTest::newRow("missing") << 1 << 1 << false << "c.csv";
    }
    void badEntriesOfAProjectAreRefused() {
        QFETCH(const int, batch);
        QFETCH(const int, times);
        QFETCH(const bool, there);
        QFETCH(const QString, says);
        const QTemporaryDir folder;
        const auto csv = std::filesystem::path(folder.path().toStdString()) / "c.csv";
        Progress progress;
        auto project =
            project::importRecordings({test::testData() / "llama-1b_b1.json.gz"}, {}, progress)
                .value();
        if (there) {
            const auto before = project::loadCases(project, progress).value().front();
            std::ofstream(csv) << csvOf(*before, 1e6);
        }
        for (int i = 0; i < times; ++i) {
            project.counters.push_back({csv.string(), "llama-1b", batch});
        }
        const auto cases = project::loadCases(project, progress);
        QVERIFY(!cases.has_value());
        const auto message = toString(cases.error());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }

private:
    /// One launch for each kernel like decode's last product of a layer, wherever the path has one.
    static std::string csvOf(const search::Case& one, double bytes) {
        const auto& chain = one.chain;
        const auto down = std::find_if(chain.ops.begin(), chain.ops.end(), [](const auto& op) {
            return op.key == "decode/layer/product.4";
        });
        const auto& stages = one.corrected.stages;
        const auto& stage = stages[down->stage];
        const auto anchor =
            *std::find_if(down->members.begin(), down->members.end(), [&](std::size_t member) {
                return stage.ops[member].role == OpRole::Product;
            });
        const auto& kernel = stage.ops[anchor];
        std::string csv = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
                          "\"dram__bytes_read.sum\"\n\"\",\"\",\"\",\"\",\"byte\"\n";
        int id = 0;
        for (const auto& step : one.corrected.path) {
            for (int repeat = 0; repeat < step.repeats; ++repeat) {
                for (const auto& op : stages[step.stage].ops) {
                    if (op.kernel == kernel.kernel && op.grid == kernel.grid &&
                        op.block == kernel.block) {
                        csv += fmt::format("\"{}\",\"{}\",\"({})\",\"({})\",\"{:.0f}\"\n", id++,
                                           op.kernel, fmt::join(op.block, ", "),
                                           fmt::join(op.grid, ", "), bytes);
                    }
                }
            }
        }
        return csv;
    }
};

QTEST_APPLESS_MAIN(TestNcuMatch)
#include "tst_ncu_match.moc"

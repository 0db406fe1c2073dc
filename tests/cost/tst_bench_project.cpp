// SPDX-License-Identifier: GPL-3.0-or-later
// Benchmarks from their file to the prediction.
#include "core/graph/build_chain.h"
#include "core/graph/lower.h"
#include "core/project/project.h"

#include "../graph/workload_maker.h"
#include "shared_data.h"

#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace kerf;
using Json = nlohmann::json;
using workload::OpRole;

namespace {

Json benchFile(const std::string& model, Json ops) {
    return {
        {"format", "kerf-bench"},
        {"version", 1},
        {"model", model},
        {"source",
         {{"gpu", "NVIDIA H200"}, {"driver", "580"}, {"date", "2026-12-01"}, {"how", "by hand"}}},
        {"ops", std::move(ops)}};
}

Json tileOf(const std::string& key, int batch, double computeUs) {
    return {{"key", key},
            {"batch", batch},
            {"footprint", {{"threads", 256}, {"registers", 128}, {"shared_bytes", 196'608}}},
            {"tiles", 264},
            {"load_bytes", 16'384},
            {"worker_dependent_bytes", 4096},
            {"compute_us", computeUs},
            {"spread_us", computeUs / 8}};
}

std::filesystem::path write(const std::filesystem::path& file, const std::string& content) {
    std::ofstream(file) << content;
    return file;
}

const graph::ChainOp& opOf(const graph::Chain& chain, const std::string& key) {
    const auto found = std::find_if(chain.ops.begin(), chain.ops.end(),
                                    [&](const auto& op) { return op.key == key; });
    if (found == chain.ops.end()) {
        qFatal("no op %s", key.c_str());
    }
    return *found;
}

/// The chain of the toy workload with the benchmarks `ops`.
Expected<graph::Chain> toyChain(const Json& ops, int batch = 1) {
    auto workload = test::speechLike();
    workload.batch = batch;
    const auto hardware = cost::shippedHardware("NVIDIA H200").value();
    const auto file = cost::parseBench(benchFile("toy", ops).dump(), "b.json").value();
    const auto table = cost::benchTable(std::span(&file, 1), "toy", hardware).value();
    return graph::buildChain(workload, workload, workload::foldPath(workload.path),
                             graph::defaultFusionRules(), hardware, {.benchmarks = &table});
}

/// A project of the two recorded llama runs in `folder`, with benchmark files.
struct TwoRuns {
    explicit TwoRuns(const Json& first, const Json& second = nullptr) {
        project::ImportOptions options;
        for (const auto* content : {&first, &second}) {
            if (content->is_null()) {
                continue;
            }
            const auto name = "bench" + std::to_string(options.benchmark_files.size()) + ".json";
            options.benchmark_files.push_back(write(path(name), content->dump()));
        }
        Progress progress;
        auto made = project::importRecordings(
            {test::testData() / "llama-1b_b1.json.gz", test::testData() / "llama-1b_b8.json.gz"},
            options, progress);
        if (!made) {
            qFatal("%s", toString(made.error()).c_str());
        }
        project = std::move(*made);
    }
    std::filesystem::path path(const std::string& name) const {
        return std::filesystem::path(folder.path().toStdString()) / name;
    }
    Expected<std::vector<std::shared_ptr<const search::Case>>> cases() const {
        Progress progress;
        return project::loadCases(project, progress);
    }
    QTemporaryDir folder;
    project::Project project;
};

constexpr const char* kDown = "decode/layer/product.4";

} // namespace

class TestBenchProject : public QObject {
    Q_OBJECT
private slots:
    void theTileOpIsThatOfTheFile() {
        const auto chain = toyChain(Json::array({tileOf("inner/layer/product.2", 1, 2)}));
        QVERIFY2(chain.has_value(), chain ? "" : toString(chain.error()).c_str());
        const auto& op = opOf(*chain, "inner/layer/product.2");
        QVERIFY(op.tier == graph::Tier::Benchmarked);
        QCOMPARE(op.tile.tiles, 264U);
        QCOMPARE(op.tile.load_bytes, 16'384.0);
        QCOMPARE(op.tile.worker_dependent_bytes, 4096.0);
        QCOMPARE(op.tile.compute_us, 2.0); // the residual add is in it: "fused" is left out
        QVERIFY((op.footprint == cost::Footprint{256, 128, 196'608}));
        QCOMPARE(op.relative_error, 0.125);
        QVERIFY(op.source.starts_with("benchmarked"));
        QVERIFY(chain->notes.empty());
    }
    void otherOpsKeepTheirEstimate() {
        const auto chain = toyChain(Json::array({tileOf("inner/layer/product.2", 1, 2)}));
        const auto benchmarked =
            std::count_if(chain->ops.begin(), chain->ops.end(),
                          [](const auto& op) { return op.tier == graph::Tier::Benchmarked; });
        QCOMPARE(benchmarked, 1);
        QVERIFY(opOf(*chain, "outer/layer/product.2").source.starts_with("est."));
    }
    void theConventionalTimeStays() {
        const auto with = toyChain(Json::array({tileOf("inner/layer/product.2", 1, 2)}));
        const auto without = toyChain(Json::array({tileOf("outer/layer/product.2", 1, 2)}));
        const char* key = "inner/layer/product.2";
        QCOMPARE(opOf(*with, key).conventional_us, opOf(*without, key).conventional_us);
    }
    void helpersThatTheTileLeavesOutAreAdded_data() {
        QTest::addColumn<QByteArray>("fused");
        QTest::addColumn<double>("compute");
        // A decode layer's second product in "outer": 8 µs, and a residual add of 1 µs. The fastest
        // kernels of the workload take 0.5 µs ("inner": half of 1 µs), so the add works for 0.5 µs
        // in each worker: on 132 workers, two of 264 tiles a worker, 0.25 µs a tile.
        QTest::newRow("everything fused") << QByteArray("null") << 2.0;
        QTest::newRow("residual fused") << QByteArray(R"(["residual"])") << 2.0;
        QTest::newRow("nothing fused") << QByteArray("[]") << 2.25;
        QTest::newRow("something else fused") << QByteArray(R"(["norm"])") << 2.25;
    }
    void helpersThatTheTileLeavesOutAreAdded() {
        QFETCH(const QByteArray, fused);
        QFETCH(const double, compute);
        auto tile = tileOf("outer/layer/product.2", 1, 2);
        if (fused != "null") {
            tile["fused"] = Json::parse(fused.toStdString());
        }
        const auto chain = toyChain(Json::array({tile}));
        QVERIFY(chain.has_value());
        QVERIFY(std::abs(opOf(*chain, "outer/layer/product.2").tile.compute_us - compute) < 1e-9);
    }
    void anExtrapolationIsNoted() {
        const auto chain = toyChain(Json::array({tileOf("inner/layer/product.2", 1, 2)}), 4);
        QCOMPARE(chain->notes.size(), std::size_t{1});
        const auto& note = chain->notes[0];
        QVERIFY2(note.find("extrapolated") != std::string::npos, note.c_str());
        QVERIFY2(note.find("batch 1 stand in for batch 4") != std::string::npos, note.c_str());
        QVERIFY2(note.find("inner/layer/product.2") != std::string::npos, note.c_str());
        // Two doublings at 0.25 each, beside the measured 0.125.
        QCOMPARE(opOf(*chain, "inner/layer/product.2").relative_error, 0.625);
    }
    void aKeyWithoutAnOpIsNoted() {
        const auto chain = toyChain(Json::array({tileOf("inner/layer/product.9", 1, 2)}));
        QCOMPARE(chain->notes.size(), std::size_t{1});
        QVERIFY(chain->notes[0].find("inner/layer/product.9") != std::string::npos);
        QVERIFY(chain->notes[0].find("b.json, ops[0]") != std::string::npos);
    }
    void aContradictedRoleStopsTheChain() {
        auto tile = tileOf("inner/layer/product.2", 1, 2);
        tile["role"] = "attention";
        const auto chain = toyChain(Json::array({tile}));
        QVERIFY(!chain.has_value());
        QVERIFY(toString(chain.error()).find("inner/layer/product.2") != std::string::npos);
    }

    void aProjectsPredictionFollowsItsBenchmark() {
        // Consumers that take 100 µs a tile decide: 264 tiles are two waves on 132 workers (196,608
        // bytes of shared memory leave room for one worker an SM), in 16 layers. Making them 40 µs
        // slower must cost 16 × 2 × 40 µs, whatever the rest of the region takes.
        const auto timeWith = [](double computeUs) {
            const TwoRuns runs(benchFile("llama-1b", Json::array({tileOf(kDown, 1, computeUs)})));
            const auto cases = runs.cases();
            if (!cases) {
                qFatal("%s", toString(cases.error()).c_str());
            }
            search::Predictor predictor(cases->front());
            const auto& chain = cases->front()->chain;
            const auto monolith = predictor.predict(graph::monolith(), 0);
            if (opOf(chain, kDown).tile.compute_us != computeUs || !monolith) {
                qFatal("the benchmark is not used");
            }
            return monolith->ttfa_us;
        };
        const double difference = timeWith(140) - timeWith(100);
        QVERIFY2(std::abs(difference - 16 * 2 * 40) < 1e-3, std::to_string(difference).c_str());
    }
    void anExtrapolationReachesTheHealthOfItsCaseOnly() {
        const TwoRuns runs(benchFile("llama-1b", Json::array({tileOf(kDown, 1, 2)})));
        const auto cases = runs.cases();
        QVERIFY2(cases.has_value(), cases ? "" : toString(cases.error()).c_str());
        const auto extrapolated = [](const search::Case& one) {
            return std::count_if(one.health.begin(), one.health.end(), [](const auto& line) {
                return line.find("extrapolated") != std::string::npos;
            });
        };
        QCOMPARE(extrapolated(*(*cases)[0]), 0);
        QCOMPARE(extrapolated(*(*cases)[1]), 1);
    }
    void benchmarksOfSeveralFilesAddUp() {
        const TwoRuns runs(benchFile("llama-1b", Json::array({tileOf(kDown, 1, 2)})),
                           benchFile("llama-1b", Json::array({tileOf(kDown, 8, 3)})));
        const auto cases = runs.cases();
        QVERIFY2(cases.has_value(), cases ? "" : toString(cases.error()).c_str());
        QCOMPARE(opOf((*cases)[0]->chain, kDown).tile.compute_us, 2.0);
        QCOMPARE(opOf((*cases)[1]->chain, kDown).tile.compute_us, 3.0);
    }
    void benchmarksTravelWithTheProject() {
        TwoRuns runs(benchFile("llama-1b", Json::array({tileOf(kDown, 1, 2)})));
        const auto file = runs.path("p.kerf");
        QVERIFY(project::writeProject(runs.project, file));
        auto read = project::readProject(file);
        QVERIFY(read.has_value());
        QCOMPARE(read->benchmarks, std::vector<std::string>{"bench0.json"});
        runs.project = std::move(*read);
        const auto cases = runs.cases();
        QVERIFY2(cases.has_value(), cases ? "" : toString(cases.error()).c_str());
        QVERIFY(opOf((*cases)[0]->chain, kDown).tier == graph::Tier::Benchmarked);
    }
    void aMissingFileNamesItselfAndTheProject() {
        TwoRuns runs(benchFile("llama-1b", Json::array({tileOf(kDown, 1, 2)})));
        QVERIFY(project::writeProject(runs.project, runs.path("p.kerf")));
        runs.project = project::readProject(runs.path("p.kerf")).value();
        std::filesystem::remove(runs.path("bench0.json"));
        const auto cases = runs.cases();
        QVERIFY(!cases.has_value());
        const auto message = toString(cases.error());
        QVERIFY2(message.find("bench0.json") != std::string::npos, message.c_str());
        QVERIFY2(message.find("p.kerf") != std::string::npos, message.c_str());
    }
    void aModelThatTheProjectLacksIsRefused() {
        const TwoRuns runs(benchFile("lama-1b", Json::array({tileOf(kDown, 1, 2)})));
        const auto cases = runs.cases();
        QVERIFY(!cases.has_value());
        const auto message = toString(cases.error());
        QVERIFY2(message.find("lama-1b") != std::string::npos, message.c_str());
        QVERIFY2(message.find("bench0.json") != std::string::npos, message.c_str());
    }
    void aBadFileIsRefusedAtImport() {
        const QTemporaryDir folder;
        const auto bad =
            write(std::filesystem::path(folder.path().toStdString()) / "bad.json", "{}");
        project::ImportOptions options;
        options.benchmark_files = {bad};
        Progress progress;
        const auto made = project::importRecordings({test::testData() / "llama-1b_b1.json.gz"},
                                                    options, progress);
        QVERIFY(!made.has_value());
        QVERIFY(toString(made.error()).find("bad.json") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestBenchProject)
#include "tst_bench_project.moc"

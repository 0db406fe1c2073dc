// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/bench_file.h"

#include "shared_data.h"

#include <QTemporaryDir>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

using namespace kerf;
using Json = nlohmann::json;
using workload::OpRole;

namespace {

Json goodFile() {
    return Json::parse(R"({
      "format": "kerf-bench", "version": 1, "model": "toy",
      "source": {"gpu": "NVIDIA H200", "driver": "580", "date": "2026-12-01", "how": "one tile"},
      "ops": [
        {"key": "decode/layer/product.1", "role": "product", "fused": ["residual", "norm"],
         "batch": 4, "footprint": {"threads": 256, "registers": 128, "shared_bytes": 196608},
         "tiles": 128, "load_bytes": 32768, "dependent_bytes": 16, "worker_dependent_bytes": 4096,
         "compute_us": 0.75, "spread_us": 0.05, "signal_us": 0.125},
        {"role": "sample", "batch": 1,
         "footprint": {"threads": 128, "registers": 32, "shared_bytes": 0},
         "tiles": 1, "compute_us": 3, "spread_us": 0}
      ]})");
}

} // namespace

class TestBenchFile : public QObject {
    Q_OBJECT
private slots:
    void everyFieldIsRead() {
        const auto file = cost::parseBench(goodFile().dump(), "b.json");
        QVERIFY2(file.has_value(), file ? "" : toString(file.error()).c_str());
        QCOMPARE(file->model, std::string("toy"));
        QCOMPARE(file->gpu, std::string("NVIDIA H200"));
        QCOMPARE(file->driver, std::string("580"));
        QCOMPARE(file->date, std::string("2026-12-01"));
        QCOMPARE(file->how, std::string("one tile"));
        QCOMPARE(file->ops.size(), std::size_t{2});
        const auto& entry = file->ops[0];
        QCOMPARE(entry.key, std::string("decode/layer/product.1"));
        QVERIFY(entry.role == OpRole::Product);
        QVERIFY((*entry.fused == std::vector{OpRole::Norm, OpRole::Residual}));
        QCOMPARE(entry.batch, 4);
        QVERIFY((entry.footprint == cost::Footprint{256, 128, 196'608}));
        QCOMPARE(entry.tiles, 128U);
        QCOMPARE(entry.load_bytes, 32768.0);
        QCOMPARE(entry.dependent_bytes, 16.0);
        QCOMPARE(entry.worker_dependent_bytes, 4096.0);
        QCOMPARE(entry.compute_us, 0.75);
        QCOMPARE(entry.spread_us, 0.05);
        QCOMPARE(entry.signal_us, 0.125);
        QCOMPARE(entry.place, std::string("b.json, ops[0]"));
    }
    void whatMayBeLeftOutIsZeroOrNothing() {
        const auto file = cost::parseBench(goodFile().dump(), "b.json");
        QVERIFY(file.has_value());
        const auto& entry = file->ops[1];
        QVERIFY(entry.key.empty());
        QVERIFY(!entry.fused);
        QCOMPARE(entry.load_bytes + entry.dependent_bytes + entry.worker_dependent_bytes, 0.0);
        QCOMPARE(entry.signal_us, 0.0);
    }
    void unknownFieldsAreIgnored() {
        auto json = goodFile();
        json["mine"] = {1, 2};
        json["ops"][0]["mine"] = "x";
        json["source"]["mine"] = nullptr;
        QVERIFY(cost::parseBench(json.dump(), "b.json").has_value());
    }

    void faultsAreNamed_data() {
        using Change = std::function<void(Json&)>;
        QTest::addColumn<Change>("change");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, Change change, const char* says) {
            QTest::newRow(name) << change << QString(says);
        };
        // clang-format off
        row("other format", [](Json& f) { f["format"] = "kerf-hardware"; }, "kerf-bench");
        row("no format", [](Json& f) { f.erase("format"); }, "kerf-bench");
        row("newer version", [](Json& f) { f["version"] = 2; }, "version 2 is not known");
        row("version as text", [](Json& f) { f["version"] = "1"; }, "version \"1\" is not known");
        row("no version", [](Json& f) { f.erase("version"); }, "version (missing)");
        row("no source", [](Json& f) { f.erase("source"); }, "\"source\" must be an object");
        row("no gpu", [](Json& f) { f["source"].erase("gpu"); }, "source: benchmark file: \"gpu\"");
        row("no driver", [](Json& f) { f["source"]["driver"] = ""; }, "\"driver\"");
        row("no date", [](Json& f) { f["source"]["date"] = 20261201; }, "\"date\"");
        row("no how", [](Json& f) { f["source"].erase("how"); }, "\"how\"");
        row("no ops", [](Json& f) { f.erase("ops"); }, "\"ops\" must be a list");
        row("empty ops", [](Json& f) { f["ops"] = Json::array(); }, "at least one");
        row("op is text", [](Json& f) { f["ops"][1] = "x"; }, "ops[1]: benchmark file: an entry");
        row("neither key nor role", [](Json& f) { f["ops"][1].erase("role"); },
            "ops[1]: benchmark file: an entry needs a \"key\" or a \"role\"");
        row("key without model", [](Json& f) { f.erase("model"); }, "no \"model\"");
        row("unknown role", [](Json& f) { f["ops"][1]["role"] = "magic"; }, "\"magic\" is unknown");
        row("product by role", [](Json& f) { f["ops"][1]["role"] = "product"; },
            "does not say which shape");
        row("convolution by role", [](Json& f) { f["ops"][1]["role"] = "convolution"; },
            "does not say which shape");
        row("unknown fused role", [](Json& f) { f["ops"][0]["fused"][1] = "melt"; },
            "ops[0]: benchmark file: role \"melt\"");
        row("fused is text", [](Json& f) { f["ops"][0]["fused"] = "norm"; }, "list of roles");
        row("no batch", [](Json& f) { f["ops"][0].erase("batch"); }, "\"batch\" is missing");
        row("batch 0", [](Json& f) { f["ops"][0]["batch"] = 0; }, "\"batch\" is 0");
        row("half a batch", [](Json& f) { f["ops"][0]["batch"] = 1.5; }, "whole number");
        row("no footprint", [](Json& f) { f["ops"][0].erase("footprint"); }, "\"footprint\"");
        row("no threads", [](Json& f) { f["ops"][0]["footprint"].erase("threads"); },
            "ops[0].footprint: benchmark file: \"threads\" is missing");
        row("2048 threads", [](Json& f) { f["ops"][0]["footprint"]["threads"] = 2048; },
            "\"threads\" is 2048");
        row("256 registers", [](Json& f) { f["ops"][0]["footprint"]["registers"] = 256; },
            "\"registers\" is 256");
        row("negative shared memory", [](Json& f) { f["ops"][0]["footprint"]["shared_bytes"] = -1; },
            "\"shared_bytes\" is -1");
        row("no tiles", [](Json& f) { f["ops"][0].erase("tiles"); }, "\"tiles\" is missing");
        row("0 tiles", [](Json& f) { f["ops"][0]["tiles"] = 0; }, "\"tiles\" is 0");
        row("tiles beyond counting", [](Json& f) { f["ops"][0]["tiles"] = 1e9; }, "\"tiles\" is");
        row("negative bytes", [](Json& f) { f["ops"][0]["load_bytes"] = -5; },
            "ops[0]: benchmark file: \"load_bytes\" is -5");
        row("bytes as text", [](Json& f) { f["ops"][0]["dependent_bytes"] = "4k"; },
            "\"dependent_bytes\" is \"4k\"");
        row("bytes as a list", [](Json& f) { f["ops"][0]["worker_dependent_bytes"] = {1}; },
            "\"worker_dependent_bytes\" is a list");
        row("no compute", [](Json& f) { f["ops"][0].erase("compute_us"); }, "\"compute_us\"");
        row("null compute", [](Json& f) { f["ops"][0]["compute_us"] = nullptr; }, "is null");
        row("nanoseconds", [](Json& f) { f["ops"][0]["compute_us"] = 7e8; }, "\"compute_us\" is");
        row("no spread", [](Json& f) { f["ops"][0].erase("spread_us"); }, "\"spread_us\"");
        row("spread beyond the value", [](Json& f) { f["ops"][0]["spread_us"] = 0.8; },
            "says nothing");
        row("negative signal", [](Json& f) { f["ops"][0]["signal_us"] = -0.1; }, "\"signal_us\"");
        row("does nothing", [](Json& f) { f["ops"][1]["compute_us"] = 0; }, "does nothing");
        row("model is a number", [](Json& f) { f["model"] = 5; }, "\"model\"");
        // clang-format on
    }
    void faultsAreNamed() {
        QFETCH(const std::function<void(Json&)>, change);
        QFETCH(const QString, says);
        auto json = goodFile();
        change(json);
        const auto file = cost::parseBench(json.dump(), "bad.json");
        QVERIFY(!file.has_value());
        const auto message = toString(file.error());
        QVERIFY2(message.find("bad.json") != std::string::npos, message.c_str());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }

    void whatIsNoJsonIsRefused_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("text") << QByteArray("hello");
        QTest::newRow("cut off") << QByteArray(goodFile().dump().c_str(), 200);
        QTest::newRow("a list") << QByteArray("[]");
        QTest::newRow("infinite") << QByteArray(R"({"format":"kerf-bench","version":1,"x":1e999})");
        QTest::newRow("deep") << QByteArray(200'000, '[');
        QTest::newRow("bytes") << QByteArray("{\"format\":\"\xff\"}");
    }
    void whatIsNoJsonIsRefused() {
        QFETCH(const QByteArray, content);
        const auto file = cost::parseBench(content.toStdString(), "bad.json");
        QVERIFY(!file.has_value());
        QVERIFY(toString(file.error()).find("bad.json") != std::string::npos);
    }

    void aMissingFileIsNamed() {
        const QTemporaryDir folder;
        const auto path = folder.filePath("none.json").toStdString();
        const auto file = cost::readBench(path);
        QVERIFY(!file.has_value());
        QVERIFY(toString(file.error()).find("none.json") != std::string::npos);
    }
    void aFileIsReadFromDisk() {
        const QTemporaryDir folder;
        const auto path = folder.filePath("b.json").toStdString();
        std::ofstream(path) << goodFile().dump();
        const auto file = cost::readBench(path);
        QVERIFY(file.has_value());
        QCOMPARE(file->file, path);
    }
};

QTEST_APPLESS_MAIN(TestBenchFile)
#include "tst_bench_file.moc"

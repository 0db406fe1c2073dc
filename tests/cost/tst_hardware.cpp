// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/hardware.h"
#include "shared_data.h"

#include <QTemporaryDir>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace kerf;
using Json = nlohmann::json;

namespace {

std::string textOf(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string shippedText() {
    return textOf(test::sourceDir() / "resources/hardware/h200.json");
}

/// The shipped file after `change`, parsed.
Expected<cost::Hardware> parseChanged(const std::function<void(Json&)>& change) {
    Json file = Json::parse(shippedText());
    change(file);
    return cost::parseHardware(file.dump(), "changed.json");
}

} // namespace

class TestHardware : public QObject {
    Q_OBJECT
private slots:
    void theShippedFileIsCompiledIn() {
        const auto shipped = cost::shippedHardware("NVIDIA H200");
        QVERIFY(shipped.has_value());
        QCOMPARE(shipped->sm_count, 132);
        QCOMPARE(shipped->l2_bytes, std::int64_t{62'914'560});
        QCOMPARE(shipped->shared_bytes_per_sm, 233'472);
    }
    /// Other programs on another H200 of the same driver found these.
    void theShippedFiguresAgreeWithAnIndependentMeasurement() {
        KERF_NEEDS_SHARED_DATA();
        const Json bench = Json::parse(textOf(test::sharedData() / "h200/microbench.json"));
        const auto h200 = cost::shippedHardware("NVIDIA H200");
        QVERIFY(h200.has_value());
        const auto agree = [](double ours, double theirs, double within) {
            return std::abs(ours / theirs - 1) < within;
        };
        for (const Json& row : bench["graph_chain_us_per_node"]) {
            if (row["grid"] == 132) {
                const auto& gap =
                    row["pdl"] == true ? h200->launch_gap_pdl_us : h200->launch_gap_us;
                QVERIFY(agree(gap.value, row["untraced"].get<double>(), 0.12));
            }
        }
        QVERIFY(agree(cost::interpolate(h200->barrier_us_by_workers, 132),
                      bench["grid_barrier_us"]["132"].get<double>(), 0.12));
        const double both = bench["read_bandwidth_GBps"]["1024_threads"]["264"].get<double>();
        QVERIFY(agree(cost::readBandwidthGbps(*h200, 264, 1024), both, 0.03));
        QVERIFY(agree(h200->memory_gbps.value, both, 0.03));
    }
    void everyShippedFigureIsMeasured() {
        const auto h200 = cost::shippedHardware("NVIDIA H200");
        QVERIFY(h200.has_value());
        for (const auto* figure :
             {&h200->launch_gap_us, &h200->launch_gap_pdl_us, &h200->memset_us, &h200->prologue_us,
              &h200->event_one_way_us, &h200->dispatch_us, &h200->queue_pop_us,
              &h200->dependent_latency_us, &h200->ramp_us, &h200->memory_gbps, &h200->l2_gbps,
              &h200->bulk_gbps_per_sm, &h200->on_chip_gbps_per_sm, &h200->drain_us,
              &h200->tracing_us_per_node}) {
            QVERIFY(!figure->estimated);
            QVERIFY(figure->spread > 0);
        }
    }
    void aFileWithoutTheMemsetNodeIsRefused() {
        const auto hardware = parseChanged([](Json& f) { f["constants"].erase("memset_us"); });
        QVERIFY(!hardware.has_value());
        QVERIFY(hardware.error().what.find("constants.memset_us") != std::string::npos);
    }
    void anUnknownDeviceNamesThoseShipped() {
        const auto none = cost::shippedHardware("NVIDIA Z1");
        QVERIFY(!none.has_value());
        QVERIFY(none.error().what.find("NVIDIA H200") != std::string::npos);
    }
    void curvesAreLinearInsideAndConstantOutside() {
        const cost::Curve curve{{1, 10}, {3, 30}, {7, 50}};
        QCOMPARE(cost::interpolate(curve, 0.5), 10.0);
        QCOMPARE(cost::interpolate(curve, 2), 20.0);
        QCOMPARE(cost::interpolate(curve, 3), 30.0);
        QCOMPARE(cost::interpolate(curve, 6), 45.0);
        QCOMPARE(cost::interpolate(curve, 9), 50.0);
    }
    void bandwidthIsInterpolatedBetweenThreadCounts() {
        cost::Hardware hardware;
        hardware.bandwidth = {{512, {{1, 10}, {3, 30}}}, {1024, {{1, 20}, {3, 60}}}};
        QCOMPARE(cost::readBandwidthGbps(hardware, 2, 768), (20.0 + 40.0) / 2);
    }

    void faultsAreNamed_data() {
        using Change = std::function<void(Json&)>;
        QTest::addColumn<Change>("change");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, Change change, const char* expected) {
            QTest::newRow(name) << change << QString(expected);
        };
        row(
            "other format", [](Json& f) { f["format"] = "x"; }, "kerf-hardware");
        row(
            "newer version", [](Json& f) { f["version"] = 2; }, "version 2 is not known");
        row(
            "no version", [](Json& f) { f.erase("version"); }, "version (missing)");
        row(
            "no name", [](Json& f) { f.erase("name"); }, "\"name\"");
        row(
            "missing constant", [](Json& f) { f["constants"].erase("ramp_us"); },
            "\"constants.ramp_us\" is missing");
        row(
            "zero constant", [](Json& f) { f["constants"]["ramp_us"]["value"] = 0; },
            "\"constants.ramp_us.value\" must be a positive");
        row(
            "text for a number", [](Json& f) { f["constants"]["l2_gbps"]["value"] = "fast"; },
            "\"constants.l2_gbps.value\"");
        row(
            "negative spread", [](Json& f) { f["constants"]["l2_gbps"]["spread"] = -1; },
            "\"constants.l2_gbps.spread\" must be a non-negative");
        row(
            "no source", [](Json& f) { f["constants"]["l2_gbps"].erase("source"); },
            "\"constants.l2_gbps.source\" is missing");
        row(
            "negative limit", [](Json& f) { f["limits"]["sm_count"] = -132; },
            "\"limits.sm_count\"");
        row(
            "limit too large", [](Json& f) { f["limits"]["sm_count"] = 1e12; },
            "\"limits.sm_count\"");
        row(
            "limits not an object", [](Json& f) { f["limits"] = 3; }, "\"limits\"");
        row(
            "workers descend", [](Json& f) { f["barrier_us_by_workers"]["points"][1][0] = 1; },
            "workers must ascend");
        row(
            "no curves", [](Json& f) { f["read_bandwidth_gbps"]["curves"] = Json::array(); },
            "\"read_bandwidth_gbps.curves\"");
        row(
            "threads descend",
            [](Json& f) { f["read_bandwidth_gbps"]["curves"][1]["threads"] = 1; },
            "curves[1].threads");
    }
    void faultsAreNamed() {
        QFETCH(std::function<void(Json&)>, change);
        QFETCH(QString, expected);
        const auto hardware = parseChanged(change);
        QVERIFY(!hardware.has_value());
        QCOMPARE(hardware.error().where, std::string("changed.json"));
        QVERIFY2(hardware.error().what.find(expected.toStdString()) != std::string::npos,
                 hardware.error().what.c_str());
    }
    void unknownFieldsAreIgnored() {
        QVERIFY(parseChanged([](Json& f) { f["colour"] = "blue"; }).has_value());
    }
    void aCutOffFileIsRefused() {
        const std::string text = shippedText();
        const auto hardware = cost::parseHardware(text.substr(0, text.size() / 2), "half.json");
        QVERIFY(!hardware.has_value());
        QVERIFY(hardware.error().what.find("not valid JSON") != std::string::npos);
    }
    void aMissingFileIsNamed() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("none.json").toStdString();
        const auto hardware = cost::readHardware(path);
        QVERIFY(!hardware.has_value());
        QCOMPARE(hardware.error().where, path);
    }
    void aFileReadsAsItsText() {
        const auto file =
            cost::readHardware((test::sourceDir() / "resources/hardware/h200.json").string());
        QVERIFY(file.has_value());
        QCOMPARE(file->name, std::string("NVIDIA H200"));
        QCOMPARE(file->memory_gbps.value, cost::shippedHardware("NVIDIA H200")->memory_gbps.value);
    }
};

QTEST_APPLESS_MAIN(TestHardware)
#include "tst_hardware.moc"

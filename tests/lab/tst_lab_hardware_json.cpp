// SPDX-License-Identifier: GPL-3.0-or-later
// What a calibration writes is what Kerf reads.
#include "core/cost/hardware.h"
#include "lab/common/calibration.h"
#include "lab/common/lab_error.h"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace kerf;
using lab::Calibration;
using Json = nlohmann::json;

namespace {

/// Constant number n of the file gets the value n + 0.5.
const std::vector<std::string> kNames = {"launch_gap_us",
                                         "launch_gap_pdl_us",
                                         "memset_us",
                                         "prologue_us",
                                         "ramp_us",
                                         "event_one_way_us",
                                         "dispatch_us",
                                         "dependent_latency_us",
                                         "memory_gbps",
                                         "l2_gbps",
                                         "queue_pop_us",
                                         "bulk_gbps_per_sm",
                                         "on_chip_gbps_per_sm",
                                         "drain_us"};

Calibration made() {
    Calibration calibration;
    calibration.environment = {.gpu = "Test GPU",
                               .driver = "1.2",
                               .cuda = "13.0",
                               .date = "2026-12-01",
                               .sm_clock_before_mhz = 1980,
                               .sm_clock_after_mhz = 1979};
    calibration.limits = {132, 50'000'000, 65536, 233472, 232448, 1024, 2048, 32};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        calibration.figures.push_back(
            {kNames[i], "us", {static_cast<double>(i) + 0.5, 0.25, 31}, "how " + kNames[i]});
    }
    calibration.figures.push_back({"a_finding", "us", {7, 1, 3}, "not a constant of the file"});
    calibration.series.push_back({"barrier_us_by_workers",
                                  "workers",
                                  "us",
                                  {{2, {0.5, 0.01, 31}}, {132, {0.875, 0.02, 31}}},
                                  "barrier"});
    calibration.series.push_back({"read_gbps_1024_threads",
                                  "blocks",
                                  "GB/s",
                                  {{1, {100, 2, 31}}, {132, {4000, 30, 31}}},
                                  "loads"});
    return calibration;
}

void remove(Calibration& calibration, const std::string& name) {
    std::erase_if(calibration.figures, [&](const auto& figure) { return figure.name == name; });
    std::erase_if(calibration.series, [&](const auto& series) { return series.name == name; });
}

/// The message, or nothing when it was accepted.
QString refusal(const Calibration& calibration, const std::string& base = {}) {
    try {
        (void)lab::hardwareJson(calibration, base);
    } catch (const lab::LabError& error) {
        return error.what();
    }
    return {};
}

} // namespace

class TestLabHardwareJson : public QObject {
    Q_OBJECT
private slots:
    void kerfReadsEveryConstantBack() {
        const auto hardware = cost::parseHardware(lab::hardwareJson(made()), "calibration");
        QVERIFY2(hardware.has_value(), hardware ? "" : hardware.error().what.c_str());
        const cost::Constant* constants[] = {&hardware->launch_gap_us,
                                             &hardware->launch_gap_pdl_us,
                                             &hardware->memset_us,
                                             &hardware->prologue_us,
                                             &hardware->ramp_us,
                                             &hardware->event_one_way_us,
                                             &hardware->dispatch_us,
                                             &hardware->dependent_latency_us,
                                             &hardware->memory_gbps,
                                             &hardware->l2_gbps,
                                             &hardware->queue_pop_us,
                                             &hardware->bulk_gbps_per_sm,
                                             &hardware->on_chip_gbps_per_sm,
                                             &hardware->drain_us};
        for (std::size_t i = 0; i < std::size(constants); ++i) {
            QCOMPARE(constants[i]->value, static_cast<double>(i) + 0.5);
            QCOMPARE(constants[i]->spread, 0.25);
            QVERIFY(!constants[i]->estimated);
            QVERIFY(constants[i]->source.find("how " + kNames[i]) != std::string::npos);
            QVERIFY(constants[i]->source.find("2026-12-01") != std::string::npos);
        }
        QCOMPARE(hardware->sm_count, 132);
        QCOMPARE(cost::interpolate(hardware->barrier_us_by_workers, 132), 0.875);
        QCOMPARE(cost::readBandwidthGbps(*hardware, 132, 1024), 4000.0);
    }
    void whatKerfDoesNotReadIsKeptToo() {
        const Json json = Json::parse(lab::hardwareJson(made()));
        QCOMPARE(json["calibration"]["figures"]["a_finding"]["value"].get<double>(), 7.0);
        QCOMPARE(json["calibration"]["figures"]["a_finding"]["repeats"].get<int>(), 3);
        QCOMPARE(json["calibration"]["sm_clock_before_mhz"].get<double>(), 1980.0);
    }
    void tracingCostIsAnEstimateUnlessTheBaseHasIt() {
        const Json alone = Json::parse(lab::hardwareJson(made()));
        QVERIFY(alone["constants"]["tracing_us_per_node"]["estimated"].get<bool>());
        Json base = alone;
        base["constants"]["tracing_us_per_node"] = {
            {"value", 0.25}, {"spread", 0}, {"source", "a profiler"}, {"estimated", false}};
        const Json kept = Json::parse(lab::hardwareJson(made(), base.dump()));
        QCOMPARE(kept["constants"]["tracing_us_per_node"]["value"].get<double>(), 0.25);
    }
    void measuredFiguresReplaceTheBases() {
        Json base = Json::parse(lab::hardwareJson(made()));
        base["constants"]["launch_gap_us"]["value"] = 99;
        const Json result = Json::parse(lab::hardwareJson(made(), base.dump()));
        QCOMPARE(result["constants"]["launch_gap_us"]["value"].get<double>(), 0.5);
    }
    void aFigureThatWasNotMeasuredComesFromTheBase() {
        const std::string base = lab::hardwareJson(made());
        Calibration calibration = made();
        remove(calibration, "queue_pop_us");
        QVERIFY(refusal(calibration).contains("queue_pop_us"));
        const Json result = Json::parse(lab::hardwareJson(calibration, base));
        QCOMPARE(result["constants"]["queue_pop_us"]["value"].get<double>(), 10.5);
    }
    void curvesThatWereNotMeasuredAreAskedFor() {
        for (const char* name : {"barrier_us_by_workers", "read_gbps_1024_threads"}) {
            Calibration calibration = made();
            remove(calibration, name);
            QVERIFY(refusal(calibration).contains("--base"));
            QVERIFY(refusal(calibration, lab::hardwareJson(made())).isEmpty());
        }
    }
    void aFigureThatIsNotPositiveIsRefused_data() {
        QTest::addColumn<double>("value");
        QTest::newRow("zero") << 0.0;
        QTest::newRow("negative") << -0.1;
        QTest::newRow("not a number") << std::nan("");
        QTest::newRow("infinite") << HUGE_VAL;
    }
    void aFigureThatIsNotPositiveIsRefused() {
        QFETCH(double, value);
        Calibration calibration = made();
        calibration.figures[3].value.median = value; // prologue_us
        QVERIFY2(refusal(calibration).contains("prologue_us"), qPrintable(refusal(calibration)));
    }
    void aForeignBaseIsRefused() {
        QVERIFY(refusal(made(), "not JSON").contains("not a hardware file"));
        QVERIFY(refusal(made(), "[]").contains("not a hardware file"));
        QVERIFY(refusal(made(), R"({"format": "kerf"})").contains("not a hardware file"));
        QVERIFY(refusal(made(), R"({"format": "kerf-hardware", "name": "Other GPU"})")
                    .contains("Other GPU"));
    }
};

QTEST_APPLESS_MAIN(TestLabHardwareJson)
#include "tst_lab_hardware_json.moc"

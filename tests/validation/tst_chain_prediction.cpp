// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions of small chains with round constants, worked out by hand.
#include "chain_maker.h"
#include "core/sim/bandwidth_floor.h"
#include "core/validation/ablation.h"
#include "core/validation/naive.h"

#include <QTest>

using namespace kerf;
using Json = nlohmann::json;

namespace {

constexpr double kClose = 1e-9;

bool close(double a, double b) {
    return std::abs(a - b) <= kClose * std::max(std::abs(a), std::abs(b));
}

/// Gap 1, memset 2, prologue 3, drain 4, ramp 5, one way 0.5, dependent latency 0.25, fan-in and
/// dispatch next to nothing; 2 workers of 1 GB/s in all, so 1000 bytes take 1 µs alone. On chip a
/// worker takes 1000 bytes in 1.25 µs.
cost::Hardware roundHardware() {
    cost::Hardware hardware = cost::shippedHardware("NVIDIA H200").value();
    hardware.sm_count = 2;
    hardware.launch_gap_us.value = 1;
    hardware.memset_us.value = 2;
    hardware.prologue_us.value = 3;
    hardware.drain_us.value = 4;
    hardware.ramp_us.value = 5;
    hardware.event_one_way_us.value = 0.5;
    hardware.barrier_us_by_workers = {{2, 0.5}};
    hardware.dependent_latency_us.value = 0.25;
    hardware.dispatch_us.value = 0;
    hardware.memory_gbps.value = 1;
    hardware.l2_gbps.value = 1e12;
    hardware.bulk_gbps_per_sm.value = 1e6;
    hardware.on_chip_gbps_per_sm.value = 0.8;
    return hardware;
}

/// Two workers, tiles of one row with 500 weights (1000 bytes), a ring of two such stages. Singles
/// of 2 and 4 rows: the larger takes 3 µs longer for 1000 more bytes a worker, which the memory
/// brings in 2: the consumer takes 3 µs a tile.
Json roundFile() {
    return Json::parse(R"({
      "format": "kerf-chain", "version": 1, "gpu": "NVIDIA H200",
      "kernel": {"workers": 2, "threads": 288, "ring_stages": 2, "stage_bytes": 1000,
                 "tile_rows": 1, "memset_nodes": 1},
      "single_ops": [
        {"rows": 2, "k": 500, "conventional_us": 14, "persistent_us": 13},
        {"rows": 4, "k": 500, "conventional_us": 20, "persistent_us": 16}
      ],
      "chains": [
        {"name": "two sizes", "ops": [{"rows": 2, "k": 500}, {"rows": 4, "k": 500}],
         "cases": [{"kind": "regions_of", "region_ops": 1, "measured_us": 50},
                   {"kind": "persistent_all_ops", "measured_us": 40}]}
      ]})");
}

validation::ChainFile made(const Json& json) {
    return test::parsed(json).value();
}

} // namespace

class TestChainPrediction : public QObject {
    Q_OBJECT
private slots:
    void aSlowConsumerShowsAsTheSlopeOfTheLargestSingles() {
        QVERIFY(close(validation::consumeUsPerByte(made(roundFile()), roundHardware()), 0.003));
    }
    void withoutSlopeTheConsumerTakesTheOnChipRate() {
        Json json = roundFile();
        json["single_ops"][1].erase("persistent_us");
        QVERIFY(close(validation::consumeUsPerByte(made(json), roundHardware()), 0.00125));
    }
    /// 2.09 µs for 1000 bytes a worker, which the memory brings in 2: that says nothing of the
    /// consumer. 2.11 does.
    void aSlopeOfTheMemoryIsNotTheConsumers() {
        Json json = roundFile();
        json["single_ops"][1]["persistent_us"] = 15.09;
        QVERIFY(close(validation::consumeUsPerByte(made(json), roundHardware()), 0.00125));
        json["single_ops"][1]["persistent_us"] = 15.11;
        QVERIFY(close(validation::consumeUsPerByte(made(json), roundHardware()), 0.00211));
    }
    void workersOfOneSmShareItsOnChipRate() {
        Json json = roundFile();
        json["single_ops"][1].erase("persistent_us");
        json["kernel"]["workers"] = 4;
        QVERIFY(close(validation::consumeUsPerByte(made(json), roundHardware()), 0.0025));
    }
    /// Gap, prologue and drain 8; ramp 5; both loads share the memory: 2, dependent read meanwhile;
    /// compute 3.
    void oneWaveByHand() {
        const auto file = made(roundFile());
        auto predictor = validation::ChainPredictor::make(file, {roundHardware(), {}, {}});
        QVERIFY(predictor.has_value());
        const validation::Product op{2, 500};
        const auto us = predictor->launchUs(std::span(&op, 1));
        QVERIFY(us.has_value());
        QVERIFY2(close(*us, 18), qPrintable(QString::number(*us, 'g', 12)));
    }
    /// The second tile is loaded while the first computes: 3 µs more.
    void twoWavesByHand() {
        const auto file = made(roundFile());
        auto predictor = validation::ChainPredictor::make(file, {roundHardware(), {}, {}});
        QVERIFY(predictor.has_value());
        const validation::Product op{4, 500};
        const auto us = predictor->launchUs(std::span(&op, 1));
        QVERIFY(us.has_value());
        QVERIFY2(close(*us, 21), qPrintable(QString::number(*us, 'g', 12)));
    }
    /// Each region is a launch of its own with its memset node and that node's gap: 3 µs each.
    void cutEverywhereIsTheSumOfItsLaunches() {
        const auto file = made(roundFile());
        auto predictor = validation::ChainPredictor::make(file, {roundHardware(), {}, {}});
        QVERIFY(predictor.has_value());
        const auto us = predictor->chainUs(file.chains[0], file.chains[0].cases[0].starts);
        QVERIFY(us.has_value());
        QVERIFY(close(*us, 3 + 18 + 3 + 21));
    }
    /// The first op's tiles end at 10 as alone. That makes room for the third load, behind which
    /// the signal waits: ramp 5 and 2. Then the event 0.5, dependent read 0.25 and two tiles of 3.
    /// One memset node 3; gap, prologue and drain 8.
    void opsOfDifferentSizesShareARegion() {
        const auto file = made(roundFile());
        auto predictor = validation::ChainPredictor::make(file, {roundHardware(), {}, {}});
        QVERIFY(predictor.has_value());
        const auto us = predictor->chainUs(file.chains[0], {0});
        QVERIFY(us.has_value());
        QVERIFY2(close(*us, 3 + 8 + 10 + 7 + 0.5 + 0.25 + 6),
                 qPrintable(QString::number(*us, 'g', 12)));
    }
    /// 14 + 20 without one of two gaps, with one memset node (1 + 2): 36. Cut everywhere: 34 + 6.
    void launchGapSubtractionByHand() {
        const auto file = made(roundFile());
        QVERIFY(close(validation::launchGapSubtractionUs(file, file.chains[0], 1, roundHardware()),
                      36));
        QVERIFY(close(validation::launchGapSubtractionUs(file, file.chains[0], 2, roundHardware()),
                      40));
    }
    void rooflineByHand() { // 6 rows x 500 x 2 bytes at 1000 bytes a µs
        const auto file = made(roundFile());
        QVERIFY(close(validation::rooflineUs(file, file.chains[0], roundHardware()), 6));
    }
    /// Predicted 45 and 34.75 against 50 and 40; gap subtraction 40 and 36; roofline 6 and 6.
    void summariesByHand() {
        const auto file = made(roundFile());
        Progress progress;
        const auto result = validation::validate(file, {roundHardware(), {}, {}}, progress);
        QVERIFY(result.has_value());
        QCOMPARE(result->cases.size(), std::size_t{2});
        QVERIFY(close(result->engine.mean_abs, (5.0 / 50 + 5.25 / 40) / 2));
        QVERIFY(close(result->engine.worst_abs, 5.25 / 40));
        QCOMPARE(validation::worstCase(*result), std::size_t{1});
        QVERIFY(close(result->launch_gap.worst_abs, 1 - 40.0 / 50));
        QVERIFY(close(result->roofline.worst_abs, 1 - 6.0 / 50));
        QVERIFY(result->order_right && result->wrong_pairs.empty());
        QCOMPARE(result->singles.size(), std::size_t{2});
        QCOMPARE(result->singles[0].measured_us, 13.0);
    }
    void aWrongOrderIsFound() {
        Json json = roundFile();
        json["chains"][0]["cases"] =
            Json::parse(R"([{"kind": "regions_of", "region_ops": 1, "measured_us": 20},
                            {"kind": "regions_of", "region_ops": 2, "measured_us": 25}])");
        Progress progress;
        const auto result = validation::validate(made(json), {roundHardware(), {}, {}}, progress);
        QVERIFY(result.has_value());
        QVERIFY(!result->order_right);
        QCOMPARE(result->wrong_pairs.size(), std::size_t{1});
        QCOMPARE(result->wrong_pairs[0].faster, std::size_t{0});
        QVERIFY(close(result->wrong_pairs[0].measured_difference, 0.25));
    }
    void measuredTimesDoNotMoveThePrediction() {
        Json json = roundFile();
        Progress progress;
        const auto before = validation::validate(made(json), {roundHardware(), {}, {}}, progress);
        json["chains"][0]["cases"][0]["measured_us"] = 1000;
        json["chains"][0]["cases"][1]["measured_us"] = 1;
        const auto after = validation::validate(made(json), {roundHardware(), {}, {}}, progress);
        QVERIFY(before.has_value() && after.has_value());
        for (std::size_t i = 0; i < 2; ++i) {
            QCOMPARE(before->cases[i].predicted_us, after->cases[i].predicted_us);
        }
    }
    void effectsThatAreOffCostNothing() {
        const auto file = made(roundFile());
        Progress progress;
        const auto rows = validation::ablate(file, roundHardware(), progress);
        QVERIFY(rows.has_value());
        QVERIFY(rows->front().mean_shift == 0);
        const auto shiftOf = [&](const std::string& effect) {
            for (const auto& row : *rows) {
                if (row.effect.starts_with(effect)) {
                    return row.mean_shift;
                }
            }
            return 1.0;
        };
        // By hand, of the two cases of 45 and 34.75 µs.
        QVERIFY(close(shiftOf("memset"), -(4 / 45.0 + 2 / 34.75) / 2));
        QVERIFY(close(shiftOf("launch gap"), -(4 / 45.0 + 2 / 34.75) / 2));
        QVERIFY(close(shiftOf("prologue"), -(6 / 45.0 + 3 / 34.75) / 2));
        QVERIFY(close(shiftOf("drain"), -(8 / 45.0 + 4 / 34.75) / 2));
        QVERIFY(close(shiftOf("event, one way"), -(0.5 / 34.75) / 2));
        QVERIFY(close(shiftOf("ramp"), -(10 / 45.0 + 10 / 34.75) / 2));
        // The last tile waits for the third load, until 17, and ends at 20 instead of 23.75.
        QVERIFY(close(shiftOf("signals behind loads"), -(3.75 / 34.75) / 2));
        QVERIFY(std::abs(shiftOf("partial waves")) < kClose); // the sizes are whole waves
        QVERIFY(std::abs(shiftOf("dispatch")) < kClose);      // it was zero
    }
    void aTimingBelowBytesOverBandwidthIsRefused() {
        Json json = roundFile();
        json["single_ops"][1]["conventional_us"] = 3.9; // 4000 bytes take 4 µs
        Progress progress;
        const auto result = validation::validate(made(json), {roundHardware(), {}, {}}, progress);
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().what.find("4 x 500, conventional_us") != std::string::npos,
                 result.error().what.c_str());
    }
    void moreWorkersThanFitAreRefused() {
        Json json = roundFile();
        json["kernel"]["workers"] = 2000;
        Progress progress;
        const auto result = validation::validate(made(json), {roundHardware(), {}, {}}, progress);
        QVERIFY(!result.has_value());
        QVERIFY(result.error().what.find("2000 workers") != std::string::npos);
    }
    void aTileLargerThanTheRingNamesChainAndOp() {
        Json json = roundFile();
        json["kernel"]["stage_bytes"] = 400;
        Progress progress;
        const auto result = validation::validate(made(json), {roundHardware(), {}, {}}, progress);
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().what.find("two sizes") != std::string::npos &&
                     result.error().what.find("2 x 500") != std::string::npos,
                 result.error().what.c_str());
    }

    void theFloorCountsLoops() { // (2 x 100 + 3 x 50) bytes, 10 times, at 1000 bytes a µs
        sim::RegionGraph graph;
        graph.ops = {{.label = "a", .tiles = 2, .load_bytes = 100},
                     {.label = "b", .tiles = 3, .load_bytes = 20, .dependent_bytes = 30}};
        graph.loops = {{0, 2, 10}};
        QVERIFY(close(sim::bandwidthFloorUs(graph, 1), 3.5));
        QVERIFY(sim::checkBandwidthFloor(graph, 3.5, 1).has_value());
        const auto refused = sim::checkBandwidthFloor(graph, 3.4, 1);
        QVERIFY(!refused.has_value());
        QVERIFY2(refused.error().what.find("\"a\"") != std::string::npos,
                 refused.error().what.c_str());
    }
};

QTEST_APPLESS_MAIN(TestChainPrediction)
#include "tst_chain_prediction.moc"

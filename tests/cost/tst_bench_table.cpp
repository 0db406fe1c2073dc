// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/bench_table.h"

#include "shared_data.h"

#include <cmath>
#include <functional>

using namespace kerf;
using workload::OpRole;

namespace {

constexpr const char* kKey = "decode/layer/product.1";

cost::Hardware hardware() {
    return cost::shippedHardware("NVIDIA H200").value();
}

/// 128 tiles of 32 KB, 1 µs ± 0.1 each.
cost::BenchEntry entry(int batch, int index = 0) {
    cost::BenchEntry made;
    made.key = kKey;
    made.role = OpRole::Product;
    made.batch = batch;
    made.footprint = {256, 128, 196'608};
    made.tiles = 128;
    made.load_bytes = 32768;
    made.compute_us = 1;
    made.spread_us = 0.1;
    made.place = "/x/b.json, ops[" + std::to_string(index) + "]";
    return made;
}

cost::BenchFile file(std::vector<cost::BenchEntry> ops) {
    return {"/x/b.json", "toy", "NVIDIA H200", "580", "2026-12-01", "by hand", std::move(ops)};
}

Expected<cost::BenchTable> tableOf(const std::vector<cost::BenchFile>& files) {
    return cost::benchTable(files, "toy", hardware());
}

cost::BenchCost costAt(const cost::BenchTable& table, int batch) {
    return cost::benchCost(table, kKey, OpRole::Product, batch).value().value();
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

} // namespace

class TestBenchTable : public QObject {
    Q_OBJECT
private slots:
    void aBenchmarkedBatchIsTakenAsItIs() {
        auto one = entry(8);
        one.dependent_bytes = 64;
        one.worker_dependent_bytes = 4096;
        one.signal_us = 0.25;
        const auto cost = costAt(tableOf({file({one})}).value(), 8);
        QCOMPARE(cost.tile.tiles, 128U);
        QCOMPARE(cost.tile.load_bytes, 32768.0);
        QCOMPARE(cost.tile.dependent_bytes, 64.0);
        QCOMPARE(cost.tile.worker_dependent_bytes, 4096.0);
        QCOMPARE(cost.tile.compute_us, 1.25); // the consumer also signals
        QVERIFY((cost.footprint == cost::Footprint{256, 128, 196'608}));
        QCOMPARE(cost.relative_error, 0.1);
        QCOMPARE(cost.extrapolated_from, 0);
        QCOMPARE(cost.source, std::string("benchmarked: b.json, ops[0] (NVIDIA H200, driver 580, "
                                          "2026-12-01: by hand)"));
    }
    void aSpreadOfNothingStillLeavesAnError() {
        auto one = entry(8);
        one.spread_us = 0;
        QCOMPARE(costAt(tableOf({file({one})}).value(), 8).relative_error, 0.02);
    }
    void sumsOverTilesAreLinearInTheBatch() {
        // Batch 2: 100 tiles of 30 KB and 1 µs; batch 10: 51 of 60 KB and 4 µs. At batch 4, a
        // quarter of the way: 87.75 tiles, so 88; 3000 + (3060 − 3000)/4 = 3015 KB;
        // 100 + (204 − 100)/4 = 126 µs.
        auto low = entry(2, 0);
        low.tiles = 100;
        low.load_bytes = 30'000;
        low.dependent_bytes = 10;
        low.worker_dependent_bytes = 1000;
        auto high = entry(10, 1);
        high.tiles = 51;
        high.load_bytes = 60'000;
        high.dependent_bytes = 100;
        high.worker_dependent_bytes = 5000;
        high.compute_us = 4;
        high.spread_us = 1.2; // 0.3 of it
        high.footprint = {128, 255, 210'000};
        const auto cost = costAt(tableOf({file({high, low})}).value(), 4);
        QCOMPARE(cost.tile.tiles, 88U);
        QVERIFY(near(cost.tile.load_bytes, 3'015'000.0 / 88));
        QVERIFY(near(cost.tile.compute_us, 126.0 / 88));
        QVERIFY(near(cost.tile.dependent_bytes, (1000 + (5100 - 1000) / 4.0) / 88));
        QVERIFY(near(cost.tile.worker_dependent_bytes, 2000));
        QVERIFY(near(cost.relative_error, 0.1 + (0.3 - 0.1) / 4));
        // 256 × 128 registers = 32 768 over 256 threads; 128 × 255 = 32 640 are fewer.
        QVERIFY((cost.footprint == cost::Footprint{256, 128, 210'000}));
        QVERIFY(cost.source.find("interpolated between batch 2 and 10") != std::string::npos);
        QVERIFY(cost.source.find("ops[0]") != std::string::npos);
        QVERIFY(cost.source.find("ops[1]") != std::string::npos);
        QCOMPARE(cost.extrapolated_from, 0);
    }
    void onlyTheTwoNeighboursCount() {
        auto far = entry(1, 2);
        far.compute_us = 100;
        auto high = entry(10, 1);
        high.compute_us = 3;
        const auto cost = costAt(tableOf({file({far, entry(6), high})}).value(), 8);
        QVERIFY(near(cost.tile.compute_us, 2)); // halfway between 1 and 3
    }
    void beyondTheRangeTheNearestHoldsWithAWiderError_data() {
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("from");
        QTest::addColumn<double>("error"); // 0.1 and 0.25 a doubling
        QTest::newRow("three doublings up") << 64 << 8 << 0.85;
        QTest::newRow("one doubling up") << 16 << 8 << 0.35;
        QTest::newRow("two doublings down") << 1 << 4 << 0.6;
    }
    void beyondTheRangeTheNearestHoldsWithAWiderError() {
        QFETCH(const int, batch);
        QFETCH(const int, from);
        QFETCH(const double, error);
        auto high = entry(8, 1);
        high.compute_us = 2;
        high.spread_us = 0.2;
        const auto cost = costAt(tableOf({file({entry(4), high})}).value(), batch);
        QCOMPARE(cost.extrapolated_from, from);
        QVERIFY(near(cost.relative_error, error));
        QCOMPARE(cost.tile.compute_us, from == 4 ? 1.0 : 2.0);
        QVERIFY(cost.source.find("extrapolated from batch " + std::to_string(from) + " to " +
                                 std::to_string(batch)) != std::string::npos);
    }

    void aKeyBeatsARole() {
        auto byKey = entry(1);
        byKey.key = "decode/ops/sample.1";
        byKey.role = OpRole::Sample;
        auto byRole = byKey;
        byRole.key.clear();
        byRole.compute_us = 9;
        const auto table = tableOf({file({byRole, byKey})});
        QVERIFY(table.has_value());
        const auto at = [&](const char* key) {
            return cost::benchCost(*table, key, OpRole::Sample, 1).value().value().tile.compute_us;
        };
        QCOMPARE(at("decode/ops/sample.1"), 1.0);
        QCOMPARE(at("decode/ops/sample.2"), 9.0);
    }
    void withoutAnEntryThereIsNothing() {
        const auto table = tableOf({file({entry(1)})});
        QVERIFY(
            !cost::benchCost(*table, "decode/layer/product.2", OpRole::Product, 1)->has_value());
    }
    void anotherRoleUnderTheKeyIsRefused() {
        const auto table = tableOf({file({entry(1)})});
        const auto cost = cost::benchCost(*table, kKey, OpRole::Attention, 1);
        QVERIFY(!cost.has_value());
        const auto message = toString(cost.error());
        QVERIFY2(message.find("ops[0]") != std::string::npos, message.c_str());
        QVERIFY2(message.find("attention") != std::string::npos, message.c_str());
    }
    void filesOfOtherModelsDoNotCount() {
        auto other = file({entry(1)});
        other.model = "another";
        other.gpu = "NVIDIA B200"; // nor does their GPU
        QVERIFY(tableOf({other}).value().by_key.empty());
    }
    void aFileWithoutModelHoldsForAll() {
        auto byRole = entry(1);
        byRole.key.clear();
        byRole.role = OpRole::Sample;
        auto any = file({byRole});
        any.model.clear();
        QCOMPARE(tableOf({any}).value().by_role.size(), std::size_t{1});
    }

    void ofSeveralFootprintsTheFastestAloneIsKept_data() {
        QTest::addColumn<double>("compute"); // of the variant with 2 workers an SM
        QTest::addColumn<int>("shared");     // of the one kept
        // 264 tiles: 2 waves × 1 µs on 132 workers against 1 wave on 264.
        QTest::newRow("two workers an SM win") << 1.9 << 98'304;
        QTest::newRow("one worker an SM wins") << 2.1 << 196'608;
        QTest::newRow("a tie goes to less shared memory") << 2.0 << 98'304;
    }
    void ofSeveralFootprintsTheFastestAloneIsKept() {
        QFETCH(const double, compute);
        QFETCH(const int, shared);
        auto large = entry(1, 0);
        large.tiles = 264;
        auto small = entry(1, 1);
        small.tiles = 264;
        small.footprint = {256, 64, 98'304};
        small.compute_us = compute;
        for (const auto& ops : {std::vector{large, small}, std::vector{small, large}}) {
            const auto cost = costAt(tableOf({file(ops)}).value(), 1);
            QCOMPARE(cost.footprint.shared_bytes, shared);
        }
    }

    void contradictionsNameBoth_data() {
        using Change = std::function<void(cost::BenchEntry&)>;
        QTest::addColumn<Change>("change");
        QTest::addColumn<bool>("both");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, Change change, bool both, const char* says) {
            QTest::newRow(name) << change << both << QString(says);
        };
        // clang-format off
        row("twice the same", [](cost::BenchEntry&) {}, true, "the same op, batch 1");
        row("other helpers", [](cost::BenchEntry& e) { e.batch = 2; e.fused.emplace(); }, true,
            "\"fused\" differ");
        row("other role", [](cost::BenchEntry& e) { e.batch = 2; e.role = OpRole::Sample; }, true,
            "\"role\"");
        row("too much shared memory",
            [](cost::BenchEntry& e) { e.footprint.shared_bytes = 300'000; }, false, "300000 bytes");
        row("too many registers", [](cost::BenchEntry& e) { e.footprint = {1024, 255, 0}; }, false,
            "255 registers");
        row("a tile larger than the ring", [](cost::BenchEntry& e) { e.load_bytes = 240'000; },
            false, "240000 bytes");
        // clang-format on
    }
    void contradictionsNameBoth() {
        QFETCH(const std::function<void(cost::BenchEntry&)>, change);
        QFETCH(const bool, both);
        QFETCH(const QString, says);
        auto second = entry(1, 1);
        change(second);
        const auto table = tableOf({file({entry(1), second})});
        QVERIFY(!table.has_value());
        const auto message = toString(table.error());
        QVERIFY2(message.find("ops[1]") != std::string::npos, message.c_str());
        QVERIFY2(!both || message.find("ops[0]") != std::string::npos, message.c_str());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }
    void theSameOpInTwoFilesIsRefused() {
        auto other = file({entry(1, 7)});
        other.ops[0].place = "/y/c.json, ops[7]";
        const auto table = tableOf({file({entry(1)}), other});
        QVERIFY(!table.has_value());
        const auto message = toString(table.error());
        QVERIFY2(message.find("b.json, ops[0]") != std::string::npos, message.c_str());
        QVERIFY2(message.find("c.json, ops[7]") != std::string::npos, message.c_str());
    }
    void anotherGpuIsRefused() {
        auto other = file({entry(1)});
        other.gpu = "NVIDIA B200";
        const auto table = tableOf({other});
        QVERIFY(!table.has_value());
        const auto message = toString(table.error());
        QVERIFY2(message.find("NVIDIA B200") != std::string::npos, message.c_str());
        QVERIFY2(message.find("NVIDIA H200") != std::string::npos, message.c_str());
    }
    void keysWithoutAnOpAreListed() {
        const auto table = tableOf({file({entry(1)})});
        QCOMPARE(cost::unusedKeys(*table, {kKey, "other"}).size(), std::size_t{0});
        const auto unused = cost::unusedKeys(*table, {"other"});
        QCOMPARE(unused.size(), std::size_t{1});
        QVERIFY(unused[0].find(kKey) != std::string::npos);
        QVERIFY(unused[0].find("ops[0]") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestBenchTable)
#include "tst_bench_table.moc"

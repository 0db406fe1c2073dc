// SPDX-License-Identifier: GPL-3.0-or-later
// The engine against a slow one written from the definitions.
#include "core/sim/engine.h"
#include "random_regions.h"
#include "reference_engine.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <tuple>

using namespace kerf;

namespace {

constexpr std::uint32_t kRegions = 1000; ///< each with memory in order and not

std::vector<sim::TileRecord> inProgramOrder(std::vector<sim::TileRecord> records,
                                            const std::vector<test::ReferenceTile>& reference) {
    std::vector<sim::TileRecord> sorted;
    const auto key = [](const auto& t) { return std::tuple(t.op, t.iteration, t.tile); };
    std::sort(records.begin(), records.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    for (const auto& tile : reference) {
        const auto at =
            std::lower_bound(records.begin(), records.end(), tile,
                             [&](const auto& a, const auto& b) { return key(a) < key(b); });
        if (at != records.end() && key(*at) == key(tile)) {
            sorted.push_back(*at);
        }
    }
    return sorted;
}

} // namespace

class TestEngineReference : public QObject {
    Q_OBJECT
private slots:
    void everyTileAgrees() {
        std::size_t tiles = 0;
        for (std::uint32_t run = 0; run < 2 * kRegions; ++run) {
            const std::uint32_t seed = run / 2 + 1;
            auto [graph, machine] = test::randomRegion(seed);
            machine.in_order_memory = run % 2 == 1;
            const auto expected = test::referenceSimulate(graph, machine);
            const auto result =
                sim::simulate(graph, machine, {.record_tiles = true, .skip_periods = false});
            QVERIFY2(result.has_value(), qPrintable(QString("seed %1").arg(seed)));
            QVERIFY2(std::abs(result->makespan_us - expected.makespan_us) <=
                         1e-6 * expected.makespan_us + 1e-9,
                     qPrintable(QString("seed %1: makespan %2, reference %3")
                                    .arg(seed)
                                    .arg(result->makespan_us, 0, 'g', 12)
                                    .arg(expected.makespan_us, 0, 'g', 12)));
            if (machine.policy == sim::Policy::DynamicQueue) {
                continue; // which of two workers that ask at the same instant gets a tile is free
            }
            const auto records = inProgramOrder(result->records, expected.tiles);
            QCOMPARE(records.size(), expected.tiles.size());
            for (std::size_t i = 0; i < records.size(); ++i) {
                const auto& got = records[i];
                const auto& want = expected.tiles[i];
                // Records are floats: seven digits.
                const double tolerance = 1e-6 * expected.makespan_us + 1e-6;
                const bool same = static_cast<int>(got.worker) == want.worker &&
                                  std::abs(got.start_us - want.start_us) < tolerance &&
                                  std::abs(got.end_us - want.end_us) < tolerance &&
                                  std::abs(got.load_start_us - want.load_start_us) < tolerance &&
                                  std::abs(got.load_end_us - want.load_end_us) < tolerance;
                QVERIFY2(same,
                         qPrintable(QString("seed %1: op %2 iteration %3 tile %4: worker %5/%6, "
                                            "start %7/%8, end %9/%10")
                                        .arg(seed)
                                        .arg(got.op)
                                        .arg(got.iteration)
                                        .arg(got.tile)
                                        .arg(got.worker)
                                        .arg(want.worker)
                                        .arg(got.start_us)
                                        .arg(want.start_us)
                                        .arg(got.end_us)
                                        .arg(want.end_us)));
                ++tiles;
            }
        }
        qInfo("%u regions, %zu tiles", kRegions, tiles);
    }
};

QTEST_APPLESS_MAIN(TestEngineReference)
#include "tst_engine_reference.moc"

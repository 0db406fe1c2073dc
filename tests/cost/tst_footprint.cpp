// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/footprint.h"

#include <QTest>

using kerf::cost::Footprint;

Q_DECLARE_METATYPE(Footprint)

class TestFootprint : public QObject {
    Q_OBJECT
private slots:
    void blocksFollowTheOccupancyRules_data() {
        // Worked by hand from the rules for compute capability 9.0: 64 warps and 32 blocks an SM,
        // 16,384 registers a scheduler given to warps in units of 256, shared memory with 1 KB
        // reserved a block in units of 128 B out of 228 KB.
        QTest::addColumn<Footprint>("footprint");
        QTest::addColumn<int>("expected");
        QTest::newRow("registers") << Footprint{256, 64, 0} << 4;
        QTest::newRow("registers are rounded up a warp") << Footprint{256, 33, 0} << 6;
        QTest::newRow("warps") << Footprint{1024, 32, 0} << 2;
        QTest::newRow("too many registers for one block") << Footprint{1024, 65, 0} << 0;
        QTest::newRow("shared memory") << Footprint{256, 64, 120'000} << 1;
        QTest::newRow("shared memory with its reserve") << Footprint{256, 32, 49'152} << 4;
        QTest::newRow("blocks") << Footprint{32, 16, 0} << 32;
        QTest::newRow("largest shared memory") << Footprint{288, 64, 232'448} << 1;
        QTest::newRow("too much shared memory") << Footprint{288, 64, 232'449} << 0;
        QTest::newRow("a broken warp counts whole") << Footprint{33, 32, 0} << 32;
        QTest::newRow("registers a scheduler") << Footprint{96, 168, 0} << 4;
        QTest::newRow("too many threads") << Footprint{1025, 16, 0} << 0;
        QTest::newRow("no threads") << Footprint{0, 16, 0} << 0;
    }
    void blocksFollowTheOccupancyRules() {
        QFETCH(Footprint, footprint);
        QFETCH(int, expected);
        const auto h200 = kerf::cost::shippedHardware("NVIDIA H200");
        QVERIFY(h200.has_value());
        QCOMPARE(kerf::cost::blocksPerSm(footprint, *h200), expected);
    }
    void maximumHoldsBoth() {
        QCOMPARE(maximum(Footprint{128, 90, 10}, Footprint{256, 40, 7}), (Footprint{256, 90, 10}));
    }
};

QTEST_APPLESS_MAIN(TestFootprint)
#include "tst_footprint.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/machine.h"

#include <QTest>

using namespace kerf;

class TestMachine : public QObject {
    Q_OBJECT
    static cost::Hardware h200() { return cost::shippedHardware("NVIDIA H200").value(); }
private slots:
    void oneBlockAnSmGetsTheWholeSharedMemory() {
        const auto machine =
            cost::machineFor(h200(), {.threads = 288, .registers = 64, .shared_bytes = 200'000});
        QVERIFY(machine.has_value());
        QCOMPARE(machine->workers, 132);
        QCOMPARE(machine->ring_bytes, 232'448.0); // 228 KB less the reserved 1 KB
        QCOMPARE(machine->worker_gbps, h200().bulk_gbps_per_sm.value);
    }
    void twoBlocksAnSmShareIt() {
        const auto machine =
            cost::machineFor(h200(), {.threads = 1024, .registers = 32, .shared_bytes = 0});
        QVERIFY(machine.has_value());
        QCOMPARE(machine->workers, 264);
        QCOMPARE(machine->ring_bytes, 115'712.0);
        QCOMPARE(machine->worker_gbps, h200().bulk_gbps_per_sm.value / 2);
    }
    void anEventAtFullFanInCostsABarrier() {
        const auto machine =
            cost::machineFor(h200(), {.threads = 288, .registers = 64, .shared_bytes = 200'000});
        QVERIFY(machine.has_value());
        QCOMPARE(machine->event_one_way_us + machine->event_fan_in_us,
                 cost::interpolate(h200().barrier_us_by_workers, 132));
    }
    void memoryOfAWorkerIsInOrder() {
        const auto machine =
            cost::machineFor(h200(), {.threads = 288, .registers = 64, .shared_bytes = 200'000});
        QVERIFY(machine.has_value());
        QVERIFY(machine->in_order_memory);
    }
    void aBoundaryIsAGraphNodeSetUpAndDrain() {
        auto hardware = h200();
        hardware.launch_gap_us.value = 1;
        hardware.prologue_us.value = 2;
        hardware.drain_us.value = 4;
        QCOMPARE(cost::boundaryUs(hardware), 7.0);
    }
    void aFootprintThatDoesNotFitIsRefused() {
        const auto machine =
            cost::machineFor(h200(), {.threads = 1024, .registers = 128, .shared_bytes = 0});
        QVERIFY(!machine.has_value());
        QVERIFY(machine.error().what.find("1024 threads, 128 registers") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestMachine)
#include "tst_machine.moc"

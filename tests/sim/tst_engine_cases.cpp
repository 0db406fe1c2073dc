// SPDX-License-Identifier: GPL-3.0-or-later
// Regions small enough to work out by hand.
#include "core/sim/engine.h"

#include <QTest>
#include <cmath>

using namespace kerf::sim;

namespace {

/// 10,000 bytes/µs a worker, 20,000 together; other costs are zero unless a test sets them.
Machine machineOf(int workers) {
    Machine machine;
    machine.workers = workers;
    machine.ring_bytes = 1e6;
    machine.worker_gbps = 10;
    machine.memory_gbps = 20;
    machine.l2_gbps_per_worker = 5;
    return machine;
}

TileOp computeOp(std::uint32_t tiles, double compute_us) {
    return {.label = "compute", .tiles = tiles, .compute_us = compute_us};
}

TileOp loadOp(std::uint32_t tiles, double load_bytes, double compute_us) {
    return {.label = "load", .tiles = tiles, .load_bytes = load_bytes, .compute_us = compute_us};
}

RegionResult run(const RegionGraph& graph, const Machine& machine) {
    const auto result = simulate(graph, machine, {.record_tiles = true, .skip_periods = false});
    return result.value();
}

double blameOf(const RegionResult& result, Bound bound) {
    return result.blame[static_cast<std::size_t>(bound)];
}

TileRecord tileOf(const RegionResult& result, OpIndex op, std::uint32_t tile) {
    for (const TileRecord& record : result.records) {
        if (record.op == op && record.tile == tile) {
            return record;
        }
    }
    return {};
}

#define COMPARE_US(actual, expected)                                                               \
    QVERIFY2(std::abs((actual) - (expected)) < 1e-9,                                               \
             qPrintable(QString("%1, expected %2").arg(actual, 0, 'g', 12).arg(expected)))

} // namespace

class TestEngineCases : public QObject {
    Q_OBJECT
private slots:
    void oneTileLoadsThenComputes() {
        Machine machine = machineOf(1);
        machine.ramp_us = 1;
        machine.dispatch_us = 0.25;
        const auto result = run({.ops = {loadOp(1, 1e4, 3)}}, machine);
        COMPARE_US(result.makespan_us, 1 + 1 + 0.25 + 3); // ramp, load, dispatch, compute
        COMPARE_US(blameOf(result, Bound::Prologue), 1.0);
        COMPARE_US(blameOf(result, Bound::Bandwidth), 1.0);
        COMPARE_US(blameOf(result, Bound::Compute), 3.25);
    }
    void activationsCostLatencyAndL2() {
        Machine machine = machineOf(1);
        machine.dependent_latency_us = 0.75;
        TileOp op = computeOp(2, 1);
        op.worker_dependent_bytes = 5e3;
        // Once for the worker, not once a tile: 0.75 + 1 + 2 × 1.
        COMPARE_US(run({.ops = {op}}, machine).makespan_us, 3.75);
    }
    void activationsAreReadWhileTheTileComes() {
        Machine machine = machineOf(1);
        machine.ramp_us = 1;
        machine.dispatch_us = 0.25;
        machine.dependent_latency_us = 0.5;
        TileOp op = loadOp(2, 1e4, 3);
        op.worker_dependent_bytes = 5e3; // 1 µs
        // Read until 1.5, data until 2.
        COMPARE_US(run({.ops = {op}}, machine).makespan_us, 2 + 2 * 3.25);
        machine.dependent_latency_us = 1.25;
        const auto result = run({.ops = {op}}, machine);
        COMPARE_US(result.makespan_us, 2.25 + 2 * 3.25);
        COMPARE_US(blameOf(result, Bound::Prologue), 1.0);
        COMPARE_US(blameOf(result, Bound::Bandwidth), 1.0);
        COMPARE_US(blameOf(result, Bound::Event), 0.25); // the read, beyond the data
        COMPARE_US(blameOf(result, Bound::Compute), 6.5);
    }
    void dependentBytesComeThroughTheMemory() {
        Machine machine = machineOf(2);
        machine.memory_gbps = 10;
        TileOp op = computeOp(2, 1);
        op.dependent_bytes = 1e4;
        // Two consumers share 10,000 bytes/µs: 2 µs, then 1 µs of compute.
        COMPARE_US(run({.ops = {op}}, machine).makespan_us, 3.0);
    }
    void twoWorkersShareTheMemory() {
        Machine machine = machineOf(2);
        machine.memory_gbps = 10;
        machine.ramp_us = 1;
        const auto result = run({.ops = {loadOp(3, 2e4, 3)}}, machine);
        // Tiles 0 and 1 load side by side from 1 to 5, tile 2 alone from 5 to 7.
        COMPARE_US(double(result.records[0].load_end_us), 5.0);
        COMPARE_US(double(result.records[1].load_end_us), 5.0);
        COMPARE_US(double(result.records[2].load_end_us), 7.0);
        COMPARE_US(result.makespan_us, 5.0 + 3 + 3);
    }
    void aLoneWorkerIsCapped() {
        // 20,000 bytes at its own 10,000 bytes/µs although the memory could give 20,000.
        COMPARE_US(run({.ops = {loadOp(1, 2e4, 0)}}, machineOf(1)).makespan_us, 2.0);
    }
    void lookAheadHidesALoadBehindAWait() {
        Machine machine = machineOf(1);
        machine.ramp_us = 1;
        machine.event_one_way_us = 0.5;
        const RegionGraph graph{.ops = {computeOp(1, 10), loadOp(1, 4e4, 1)}};
        COMPARE_US(run(graph, machine).makespan_us, 11.5); // 10 + event + 1
        machine.look_ahead = false;
        COMPARE_US(run(graph, machine).makespan_us, 16.0); // 10 + ramp + 4 + 1
    }
    void aSmallRingSerialisesLoadAndCompute() {
        Machine machine = machineOf(1);
        machine.ramp_us = 1;
        machine.ring_bytes = 1e4;
        const RegionGraph graph{.ops = {loadOp(3, 1e4, 2)}};
        COMPARE_US(run(graph, machine).makespan_us, 12.0); // 3 × (ramp + 1 + 2)
        machine.ring_bytes = 2e4;
        // Load 0 until 2, load 1 until 3, load 2 starts when tile 0 leaves at 4 and pays the ramp.
        COMPARE_US(run(graph, machine).makespan_us, 8.0);
    }
    void theLatencyOfALoadRunsFromWhenItHasRoom() {
        // Tiles of half a µs, ring of two: a tile leaves when its data is there, the next one's
        // data is there a ramp of 1 and half a µs later, or behind the load before it.
        Machine machine = machineOf(1);
        machine.ramp_us = 1;
        machine.ring_bytes = 1e4;
        const auto result = run({.ops = {loadOp(5, 5e3, 0)}}, machine);
        const double ends_us[] = {1.5, 2.0, 3.0, 3.5, 4.5};
        for (int tile = 0; tile < 5; ++tile) {
            COMPARE_US(double(tileOf(result, 0, tile).load_end_us), ends_us[tile]);
        }
    }
    void aSignalQueuesBehindTheLoadsThatHaveRoom() {
        Machine machine = machineOf(1);
        machine.ramp_us = 1;
        machine.event_one_way_us = 0.5;
        machine.ring_bytes = 2e4;
        const RegionGraph graph{.ops = {loadOp(1, 1e4, 2), loadOp(2, 1e4, 2)}};
        // Loads end at 2 and 3; tile 0 runs until 4 and makes room for the third load, until 6.
        COMPARE_US(run(graph, machine).makespan_us, 4 + 0.5 + 2 + 2);
        machine.in_order_memory = true;
        const auto result = run(graph, machine);
        COMPARE_US(double(tileOf(result, 0, 0).end_us), 4.0);
        COMPARE_US(double(tileOf(result, 1, 0).start_us), 6.5);
        COMPARE_US(result.makespan_us, 10.5);
        COMPARE_US(result.ops[0].first_end_us, 4.0);
        COMPARE_US(blameOf(result, Bound::Prologue), 1.0);
        COMPARE_US(blameOf(result, Bound::Bandwidth), 1.0 + 2.0);
        COMPARE_US(blameOf(result, Bound::Event), 0.5);
        COMPARE_US(blameOf(result, Bound::Compute), 6.0);
    }
    void aSignalDoesNotQueueBehindLoadsWithoutRoom() {
        Machine machine = machineOf(1);
        machine.event_one_way_us = 0.5;
        machine.ring_bytes = 1.5e4;
        machine.in_order_memory = true;
        // While tile 0 runs, until 3, there is no room for tile 1; tile 1's load takes until 4.
        const RegionGraph graph{.ops = {loadOp(1, 1e4, 2), computeOp(1, 1), loadOp(1, 1e4, 1)}};
        const auto result = run(graph, machine);
        COMPARE_US(double(tileOf(result, 1, 0).start_us), 4.5); // behind the last op's load
        machine.look_ahead_ops = 1; // which now has to wait until the first op is seen to be done
        COMPARE_US(double(tileOf(run(graph, machine), 1, 0).start_us), 3.5);
    }
    void signalsQueueOnlyBehindTheirOwnWorkersLoads() {
        Machine machine = machineOf(2);
        machine.event_one_way_us = 0.5;
        machine.in_order_memory = true;
        // Worker 1 loads nothing, worker 0 loads the second op's only tile until 4.
        RegionGraph graph{.ops = {computeOp(2, 1), loadOp(1, 4e4, 1), computeOp(2, 1)}};
        graph.ops[1].depends_on.clear();
        graph.ops[2].depends_on = {{.distance = 2, .grain = Grain::OneToOne}};
        const auto result = run(graph, machine);
        COMPARE_US(double(tileOf(result, 2, 1).start_us), 1.5);
        COMPARE_US(double(tileOf(result, 2, 0).start_us), 5.0); // its worker runs the load's tile
    }
    void withoutLookAheadNothingIsInFrontOfAnOpsSignal() {
        Machine machine = machineOf(1);
        machine.event_one_way_us = 0.5;
        machine.in_order_memory = true;
        machine.look_ahead = false;
        // Tile 0 ends at 2; the second op's load runs from then to 6, the event is seen at 2.5.
        const RegionGraph graph{.ops = {loadOp(1, 1e4, 1), loadOp(1, 4e4, 1)}};
        COMPARE_US(run(graph, machine).makespan_us, 7.0);
    }
    void grainsReleaseConsumersAsTheySay() {
        Machine machine = machineOf(2);
        machine.event_one_way_us = 0.5;
        machine.event_fan_in_us = 0.3;
        RegionGraph graph{.ops = {computeOp(3, 2), computeOp(3, 1)}};
        // The producers end at 2, 2, 4. All: seen at 4.8, worker 0 runs two tiles.
        COMPARE_US(run(graph, machine).makespan_us, 6.8);
        graph.ops[1].depends_on = {{.distance = 1, .grain = Grain::OneToOne}};
        // Worker 0 goes on at 4 with tile 0 and at 5 with tile 2.
        const auto result = run(graph, machine);
        COMPARE_US(result.makespan_us, 6.0);
        COMPARE_US(double(tileOf(result, 1, 1).start_us), 2.5); // on worker 1
    }
    void alignedGroupsCoverTheSameShare() {
        Machine machine = machineOf(4);
        machine.event_one_way_us = 0.5;
        machine.event_fan_in_us = 0.3;
        RegionGraph graph{.ops = {computeOp(6, 1), computeOp(3, 1)}};
        graph.ops[1].depends_on = {{.distance = 1, .grain = Grain::Aligned}};
        // Tile 2 waits for producers 4 and 5, which end at 2: two signals of four workers cost half
        // of the fan-in.
        const auto result = run(graph, machine);
        COMPARE_US(result.makespan_us, 2 + 0.5 + 0.15 + 1);
    }
    void aBranchSkipsTheOpBetween() {
        Machine machine = machineOf(3);
        RegionGraph graph{.ops = {computeOp(1, 1), computeOp(2, 5), computeOp(3, 1)}};
        graph.ops[2].depends_on = {{.distance = 2}};
        // Worker 2 has no tile of the middle op and goes on at 1.
        const auto result = run(graph, machine);
        COMPARE_US(result.ops[2].first_start_us, 1.0);
        COMPARE_US(result.makespan_us, 7.0);
    }
    void theLaunchSatisfiesWhatLiesBeforeTheRegion() {
        RegionGraph graph{.ops = {computeOp(1, 1)}};
        graph.ops[0].depends_on = {{.distance = 7}};
        COMPARE_US(run(graph, machineOf(1)).makespan_us, 1.0);
    }
    void theLastWaveIsTheTail() {
        const auto result = run({.ops = {computeOp(5, 1)}}, machineOf(2));
        COMPARE_US(result.makespan_us, 3.0);
        COMPARE_US(blameOf(result, Bound::Tail), 1.0);
        COMPARE_US(blameOf(result, Bound::Compute), 2.0);
    }
    void balancedFillsTheEmptierWorker() {
        Machine machine = machineOf(2);
        RegionGraph graph{.ops = {computeOp(3, 2), computeOp(1, 2)}};
        graph.ops[1].depends_on.clear();
        COMPARE_US(run(graph, machine).makespan_us, 6.0); // worker 0 runs 2 + 2 + 2
        machine.policy = Policy::Balanced;
        COMPARE_US(run(graph, machine).makespan_us, 4.0);
    }
    void aDynamicQueueCostsAPopATile() {
        Machine machine = machineOf(1);
        machine.policy = Policy::DynamicQueue;
        machine.queue_pop_us = 0.1;
        machine.dispatch_us = 7; // of static queues only
        COMPARE_US(run({.ops = {computeOp(3, 1)}}, machine).makespan_us, 3.3);
    }
    void loopsRepeatTheirOps() {
        Machine machine = machineOf(1);
        machine.event_one_way_us = 0.5;
        // Outer 3 × (op 0, 4 × op 1): 15 executions of 1 µs, 14 events between them.
        const RegionGraph graph{.ops = {computeOp(1, 1), computeOp(1, 1)},
                                .loops = {{0, 2, 3}, {1, 2, 4}}};
        const auto result = run(graph, machine);
        COMPARE_US(result.makespan_us, 22.0);
        QCOMPARE(result.tiles, std::uint64_t{15});
        QCOMPARE(result.records.back().iteration, 11U); // the twelfth execution of op 1
    }
    void aLongLoopIsNotSimulatedToItsEnd() {
        Machine machine = machineOf(1);
        machine.event_one_way_us = 0.5;
        const RegionGraph graph{.ops = {computeOp(1, 1)}, .loops = {{0, 1, 1'000'000}}};
        const auto result = simulate(graph, machine);
        QVERIFY(result.has_value());
        QVERIFY(std::abs(result->makespan_us - 1'499'999.5) < 1e-3);
        QCOMPARE(result->tiles, std::uint64_t{1'000'000});
        QVERIFY(result->simulated_tiles < 100);
        COMPARE_US(result->ops[0].last_end_us, result->makespan_us);
    }
    void theBoundNamesWhatATileWaitedFor() {
        Machine machine = machineOf(1);
        machine.event_one_way_us = 0.5;
        const RegionGraph graph{.ops = {loadOp(2, 1e4, 0.5), computeOp(2, 1)}};
        const auto result = run(graph, machine);
        QVERIFY(result.records[0].bound == Bound::Prologue);  // the region's first load
        QVERIFY(result.records[1].bound == Bound::Bandwidth); // loaded from 1 to 2, free since 1.5
        QVERIFY(result.records[2].bound == Bound::Event);
        QVERIFY(result.records[3].bound == Bound::Compute);
        for (const TileRecord& record : result.records) {
            QCOMPARE(record.critical, record.op == 1 || record.tile == 1);
        }
    }
    void waitsAreMeasuredPerWorker() {
        Machine machine = machineOf(2);
        // Worker 1 waits from 0 until worker 0's tile is done at 4; worker 0 does not wait.
        const auto result = run({.ops = {computeOp(1, 4), computeOp(2, 1)}}, machine);
        COMPARE_US(result.ops[1].wait_us, 2.0);
    }
    void anEmptyRegionTakesNoTime() { COMPARE_US(run({}, machineOf(4)).makespan_us, 0.0); }
};

QTEST_APPLESS_MAIN(TestEngineCases)
#include "tst_engine_cases.moc"

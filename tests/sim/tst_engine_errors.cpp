// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/engine.h"

#include <QTest>
#include <functional>
#include <limits>

using namespace kerf::sim;

class TestEngineErrors : public QObject {
    Q_OBJECT
    using Change = std::function<void(RegionGraph&, Machine&)>;
private slots:
    void faultsAreNamed_data() {
        QTest::addColumn<Change>("change");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, Change change, const char* expected) {
            QTest::newRow(name) << change << QString(expected);
        };
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const double infinite = std::numeric_limits<double>::infinity();
        row(
            "no workers", [](auto&, auto& m) { m.workers = 0; }, "0 workers");
        row(
            "no memory bandwidth", [](auto&, auto& m) { m.memory_gbps = 0; }, "bandwidth");
        row(
            "no worker bandwidth", [](auto&, auto& m) { m.worker_gbps = -1; }, "bandwidth");
        row(
            "bandwidth not a number", [=](auto&, auto& m) { m.memory_gbps = nan; }, "bandwidth");
        row(
            "no L2 bandwidth", [](auto&, auto& m) { m.l2_gbps_per_worker = 0; }, "op 1 \"second\"");
        row(
            "negative latency", [](auto&, auto& m) { m.event_one_way_us = -1; },
            "event_one_way_us");
        row(
            "infinite ramp", [=](auto&, auto& m) { m.ramp_us = infinite; }, "ramp_us");
        row(
            "tile larger than the ring", [](auto&, auto& m) { m.ring_bytes = 99; },
            "op 0 \"first\": a tile loads 100 bytes, the ring of a worker holds 99");
        row(
            "negative cost", [](auto& g, auto&) { g.ops[1].compute_us = -2; },
            "op 1 \"second\": compute_us is -2");
        row(
            "cost not a number", [=](auto& g, auto&) { g.ops[1].dependent_bytes = nan; },
            "op 1 \"second\": dependent_bytes is nan");
        row(
            "infinite bytes", [=](auto& g, auto&) { g.ops[0].load_bytes = infinite; },
            "op 0 \"first\": load_bytes is inf");
        row(
            "no tiles", [](auto& g, auto&) { g.ops[1].tiles = 0; }, "op 1 \"second\" has no tiles");
        row(
            "waits for itself", [](auto& g, auto&) { g.ops[1].depends_on = {{.distance = 0}}; },
            "op 1 \"second\" waits for itself");
        row(
            "empty loop",
            [](auto& g, auto&) {
                g.loops = {{1, 1, 2}};
            },
            "loop 0 covers ops [1, 1) of 2");
        row(
            "loop past the end",
            [](auto& g, auto&) {
                g.loops = {{0, 3, 2}};
            },
            "loop 0 covers ops [0, 3) of 2");
        row(
            "loop without iterations",
            [](auto& g, auto&) {
                g.loops = {{0, 1, 0}};
            },
            "has no iterations");
        row(
            "loops that cross",
            [](auto& g, auto&) {
                g.ops.push_back(g.ops[0]);
                g.loops = {{0, 2, 2}, {1, 3, 2}};
            },
            "do not nest");
        row(
            "loops out of order",
            [](auto& g, auto&) {
                g.loops = {{0, 1, 2}, {0, 2, 2}};
            },
            "do not nest");
        row(
            "more than can be counted",
            [](auto& g, auto&) {
                g.loops = {{0, 2, 4'000'000'000U}, {1, 2, 4'000'000'000U}};
            },
            "more than can be counted");
    }
    void faultsAreNamed() {
        QFETCH(Change, change);
        QFETCH(QString, expected);
        RegionGraph graph{
            .ops = {
                {.label = "first", .tiles = 2, .load_bytes = 100, .compute_us = 1},
                {.label = "second", .tiles = 2, .worker_dependent_bytes = 10, .compute_us = 1}}};
        Machine machine;
        machine.workers = 2;
        machine.ring_bytes = 200;
        machine.worker_gbps = 1;
        machine.memory_gbps = 1;
        machine.l2_gbps_per_worker = 1;
        QVERIFY(simulate(graph, machine).has_value());
        change(graph, machine);
        const auto result = simulate(graph, machine);
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().what.find(expected.toStdString()) != std::string::npos,
                 result.error().what.c_str());
    }
};

QTEST_APPLESS_MAIN(TestEngineErrors)
#include "tst_engine_errors.moc"

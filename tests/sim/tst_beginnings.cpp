// SPDX-License-Identifier: GPL-3.0-or-later
// Beginnings of a region: what they are, and that sharing a run gives what each alone gives.
#include "core/sim/beginnings.h"
#include "random_regions.h"

#include <QTest>

using namespace kerf;
using sim::Beginning;

namespace {

constexpr std::uint32_t kRegions = 600;

#define VERIFY_SEED(...) QVERIFY2((__VA_ARGS__), qPrintable(QString("seed %1").arg(seed)))

/// a (b (c d)×3)×2 e, each op named by its letter.
sim::RegionGraph nested() {
    sim::RegionGraph graph;
    for (const char* label : {"a", "b", "c", "d", "e"}) {
        graph.ops.push_back({.label = label});
    }
    graph.loops = {{1, 4, 2}, {2, 4, 3}};
    return graph;
}

std::vector<Beginning> allBeginnings(const sim::RegionGraph& graph) {
    std::vector<Beginning> all;
    for (sim::OpIndex ops = 1; ops <= graph.ops.size(); ++ops) {
        const auto ending = std::count_if(graph.loops.begin(), graph.loops.end(),
                                          [&](const auto& loop) { return loop.end == ops; });
        for (std::uint32_t ended = 0; ended <= ending; ++ended) {
            all.push_back({ops, ended});
        }
    }
    return all;
}

} // namespace

class TestBeginnings : public QObject {
    Q_OBJECT
private slots:
    void loopsThatReachBeyondAreInTheirFirstIteration() {
        const auto region = sim::regionOf(nested(), {.ops = 3, .loops_ended = 0}); // a b c
        QCOMPARE(region.ops.size(), std::size_t{3});
        QVERIFY(region.loops.empty());
    }
    void loopsThatEndThereAreWholeAsSaid() {
        const auto graph = nested();
        QVERIFY(sim::regionOf(graph, {4, 0}).loops.empty()); // a b c d
        const auto inner = sim::regionOf(graph, {4, 1});     // a b (c d)×3
        QCOMPARE(inner.loops.size(), std::size_t{1});
        QCOMPARE(inner.loops[0], (sim::Loop{2, 4, 3}));
        QCOMPARE(sim::regionOf(graph, {4, 2}).loops, graph.loops); // a (b (c d)×3)×2
    }
    void loopsBeforeTheEndAreWhole() {
        QCOMPARE(sim::regionOf(nested(), {5, 0}).loops, nested().loops);
    }
    void aBeginningIsFound() {
        const auto graph = nested();
        for (const Beginning& beginning : allBeginnings(graph)) {
            const auto found =
                sim::beginningOf(graph.loops, beginning.ops, sim::regionOf(graph, beginning).loops);
            QVERIFY(found.has_value());
            QCOMPARE(found->ops, beginning.ops);
            QCOMPARE(found->loops_ended, beginning.loops_ended);
        }
    }
    void whatIsNoBeginningIsNotFound() {
        const auto loops = nested().loops;
        QVERIFY(!sim::beginningOf(loops, 5, {}));                     // loops left out
        QVERIFY(!sim::beginningOf(loops, 5, {loops[1]}));             // the outer one left out
        QVERIFY(!sim::beginningOf(loops, 4, {{1, 4, 2}, {2, 4, 2}})); // fewer iterations
        QVERIFY(!sim::beginningOf(loops, 4, {{1, 4, 2}}));            // the inner one left out
        QVERIFY(!sim::beginningOf(loops, 2, {{0, 2, 2}}));            // one too many
    }
    void sharingARunChangesNothing() {
        std::size_t compared = 0;
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const test::RandomShape shape{.workers = 14, .ops = 10, .tiles = 30, .iterations = 9};
            auto [graph, machine] = test::randomRegion(seed, shape);
            if (seed % 2 == 0) { // so that equal workers are moved as one
                machine.policy = sim::Policy::RoundRobin;
                for (auto& op : graph.ops) {
                    for (auto& dependency : op.depends_on) {
                        dependency.grain = sim::Grain::All;
                    }
                }
            }
            const auto beginnings = allBeginnings(graph);
            const auto shared = sim::simulateBeginnings(graph, machine, beginnings);
            VERIFY_SEED(shared.size() == beginnings.size());
            for (std::size_t i = 0; i < beginnings.size(); ++i) {
                const auto alone = sim::simulate(sim::regionOf(graph, beginnings[i]), machine);
                VERIFY_SEED(alone.has_value() == shared[i].has_value());
                if (!alone) {
                    continue;
                }
                ++compared;
                VERIFY_SEED(alone->makespan_us == shared[i]->makespan_us);
                VERIFY_SEED(alone->blame == shared[i]->blame);
                VERIFY_SEED(alone->tiles == shared[i]->tiles);
                VERIFY_SEED(alone->ops.size() == shared[i]->ops.size());
                for (std::size_t op = 0; op < alone->ops.size(); ++op) {
                    VERIFY_SEED(alone->ops[op].first_start_us == shared[i]->ops[op].first_start_us);
                    VERIFY_SEED(alone->ops[op].first_end_us == shared[i]->ops[op].first_end_us);
                    VERIFY_SEED(alone->ops[op].last_end_us == shared[i]->ops[op].last_end_us);
                    VERIFY_SEED(std::abs(alone->ops[op].wait_us - shared[i]->ops[op].wait_us) <=
                                1e-9);
                }
            }
        }
        QVERIFY(compared > kRegions);
    }
    void onlyBeginningsThatCannotRunFail() {
        auto [graph, machine] = test::randomRegion(3);
        graph = nested();
        machine.ring_bytes = 100;
        graph.ops[4].load_bytes = 1000; // larger than the ring
        const std::vector<Beginning> beginnings{{4, 2}, {5, 0}};
        const auto results = sim::simulateBeginnings(graph, machine, beginnings);
        QVERIFY(results[0].has_value());
        QVERIFY(!results[1].has_value());
        QVERIFY(results[1].error().what.find("\"e\"") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestBeginnings)
#include "tst_beginnings.moc"

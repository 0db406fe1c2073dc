// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for every region, tried on random ones.
#include "core/sim/engine.h"
#include "random_regions.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace kerf;
using sim::Grain;
using sim::TileRecord;

namespace {

constexpr std::uint32_t kRegions = 400;
constexpr test::RandomShape kShape{.workers = 12, .ops = 8, .tiles = 40, .iterations = 5};

#define VERIFY_SEED(...) QVERIFY2((__VA_ARGS__), qPrintable(QString("seed %1").arg(seed)))
double timesExecuted(const sim::RegionGraph& graph, sim::OpIndex op) {
    double times = 1;
    for (const sim::Loop& loop : graph.loops) {
        times *= op >= loop.begin && op < loop.end ? loop.iterations : 1;
    }
    return times;
}

/// One thing after another: something is always under way, and all that is under way together moves
/// at least as fast as one alone.
double serialUs(const sim::RegionGraph& graph, const sim::Machine& machine) {
    const double rate = std::min(machine.worker_gbps, machine.memory_gbps) * 1e3;
    double total_us = 0;
    for (sim::OpIndex i = 0; i < graph.ops.size(); ++i) {
        const sim::TileOp& op = graph.ops[i];
        const double tile_us = machine.ramp_us + (op.load_bytes + op.dependent_bytes) / rate +
                               machine.dispatch_us + machine.queue_pop_us +
                               machine.dependent_latency_us +
                               op.worker_dependent_bytes / (machine.l2_gbps_per_worker * 1e3) +
                               op.compute_us + machine.event_one_way_us + machine.event_fan_in_us;
        total_us += timesExecuted(graph, i) * op.tiles * tile_us;
    }
    return total_us;
}

sim::RegionResult recorded(const sim::RegionGraph& graph, const sim::Machine& machine) {
    return sim::simulate(graph, machine, {.record_tiles = true, .skip_periods = false}).value();
}

} // namespace

class TestEngineProperties : public QObject {
    Q_OBJECT
private slots:
    void makespanLiesBetweenItsBounds() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            const double makespan_us = sim::simulate(graph, machine)->makespan_us;
            VERIFY_SEED(makespan_us >= sim::lowerBoundUs(graph, machine) * (1 - 1e-9) - 1e-9);
            VERIFY_SEED(makespan_us <= serialUs(graph, machine) * (1 + 1e-9) + 1e-9);
        }
    }
    void bytesAndTilesAreConserved() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            double bytes = 0;
            double tiles = 0;
            for (sim::OpIndex i = 0; i < graph.ops.size(); ++i) {
                const double n = timesExecuted(graph, i) * graph.ops[i].tiles;
                tiles += n;
                bytes += n * (graph.ops[i].load_bytes + graph.ops[i].dependent_bytes);
            }
            const auto result = sim::simulate(graph, machine);
            VERIFY_SEED(static_cast<double>(result->tiles) == tiles);
            VERIFY_SEED(std::abs(result->loaded_bytes - bytes) <= 1e-9 * bytes);
        }
    }
    void skippingIterationsChangesNothing() {
        std::uint64_t tiles = 0;
        std::uint64_t simulated = 0;
        test::RandomShape shape = kShape;
        shape.iterations = 12;
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, shape);
            const auto all = sim::simulate(graph, machine, {.skip_periods = false});
            const auto some = sim::simulate(graph, machine, {.skip_periods = true});
            const double tolerance = 1e-6 * all->makespan_us + 1e-9;
            VERIFY_SEED(std::abs(all->makespan_us - some->makespan_us) <= tolerance);
            VERIFY_SEED(all->tiles == some->tiles);
            for (std::size_t op = 0; op < graph.ops.size(); ++op) {
                VERIFY_SEED(std::abs(all->ops[op].last_end_us - some->ops[op].last_end_us) <=
                            tolerance);
                VERIFY_SEED(std::abs(all->ops[op].first_end_us - some->ops[op].first_end_us) <=
                            tolerance);
            }
            tiles += some->tiles;
            simulated += some->simulated_tiles;
        }
        qInfo("simulated %.0f %% of %llu tiles", 100.0 * double(simulated) / double(tiles),
              static_cast<unsigned long long>(tiles));
        QVERIFY(simulated < tiles);
    }
    void movingEqualWorkersAsOneChangesNothing() {
        std::uint64_t moved = 0;
        std::uint64_t tiles = 0;
        test::RandomShape shape = kShape;
        shape.workers = 40;
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            auto [graph, machine] = test::randomRegion(seed, shape);
            machine.policy = sim::Policy::RoundRobin; // else no workers are equal
            for (sim::TileOp& op : graph.ops) {
                for (sim::Dependency& dependency : op.depends_on) {
                    dependency.grain = Grain::All;
                }
            }
            for (const bool skip : {false, true}) {
                const auto one_by_one =
                    sim::simulate(graph, machine, {.group_workers = false, .skip_periods = skip});
                const auto grouped =
                    sim::simulate(graph, machine, {.group_workers = true, .skip_periods = skip});
                VERIFY_SEED(one_by_one->makespan_us == grouped->makespan_us);
                VERIFY_SEED(one_by_one->blame == grouped->blame);
                VERIFY_SEED(one_by_one->tiles == grouped->tiles);
                // Up to rounding: sums are taken in another order.
                VERIFY_SEED(std::abs(one_by_one->loaded_bytes - grouped->loaded_bytes) <=
                            1e-12 * one_by_one->loaded_bytes);
                for (std::size_t op = 0; op < graph.ops.size(); ++op) {
                    const auto& a = one_by_one->ops[op];
                    const auto& b = grouped->ops[op];
                    VERIFY_SEED(a.first_start_us == b.first_start_us);
                    VERIFY_SEED(a.first_end_us == b.first_end_us);
                    VERIFY_SEED(a.last_end_us == b.last_end_us);
                    VERIFY_SEED(std::abs(a.wait_us - b.wait_us) <= 1e-9);
                }
                moved += grouped->simulated_tiles;
                tiles += one_by_one->simulated_tiles;
            }
        }
        qInfo("moved %.0f %% of the tiles", 100.0 * double(moved) / double(tiles));
        QVERIFY(moved < tiles);
    }
    void blameSumsToTheMakespan() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            for (const bool skip : {false, true}) {
                const auto result = sim::simulate(graph, machine, {.skip_periods = skip});
                const double sum = std::accumulate(result->blame.begin(), result->blame.end(), 0.0);
                VERIFY_SEED(std::abs(sum - result->makespan_us) < 1e-9);
                VERIFY_SEED(std::all_of(result->blame.begin(), result->blame.end(),
                                        [](double us) { return us > -1e-9; }));
            }
        }
    }
    void noWorkerOverlapsItself() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            std::map<std::uint32_t, std::vector<TileRecord>> by_worker;
            for (const TileRecord& record : recorded(graph, machine).records) {
                by_worker[record.worker].push_back(record);
            }
            for (auto& [worker, records] : by_worker) {
                std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
                    return a.start_us < b.start_us ||
                           (a.start_us == b.start_us && a.end_us < b.end_us);
                });
                for (std::size_t i = 1; i < records.size(); ++i) {
                    VERIFY_SEED(records[i].start_us >= records[i - 1].end_us);
                }
            }
        }
    }
    void dataIsThereBeforeATileStarts() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            for (const TileRecord& record : recorded(graph, machine).records) {
                VERIFY_SEED(record.start_us >= record.load_end_us);
            }
        }
    }
    void noEventIsConsumedBeforeItIsRaised() {
        // Chains without loops, so that an execution is an op.
        test::RandomShape shape = kShape;
        shape.iterations = 1;
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, shape);
            std::map<std::pair<sim::OpIndex, std::uint32_t>, TileRecord> tiles;
            for (const TileRecord& record : recorded(graph, machine).records) {
                tiles[{record.op, record.tile}] = record;
            }
            for (const auto& [key, tile] : tiles) {
                for (const sim::Dependency& dependency : graph.ops[tile.op].depends_on) {
                    if (dependency.distance > tile.op) {
                        continue;
                    }
                    const sim::OpIndex producer = tile.op - dependency.distance;
                    const double share =
                        double(graph.ops[producer].tiles) / graph.ops[tile.op].tiles;
                    for (std::uint32_t p = 0; p < graph.ops[producer].tiles; ++p) {
                        const bool covers =
                            p + 1 > tile.tile * share + 1e-9 && p < (tile.tile + 1) * share - 1e-9;
                        const bool first =
                            p == static_cast<std::uint32_t>(tile.tile * share + 1e-9);
                        if (dependency.grain == Grain::All ||
                            (dependency.grain == Grain::Aligned && covers) ||
                            (dependency.grain == Grain::OneToOne && first)) {
                            VERIFY_SEED(tile.start_us >= tiles[{producer, p}].end_us +
                                                             machine.event_one_way_us * (1 - 1e-6) -
                                                             1e-4);
                        }
                    }
                }
            }
        }
    }
    void timeScales() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            auto slow = graph;
            auto slow_machine = machine;
            for (sim::TileOp& op : slow.ops) {
                for (double* cost : {&op.load_bytes, &op.dependent_bytes,
                                     &op.worker_dependent_bytes, &op.compute_us}) {
                    *cost *= 4;
                }
            }
            for (double* cost : {&slow_machine.ring_bytes, &slow_machine.ramp_us,
                                 &slow_machine.dependent_latency_us, &slow_machine.dispatch_us,
                                 &slow_machine.queue_pop_us, &slow_machine.event_one_way_us,
                                 &slow_machine.event_fan_in_us}) {
                *cost *= 4;
            }
            const double once_us = sim::simulate(graph, machine)->makespan_us;
            const double scaled_us = sim::simulate(slow, slow_machine)->makespan_us;
            VERIFY_SEED(std::abs(scaled_us - 4 * once_us) <= 1e-9 * scaled_us);
        }
    }
    void sameInputSameBits() {
        for (std::uint32_t seed = 1; seed <= 50; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            const auto a = sim::simulate(graph, machine);
            const auto b = sim::simulate(graph, machine);
            VERIFY_SEED(a->makespan_us == b->makespan_us && a->blame == b->blame);
        }
    }
    void theCriticalPathEndsLastAndStartsFirst() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            const auto [graph, machine] = test::randomRegion(seed, kShape);
            const auto result = recorded(graph, machine);
            double end_us = 0;
            for (const TileRecord& record : result.records) {
                end_us = record.critical ? std::max<double>(end_us, record.end_us) : end_us;
            }
            VERIFY_SEED(std::abs(end_us - result.makespan_us) <= 1e-6 * result.makespan_us);
        }
    }
    void anUnrolledLoopIsTheSame() {
        for (std::uint32_t seed = 1; seed <= kRegions; ++seed) {
            auto [graph, machine] = test::randomRegion(seed, kShape);
            graph.loops = {{0, static_cast<sim::OpIndex>(graph.ops.size()), 3}};
            sim::RegionGraph unrolled;
            for (int i = 0; i < 3; ++i) {
                unrolled.ops.insert(unrolled.ops.end(), graph.ops.begin(), graph.ops.end());
            }
            VERIFY_SEED(recorded(graph, machine).makespan_us ==
                        recorded(unrolled, machine).makespan_us);
        }
    }
};

QTEST_APPLESS_MAIN(TestEngineProperties)
#include "tst_engine_properties.moc"

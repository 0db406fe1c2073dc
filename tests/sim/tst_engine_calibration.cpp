// SPDX-License-Identifier: GPL-3.0-or-later
// The engine against the calibration's kernels that only synchronise and stream. Points at 0 tiles
// gave two of its constants (dependent latency, drain): they only show that nothing is lost on the
// way. From 1 tile on they are no input.
#include "core/cost/machine.h"
#include "core/sim/engine.h"

#include <QTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace kerf;

namespace {

constexpr double kTileBytes = 32768;
constexpr double kWithin = 0.05;

/// Measured points of a series of the shipped file, µs by tiles.
std::map<int, double> measured(const char* series) {
    std::ifstream stream(KERF_SOURCE_DIR "/resources/hardware/h200.json");
    const auto file = nlohmann::json::parse(stream);
    std::map<int, double> points;
    for (const auto& point : file["calibration"]["series"][series]["points"]) {
        points[point[0].get<int>()] = point[1].get<double>();
    }
    return points;
}

/// The calibration's kernel: 132 blocks of 288 threads, a ring of six tiles, no queue of tiles.
sim::Machine machineOf(const cost::Hardware& hardware) {
    auto machine =
        cost::machineFor(hardware, {.threads = 288, .registers = 64, .shared_bytes = 200'000})
            .value();
    machine.ring_bytes = 6 * kTileBytes;
    machine.dispatch_us = 0;
    return machine;
}

sim::TileOp streaming(int tilesPerWorker, int workers, double activationBytes) {
    sim::TileOp op;
    op.tiles = static_cast<std::uint32_t>(std::max(tilesPerWorker, 1) * workers);
    op.load_bytes = tilesPerWorker > 0 ? kTileBytes : 0;
    op.worker_dependent_bytes = activationBytes;
    return op;
}

} // namespace

class TestEngineCalibration : public QObject {
    Q_OBJECT
    cost::Hardware hardware_ = cost::shippedHardware("NVIDIA H200").value();

    void compareKernels(const char* name, double activationBytes) const {
        const auto machine = machineOf(hardware_);
        const auto series = measured(name);
        QVERIFY(series.size() >= 6);
        for (const auto& [tiles, us] : series) {
            const sim::RegionGraph graph{{streaming(tiles, machine.workers, activationBytes)}, {}};
            const double kernel_us =
                cost::boundaryUs(hardware_) + sim::simulate(graph, machine)->makespan_us;
            const QString found = QString("%1 tiles: %2 µs").arg(tiles).arg(kernel_us);
            QVERIFY2(std::abs(kernel_us / us - 1) < kWithin, qPrintable(found));
        }
    }

private slots:
    /// Synchronising and streaming do not overlap: the sum of both, not the longer.
    void stepsThatStreamAreReproduced() {
        const auto machine = machineOf(hardware_);
        const auto series = measured("streaming_step_us_by_tiles");
        QVERIFY(series.size() >= 4);
        for (const auto& [tiles, us] : series) {
            const auto makespan = [&, tiles = tiles](std::uint32_t steps) {
                const sim::RegionGraph graph{{streaming(tiles, machine.workers, 4096)},
                                             {{0, 1, steps}}};
                return sim::simulate(graph, machine)->makespan_us;
            };
            const double step_us = (makespan(300) - makespan(100)) / 200;
            QVERIFY2(std::abs(step_us / us - 1) < kWithin,
                     qPrintable(
                         QString("%1 tiles: %2 µs, measured %3").arg(tiles).arg(step_us).arg(us)));
        }
    }
    void kernelsThatStreamAreReproduced() { compareKernels("streaming_kernel_us_by_tiles", 0); }
    /// The activations come while the first tile does.
    void kernelsThatReadActivationsFirstAreReproduced() {
        compareKernels("streaming_kernel_activation_us_by_tiles", 4096);
    }
    void withoutTheOrderOfMemoryStepsWouldBeFarTooShort() {
        auto machine = machineOf(hardware_);
        machine.in_order_memory = false;
        const sim::RegionGraph graph{{streaming(1, machine.workers, 4096)}, {{0, 1, 1000}}};
        const double step_us = sim::simulate(graph, machine)->makespan_us / 1000;
        QVERIFY(step_us < 0.6 * measured("streaming_step_us_by_tiles").at(1));
    }
};

QTEST_APPLESS_MAIN(TestEngineCalibration)
#include "tst_engine_calibration.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// A first check against measurements: a chain of matrix-vector products as persistent kernels of
// several region lengths, predicted from the shipped constants and single-kernel figures only.
#include "core/cost/machine.h"
#include "core/sim/engine.h"
#include "shared_data.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace kerf;
using Json = nlohmann::json;

namespace {

// The kernel as gemv_chain.json describes it.
constexpr int kWorkers = 132;
constexpr double kTileRows = 8;
constexpr double kBytesPerWeight = 2;
constexpr double kRingStages = 6;

/// A 4-byte memset node of a CUDA graph: its duration in the conventional recordings (0.80 to
/// 0.86 µs with node-level tracing) beside the launch gap before it.
constexpr double kMemsetUs = 0.83;

struct Chain {
    int rows = 0;
    double k = 0;
    int ops = 0;
    Json us_per_op;
};

std::vector<Chain> readChains() {
    std::ifstream stream(test::sharedData() / "h200/gemv_chain.json");
    const Json file = Json::parse(stream);
    std::vector<Chain> chains;
    for (const Json& row : file["rows"]) {
        chains.push_back({row["rows"], row["k"], row["ops"], row["us_per_op"]});
    }
    return chains;
}

/// µs of a tile's compute: the increment per tile of one-op kernels, which stream as fast as they
/// compute, between the two largest sizes (where launch and ramp cancel).
double tileComputeUs(const std::vector<Chain>& chains) {
    const Chain& small = chains[chains.size() - 2];
    const Chain& large = chains.back();
    const auto us = [](const Chain& chain) {
        return chain.us_per_op["persistent_tiles_one_kernel_per_op"].get<double>();
    };
    return (us(large) - us(small)) / ((large.rows - small.rows) / kTileRows / kWorkers);
}

sim::Machine machineOf(const cost::Hardware& hardware, double tile_bytes) {
    sim::Machine machine =
        cost::machineFor(hardware, {.threads = 288, .registers = 64, .shared_bytes = 200'000})
            .value();
    machine.ring_bytes = kRingStages * tile_bytes;
    return machine;
}

double regionUs(const Chain& chain, int length, double compute_us, const cost::Hardware& hardware) {
    const double tile_bytes = kTileRows * chain.k * kBytesPerWeight;
    sim::TileOp op;
    op.label = "gemv";
    op.tiles = static_cast<std::uint32_t>(chain.rows / kTileRows);
    op.load_bytes = tile_bytes;
    op.worker_dependent_bytes = chain.k * kBytesPerWeight;
    op.compute_us = compute_us;
    sim::RegionGraph graph;
    graph.ops = {op};
    graph.loops = {{0, 1, static_cast<std::uint32_t>(length)}};
    const auto result = sim::simulate(graph, machineOf(hardware, tile_bytes));
    return hardware.launch_gap_us.value + kMemsetUs + hardware.launch_gap_us.value +
           hardware.prologue_us.value + result.value().makespan_us;
}

/// µs an op of the chain cut every `length` ops; the last region may be shorter.
double chainUsPerOp(const Chain& chain, int length, double compute_us,
                    const cost::Hardware& hardware) {
    const int whole = chain.ops / length;
    const int rest = chain.ops % length;
    double total_us = whole * regionUs(chain, length, compute_us, hardware);
    if (rest > 0) {
        total_us += regionUs(chain, rest, compute_us, hardware);
    }
    return total_us / chain.ops;
}

} // namespace

class TestGemvChain : public QObject {
    Q_OBJECT
private slots:
    void constantsAndSingleKernelsPredictRegions() {
        KERF_NEEDS_SHARED_DATA();
        const auto hardware = cost::shippedHardware("NVIDIA H200").value();
        const std::vector<Chain> chains = readChains();
        const double compute_us = tileComputeUs(chains);
        qInfo("tile compute %.3f us", compute_us);
        double sum = 0;
        double worst = 0;
        int cases = 0;
        for (const Chain& chain : chains) {
            QString line = QString("%1 rows:").arg(chain.rows, 5);
            const auto check = [&](const std::string& name, int length, double measured_us) {
                const double predicted_us = chainUsPerOp(chain, length, compute_us, hardware);
                const double error = predicted_us / measured_us - 1;
                sum += std::abs(error);
                worst = std::max(worst, std::abs(error));
                ++cases;
                line += QString(" %1 %2/%3 (%4 %)")
                            .arg(name.c_str())
                            .arg(predicted_us, 0, 'f', 2)
                            .arg(measured_us, 0, 'f', 2)
                            .arg(100 * error, 0, 'f', 1);
            };
            for (const auto& [length, us] : chain.us_per_op["regions_of"].items()) {
                check(length, std::stoi(length), us.get<double>());
            }
            check("all", chain.ops, chain.us_per_op["persistent_all_ops"].get<double>());
            qInfo("%s", qPrintable(line));
        }
        const double mean = sum / cases;
        qInfo("mean absolute error %.1f %%, worst %.1f %% of %d", 100 * mean, 100 * worst, cases);
        QCOMPARE(cases, 35);
        QVERIFY(mean <= 0.04);
        QVERIFY(worst <= 0.10);
    }
};

QTEST_APPLESS_MAIN(TestGemvChain)
#include "tst_gemv_chain.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/bandwidth_floor.h"

namespace kerf::sim {
namespace {

constexpr double kBytesPerUsPerGbps = 1e3;
constexpr double kRounding = 1e-9; ///< relative; sums of many loads are not exact

/// Bytes that all executions of an op read from device memory.
double bytesOf(const RegionGraph& graph, std::size_t index) {
    const TileOp& op = graph.ops[index];
    double bytes = op.tiles * (op.load_bytes + op.dependent_bytes);
    for (const Loop& loop : graph.loops) {
        if (index >= loop.begin && index < loop.end) {
            bytes *= loop.iterations;
        }
    }
    return bytes;
}

} // namespace

double bandwidthFloorUs(const RegionGraph& graph, double memoryGbps) {
    double bytes = 0;
    for (std::size_t op = 0; op < graph.ops.size(); ++op) {
        bytes += bytesOf(graph, op);
    }
    return bytes / (memoryGbps * kBytesPerUsPerGbps);
}

Expected<void> checkBandwidthFloor(const std::string& op, double bytes, double us,
                                   double memoryGbps) {
    const double floor_us = bytes / (memoryGbps * kBytesPerUsPerGbps);
    if (us >= floor_us * (1 - kRounding)) {
        return {};
    }
    return fail(fmt::format("{}: {:.6g} µs is less than its {:.6g} bytes take at {:.6g} GB/s "
                            "({:.6g} µs)",
                            op, us, bytes, memoryGbps, floor_us),
                {},
                "Check the bytes and the time given for this op, and memory_gbps of the hardware "
                "file.");
}

Expected<void> checkBandwidthFloor(const RegionGraph& graph, double us, double memoryGbps) {
    double bytes = 0;
    double most_bytes = -1;
    std::size_t heaviest = 0;
    for (std::size_t op = 0; op < graph.ops.size(); ++op) {
        const double own = bytesOf(graph, op);
        bytes += own;
        if (own > most_bytes) {
            most_bytes = own;
            heaviest = op;
        }
    }
    if (graph.ops.empty()) {
        return {};
    }
    return checkBandwidthFloor(
        graph.ops.size() == 1 ? fmt::format("op \"{}\"", graph.ops[heaviest].label)
                              : fmt::format("region of {} ops, most of its bytes in op {} \"{}\"",
                                            graph.ops.size(), heaviest, graph.ops[heaviest].label),
        bytes, us, memoryGbps);
}

} // namespace kerf::sim

// SPDX-License-Identifier: GPL-3.0-or-later
// What a GPU can do: limits from its data sheet or the recording, costs from microbenchmarks.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::cost {

/// A figure with where it comes from. `spread` is one standard deviation in the same unit.
struct Constant {
    double value = 0;
    double spread = 0;
    bool estimated = false; ///< not measured: says so wherever it is shown
    std::string source;     ///< what was run, on what, when; or what the estimate rests on
};

struct CurvePoint {
    double x = 0;
    double y = 0;
};
/// Measured points, x ascending. Linear in between, constant outside.
using Curve = std::vector<CurvePoint>;
[[nodiscard]] double interpolate(const Curve& curve, double x);

/// Read bandwidth against the number of workers (blocks) that read, for blocks of `threads`.
struct BandwidthCurve {
    int threads = 0;
    Curve gbps_by_workers;
};

struct Hardware {
    std::string name; ///< as the recording's device name, e.g. "NVIDIA H200"
    int sm_count = 0;
    std::int64_t l2_bytes = 0;
    int registers_per_sm = 0;
    int shared_bytes_per_sm = 0;
    int shared_bytes_per_block_max = 0;
    int shared_bytes_reserved_per_block = 0;
    int max_threads_per_sm = 0;
    int max_blocks_per_sm = 0;

    Constant launch_gap_us;     ///< a graph node after another
    Constant launch_gap_pdl_us; ///< the same with a programmatic edge
    Constant memset_us;         ///< a graph's 4-byte memset node, beside the gap before it
    Constant prologue_us; ///< barrier and ring set-up of a persistent kernel before its first load
    Constant event_one_way_us;     ///< signal on one SM until seen on another
    Constant dispatch_us;          ///< consumer's cost to take the next tile from a static queue
    Constant queue_pop_us;         ///< the same from a dynamic queue shared by all workers
    Constant dependent_latency_us; ///< first byte of an activation load from L2 after its event
    Constant ramp_us;              ///< first byte of a cold load from device memory
    Constant memory_gbps;          ///< device memory, all workers reading
    Constant l2_gbps;              ///< L2, all workers reading
    Constant bulk_gbps_per_sm;     ///< most that a lone SM pulls by bulk copies
    Constant on_chip_gbps_per_sm;  ///< weights that an SM's consumers take from its ring, batch 1
    Constant drain_us;             ///< end of a persistent kernel: last write, signal, exit
    Constant tracing_us_per_node;  ///< what node-level tracing adds; see docs/validation/replay.md
    Curve barrier_us_by_workers;   ///< all signal one counter and all see it complete (fan-in)
    std::string barrier_source;
    std::vector<BandwidthCurve> bandwidth; ///< threads ascending
    std::string bandwidth_source;
};

/// Reads a hardware file (docs/formats/hardware.md). Unknown fields are ignored.
/// Errors: unreadable, not JSON, unknown version, missing or non-positive figure (named).
[[nodiscard]] Expected<Hardware> readHardware(const std::string& path);
[[nodiscard]] Expected<Hardware> parseHardware(const std::string& json, const std::string& where);

/// The file shipped for a device name, compiled into the program ("NVIDIA H200").
/// Errors: none shipped for that name; the message lists those that are.
[[nodiscard]] Expected<Hardware> shippedHardware(const std::string& deviceName);

/// GB/s that `workers` blocks of `threads` read together, from the measured curves: interpolated
/// over workers and, linearly in threads, between curves.
[[nodiscard]] double readBandwidthGbps(const Hardware& hardware, double workers, double threads);

} // namespace kerf::cost

// SPDX-License-Identifier: GPL-3.0-or-later
// Counters of kernels from Nsight Compute's CSV (docs/formats/ncu.md).
#pragma once

#include "core/base/error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::cost {

/// What ncu measured of one kernel launch; nothing where the file does not have the metric.
struct NcuLaunch {
    std::string kernel;
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::optional<double> read_bytes;   ///< dram__bytes_read.sum
    std::optional<double> write_bytes;  ///< dram__bytes_write.sum
    std::optional<double> total_bytes;  ///< dram__bytes.sum
    std::optional<double> l2_bytes;     ///< lts__t_bytes.sum
    std::optional<double> duration_us;  ///< gpu__time_duration.sum, at the clocks that ncu sets
    std::optional<double> dram_share;   ///< of peak: dram__throughput, 0 … 1
    std::optional<double> sm_share;     ///< of peak: sm__throughput, 0 … 1
    std::optional<double> bytes_per_us; ///< details page: "Memory Throughput"
    std::size_t line = 0;               ///< of the launch's first row
};

struct NcuFile {
    std::string file;
    std::vector<NcuLaunch> launches; ///< in order of the file, which is that of execution
};

/// Reads the raw page (one row a launch, a row of units below the header) and the form with a row a
/// metric (details page, or --metrics without --page). Lines before the header and those that start
/// with "==" are skipped. Metrics that Kerf does not use, and values like "n/a", are left out.
/// Errors name file and line: unreadable; no header; no grid and block; quotes that never end; too
/// few fields; a number, a unit or a size that cannot be understood; a negative figure; no launch.
[[nodiscard]] Expected<NcuFile> readNcu(const std::string& path);
[[nodiscard]] Expected<NcuFile> parseNcu(std::string_view csv, const std::string& where);

} // namespace kerf::cost

// SPDX-License-Identifier: GPL-3.0-or-later
// Benchmark files: what tiles cost when run alone on a GPU (docs/formats/bench.md).
#pragma once

#include "core/base/error.h"
#include "core/cost/footprint.h"
#include "core/workload/op.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kerf::cost {

/// One tile kernel at one batch size. Bytes and times are those of one tile unless said.
struct BenchEntry {
    std::string key;                      ///< of a chain op; empty: holds for a role
    std::optional<workload::OpRole> role; ///< of the op's anchor; always there without a key
    /// Roles of the helper ops that the tile computes too; nothing: all that fuse into the op.
    std::optional<std::vector<workload::OpRole>> fused;
    int batch = 1;
    Footprint footprint;
    std::uint32_t tiles = 1;
    double load_bytes = 0;
    double dependent_bytes = 0;
    double worker_dependent_bytes = 0; ///< once a worker
    double compute_us = 0;
    double spread_us = 0; ///< one standard deviation of compute_us
    double signal_us = 0; ///< consumer time to signal, beyond compute_us
    std::string place;    ///< for messages: "FILE, ops[3]"
};

struct BenchFile {
    std::string file;  ///< where it was read from
    std::string model; ///< empty: for every model
    // Provenance, all required:
    std::string gpu; ///< device name as recordings give it
    std::string driver;
    std::string date;
    std::string how;
    std::vector<BenchEntry> ops;
};

/// Unknown fields are ignored. Errors name the file and the place: unreadable, not JSON, another
/// format, unknown version, missing provenance, an entry with neither key nor role, a key without
/// "model", a figure that is missing, negative, not finite or absurd, a tile that does nothing.
[[nodiscard]] Expected<BenchFile> readBench(const std::string& path);
[[nodiscard]] Expected<BenchFile> parseBench(const std::string& json, const std::string& where);

} // namespace kerf::cost

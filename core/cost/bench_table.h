// SPDX-License-Identifier: GPL-3.0-or-later
// What benchmark files say of an op at a batch size (tier 3; docs/cost-model.md).
#pragma once

#include "core/cost/bench_file.h"
#include "core/sim/region_graph.h"

#include <map>
#include <set>
#include <span>

namespace kerf::cost {

// Choices, not measurements:
inline constexpr double kLeastBenchError = 0.02;       ///< a tile alone is not a tile among others
inline constexpr double kBenchErrorPerDoubling = 0.25; ///< added for each doubling of the batch
                                                       ///< size beyond what was benchmarked

/// The cost of an op, taken from benchmarks.
struct BenchCost {
    sim::TileOp tile; ///< bytes and times only; compute_us with the signal
    Footprint footprint;
    double relative_error = 0;
    std::optional<std::vector<workload::OpRole>> fused; ///< as BenchEntry::fused
    std::string source;                                 ///< provenance for people, one sentence
    int extrapolated_from = 0; ///< batch size of the nearest benchmark; 0: within their range
};

/// The benchmarks of one model on one GPU, one entry a batch size.
struct BenchTable {
    struct Point {
        BenchEntry entry;
        std::string source; ///< where the entry comes from, for people
    };
    using ByBatch = std::map<int, Point>;
    std::map<std::string, ByBatch> by_key;
    std::map<workload::OpRole, ByBatch> by_role;
};

/// Takes what holds for `model` out of `files`. Where a batch size has several footprints, the one
/// whose op alone takes least is kept: max(bytes / bandwidth, waves × consumer time); ties go to
/// less shared memory. Errors: a file of another GPU than `hardware`; two entries for the same op,
/// batch and footprint (both named); entries of one op that disagree on "role" or "fused" (both
/// named); a footprint that fits no SM; a tile whose loads do not fit the ring of its worker.
[[nodiscard]] Expected<BenchTable> benchTable(std::span<const BenchFile> files,
                                              const std::string& model, const Hardware& hardware);

/// The cost of op `key` of `role` at `batch`: by key, else by role, else nothing. Between two
/// benchmarked batch sizes all sums over tiles are linear in the batch, the tiles are rounded up
/// and the footprint holds both. Beyond them the nearest holds, with a wider error.
/// Errors: the entries of the key are for another role.
[[nodiscard]] Expected<std::optional<BenchCost>>
benchCost(const BenchTable& table, const std::string& key, workload::OpRole role, int batch);

/// Places of the entries by key whose key is not in `keys`.
[[nodiscard]] std::vector<std::string> unusedKeys(const BenchTable& table,
                                                  const std::set<std::string>& keys);

} // namespace kerf::cost

// SPDX-License-Identifier: GPL-3.0-or-later
// From a region's ops to what its kernel runs: tiles, a queue for each worker, events, rings.
#pragma once

#include "lab/megakernel/program.h"
#include "lab/model/model.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kerf::lab {

/// How an op is cut into tiles at one batch size.
struct Tiling {
    int rows_a_tile = 16; ///< products: 16, 32, 64 or 128
    int splits = 1;       ///< products: of the columns; attention: of the positions
    bool operator==(const Tiling&) const = default;
};

/// A worker: what all regions of a composition share.
struct WorkerShape {
    int consumer_warps = 8;
    bool tensor_cores = true; ///< false: multiply-add, at most 4 requests
    std::uint32_t stage_bytes = 32768;
    std::uint32_t activation_slots = 2;
    std::uint32_t shared_bytes_most = 232448; ///< of a block on compute capability 9.0
    std::uint32_t weight_stages_most = 16;
};

/// What a kernel is compiled for.
struct KernelSpec {
    unsigned padded_batch = 8;
    unsigned consumer_warps = 8;
    bool tensor_cores = true;
    unsigned kinds = 0;     ///< bits of OpKind
    unsigned epilogues = 0; ///< bits of Epilogue
    bool times = false;
    auto operator<=>(const KernelSpec&) const = default;
};

/// Device memory that a region needs beside weights, buffers and cache.
struct Scratch {
    std::size_t product_partials = 0;   ///< floats
    std::size_t attention_partials = 0; ///< floats
    std::size_t product_arrivals = 0;   ///< counters
    std::size_t attention_arrivals = 0; ///< counters
    std::size_t candidates = 0;
    void cover(const Scratch& other);
};

struct RegionPlan {
    KernelSpec kernel;
    std::vector<Execution> executions;
    std::vector<Tiling> tilings;           ///< one a Model::ops
    std::vector<Task> tasks;               ///< worker by worker
    std::vector<std::uint32_t> task_begin; ///< workers + 1
    std::uint32_t events = 0;
    std::uint32_t stage_bytes = 0;
    std::uint32_t weight_stages = 0;
    std::uint32_t slot_bytes = 0;
    std::uint32_t activation_slots = 0;
    std::uint32_t positions_a_slot = 0;
    std::uint32_t shared_bytes = 0;
    Scratch scratch;
};

/// Which events the tiles of an execution wait for.
enum class Grain : std::uint8_t {
    All,     ///< all tiles of the execution before
    Aligned, ///< attention after its projections: those of its kv head; else like All
};

/// The worker of each tile of an execution; empty: tile k on worker k mod workers.
using Assignment = std::vector<std::uint32_t>;

struct RegionRequest {
    std::vector<Execution> executions;   ///< a stretch of executionsOf(model)
    std::vector<Grain> grains;           ///< one an execution, or empty: All
    std::vector<Assignment> assignments; ///< one an execution, or empty: round robin
    int workers = 132;
};

/// Padded to what tensor cores multiply at once: 8, 16, 32 or 64.
[[nodiscard]] unsigned paddedBatch(int batch);

/// Tiles of an execution at this batch size.
[[nodiscard]] int tileCount(const Model& model, const ModelOp& op, int batch, const Tiling& tiling);

/// Rows as wide as the activation slots allow, then enough splits that no worker goes without.
[[nodiscard]] Tiling defaultTiling(const Model& model, const ModelOp& op, int batch, int workers,
                                   const WorkerShape& shape);

/// Throws LabError: what does not fit and what would.
[[nodiscard]] RegionPlan planRegion(const Model& model, int batch, const WorkerShape& shape,
                                    std::span<const Tiling> tilings_by_op,
                                    const RegionRequest& request);

/// Where a model's data lies.
struct Memory {
    std::function<const BFloat16*(const Execution&)> weights; ///< packed; an embedding's table
    std::vector<BFloat16*> buffers;                           ///< one a Model::buffers
    std::vector<BFloat16*> keys;                              ///< one a layer
    std::vector<BFloat16*> values;
    float* product_partials = nullptr;
    float* attention_partials = nullptr;
    std::uint32_t* product_arrivals = nullptr;
    std::uint32_t* attention_arrivals = nullptr;
    Candidate* candidates = nullptr;
};

[[nodiscard]] std::vector<DeviceOp> bindOps(const Model& model, const RegionPlan& plan,
                                            const Memory& memory);
/// All but the pointers.
[[nodiscard]] RegionArguments regionArguments(const Model& model, int batch,
                                              const RegionPlan& plan);

} // namespace kerf::lab

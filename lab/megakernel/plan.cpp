// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/megakernel/plan.h"

#include "lab/common/lab_error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kerf::lab {
namespace {

constexpr std::uint32_t kSlotBytesMost = 40960;

std::uint32_t unsignedOf(int value) {
    return static_cast<std::uint32_t>(value);
}

int columnsAStage(const WorkerShape& shape, const Tiling& tiling) {
    return static_cast<int>(shape.stage_bytes) / 2 / tiling.rows_a_tile;
}

/// Raises of an execution's event in a launch: tiles that finish an output.
int outputBlocks(const Model& model, const ModelOp& op, int batch, const Tiling& tiling) {
    return tileCount(model, op, batch, tiling) /
           (op.kind == OpKind::Product || op.kind == OpKind::Attention ? tiling.splits : 1);
}

void checkTiling(const Model& model, const ModelOp& op, const WorkerShape& shape,
                 const Tiling& tiling) {
    const auto fail = [&](const std::string& what) {
        throw LabError("tiling of \"" + op.name + "\" (" + model.name + "): " + what);
    };
    if (tiling.splits < 1) {
        fail("at least 1 split is needed");
    }
    if (op.kind != OpKind::Product) {
        return;
    }
    const int row_warps = tiling.rows_a_tile / 16;
    if (tiling.rows_a_tile % 16 != 0 || row_warps < 1 || shape.consumer_warps % row_warps != 0) {
        fail(std::to_string(tiling.rows_a_tile) + " rows a tile cannot be shared by " +
             std::to_string(shape.consumer_warps) + " warps");
    }
    if (op.rows % tiling.rows_a_tile != 0) {
        fail(std::to_string(op.rows) + " rows are not whole tiles of " +
             std::to_string(tiling.rows_a_tile));
    }
    const int columns = columnsAStage(shape, tiling);
    if (columns % 32 != 0 || columns == 0 || op.columns % (columns * tiling.splits) != 0) {
        fail(std::to_string(op.columns) + " columns are not " + std::to_string(tiling.splits) +
             " splits of whole stages of " + std::to_string(columns));
    }
    if (tiling.splits > 1 && op.epilogue == Epilogue::BestOfTile) {
        fail("a product that keeps the best of its tile cannot be split");
    }
}

} // namespace

void Scratch::cover(const Scratch& other) {
    product_partials = std::max(product_partials, other.product_partials);
    attention_partials = std::max(attention_partials, other.attention_partials);
    product_arrivals = std::max(product_arrivals, other.product_arrivals);
    attention_arrivals = std::max(attention_arrivals, other.attention_arrivals);
    candidates = std::max(candidates, other.candidates);
}

unsigned paddedBatch(int batch) {
    for (const int padded : {8, 16, 32, 64}) {
        if (batch <= padded && batch >= 1) {
            return static_cast<unsigned>(padded);
        }
    }
    throw LabError("kerf-lab: batch " + std::to_string(batch) + " is not in 1 … 64");
}

int tileCount(const Model& model, const ModelOp& op, int batch, const Tiling& tiling) {
    switch (op.kind) {
    case OpKind::Product:
        return op.rows / tiling.rows_a_tile * tiling.splits;
    case OpKind::Attention:
        return model.kv_heads * batch * tiling.splits;
    case OpKind::Embedding:
    case OpKind::Best:
        return batch;
    }
    return 0;
}

Tiling defaultTiling(const Model& model, const ModelOp& op, int batch, int workers,
                     const WorkerShape& shape) {
    Tiling tiling;
    if (op.kind == OpKind::Attention) {
        while (tileCount(model, op, batch, tiling) < workers &&
               model.context / (2 * tiling.splits) >= 32) {
            tiling.splits *= 2;
        }
        return tiling;
    }
    if (op.kind != OpKind::Product) {
        return tiling;
    }
    const auto slotBytes = [&] {
        return paddedBatch(batch) * activationStride(unsignedOf(columnsAStage(shape, tiling)));
    };
    while (slotBytes() > kSlotBytesMost && op.rows % (2 * tiling.rows_a_tile) == 0 &&
           tiling.rows_a_tile < 128) {
        tiling.rows_a_tile *= 2;
    }
    const int stages = op.columns / std::max(1, columnsAStage(shape, tiling));
    if (op.epilogue != Epilogue::BestOfTile) {
        for (int splits = 1; splits <= stages; ++splits) {
            if (stages % splits == 0) {
                tiling.splits = splits;
                if (tileCount(model, op, batch, tiling) >= workers) {
                    break;
                }
            }
        }
    }
    return tiling;
}

namespace {

/// Rings and scratch, from the greediest op of the region.
void sizeMemory(const Model& model, int batch, const WorkerShape& shape, RegionPlan& plan) {
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::uint32_t shared_heads = unsignedOf(model.heads / model.kv_heads);
    const std::uint32_t dim = unsignedOf(model.head_dim);
    plan.stage_bytes = shape.stage_bytes;
    plan.activation_slots = shape.activation_slots;
    // 32 positions of keys and values beside the queries, at least.
    std::uint32_t slot = (plan.kernel.kinds >> static_cast<unsigned>(OpKind::Attention) & 1U) != 0
                             ? shared_heads * dim * 2 + 32 * dim * 4
                             : 16;
    for (std::size_t i = 0; i < plan.executions.size(); ++i) {
        const ModelOp& op = model.ops[plan.executions[i].op];
        const Tiling& tiling = plan.tilings[plan.executions[i].op];
        Scratch needs;
        if (op.kind == OpKind::Product) {
            slot = std::max(slot, plan.kernel.padded_batch *
                                      activationStride(unsignedOf(columnsAStage(shape, tiling))));
            const std::size_t blocks = size(op.rows / tiling.rows_a_tile);
            if (tiling.splits > 1) {
                needs.product_arrivals = blocks;
                needs.product_partials =
                    blocks * size(tiling.splits) * size(batch) * size(tiling.rows_a_tile + 1);
            }
            if (op.epilogue == Epilogue::BestOfTile) {
                needs.candidates = blocks * size(batch);
            }
        } else if (op.kind == OpKind::Attention && tiling.splits > 1) {
            needs.attention_arrivals = size(model.kv_heads) * size(batch);
            needs.attention_partials =
                needs.attention_arrivals * size(tiling.splits) * shared_heads * (dim + 2);
        }
        plan.scratch.cover(needs);
    }
    plan.slot_bytes = (slot + 127) / 128 * 128;
    plan.positions_a_slot = (plan.slot_bytes - shared_heads * dim * 2) / (dim * 4) / 32 * 32;
    const auto bytesWith = [&](std::uint32_t stages) {
        return sharedLayout(plan.kernel.padded_batch, plan.kernel.consumer_warps, shared_heads, dim,
                            static_cast<std::uint32_t>(plan.executions.size()), plan.stage_bytes,
                            stages, plan.slot_bytes, plan.activation_slots)
            .total;
    };
    plan.weight_stages = 0;
    while (plan.weight_stages < shape.weight_stages_most &&
           bytesWith(plan.weight_stages + 1) <= shape.shared_bytes_most) {
        ++plan.weight_stages;
    }
    if (plan.weight_stages < 2) {
        throw LabError("region of " + std::to_string(plan.executions.size()) + " ops (" +
                       model.name + ", batch " + std::to_string(batch) +
                       "): its activations, sums and ops leave no room for two stages of weights "
                       "in shared memory; use more rows a tile or cut the region");
    }
    plan.shared_bytes = bytesWith(plan.weight_stages);
}

} // namespace

RegionPlan planRegion(const Model& model, int batch, const WorkerShape& shape,
                      std::span<const Tiling> tilings_by_op, const RegionRequest& request) {
    if (request.executions.empty() || request.workers < 1) {
        throw LabError("a region needs ops and at least one worker");
    }
    if (!shape.tensor_cores && batch > 4) {
        throw LabError("multiply-add workers take at most 4 requests, not " +
                       std::to_string(batch));
    }
    RegionPlan plan;
    plan.executions = request.executions;
    plan.tilings.assign(tilings_by_op.begin(), tilings_by_op.end());
    plan.kernel.padded_batch = paddedBatch(batch);
    plan.kernel.consumer_warps = static_cast<unsigned>(shape.consumer_warps);
    plan.kernel.tensor_cores = shape.tensor_cores;
    std::vector<std::vector<Task>> queues(static_cast<std::size_t>(request.workers));
    std::uint32_t event = 0;
    std::uint32_t event_before = kNoEvent; // of the execution before: its first group
    std::uint32_t groups_before = 1;
    std::uint32_t raises_before = 0; // of each group
    for (std::size_t i = 0; i < plan.executions.size(); ++i) {
        const ModelOp& op = model.ops[plan.executions[i].op];
        const Tiling tiling = tilings_by_op[plan.executions[i].op];
        checkTiling(model, op, shape, tiling);
        plan.kernel.kinds |= 1U << static_cast<unsigned>(op.kind);
        if (op.kind == OpKind::Product) {
            plan.kernel.epilogues |= 1U << static_cast<unsigned>(op.epilogue);
        }
        // Events in groups where the next execution of the region can use them.
        const std::uint32_t blocks = unsignedOf(outputBlocks(model, op, batch, tiling));
        std::uint32_t groups = 1;
        if (i + 1 < plan.executions.size() && i + 1 < request.grains.size() &&
            request.grains[i + 1] == Grain::Aligned && op.epilogue == Epilogue::RotaryAppend &&
            model.ops[plan.executions[i + 1].op].kind == OpKind::Attention) {
            groups = std::gcd(unsignedOf(model.kv_heads), blocks);
        }
        const std::uint32_t tiles = unsignedOf(tileCount(model, op, batch, tiling));
        const Assignment* assignment =
            i < request.assignments.size() && !request.assignments[i].empty()
                ? &request.assignments[i]
                : nullptr;
        if (assignment != nullptr && assignment->size() != tiles) {
            throw LabError("\"" + op.name + "\" has " + std::to_string(tiles) +
                           " tiles, but workers are given for " +
                           std::to_string(assignment->size()));
        }
        for (std::uint32_t tile = 0; tile < tiles; ++tile) {
            Task task;
            task.op = static_cast<std::uint32_t>(i);
            task.tile = tile;
            if (event_before != kNoEvent) {
                task.wait_event = event_before + tile * groups_before / tiles;
                task.wait_count = raises_before;
            }
            task.signal_event = event + tile % blocks * groups / blocks;
            const std::uint32_t worker =
                assignment != nullptr ? (*assignment)[tile] : tile % unsignedOf(request.workers);
            if (worker >= unsignedOf(request.workers)) {
                throw LabError("\"" + op.name + "\", tile " + std::to_string(tile) +
                               ": there is no worker " + std::to_string(worker));
            }
            queues[worker].push_back(task);
        }
        event_before = event;
        groups_before = groups;
        raises_before = blocks / groups;
        event += groups;
    }
    plan.events = event;
    plan.task_begin.push_back(0);
    for (const auto& queue : queues) {
        plan.tasks.insert(plan.tasks.end(), queue.begin(), queue.end());
        plan.task_begin.push_back(static_cast<std::uint32_t>(plan.tasks.size()));
    }
    sizeMemory(model, batch, shape, plan);
    return plan;
}

std::vector<DeviceOp> bindOps(const Model& model, const RegionPlan& plan, const Memory& memory) {
    std::vector<DeviceOp> ops;
    const auto buffer = [&](int index) {
        return index < 0 ? nullptr : memory.buffers[static_cast<std::size_t>(index)];
    };
    const auto widthOf = [&](int index) {
        return index < 0 ? 0U : unsignedOf(model.buffers[static_cast<std::size_t>(index)].width);
    };
    for (std::size_t i = 0; i < plan.executions.size(); ++i) {
        const Execution& execution = plan.executions[i];
        const ModelOp& op = model.ops[execution.op];
        const Tiling& tiling = plan.tilings[execution.op];
        DeviceOp device;
        device.kind = op.kind;
        device.epilogue = op.epilogue;
        device.norm = op.norm ? 1 : 0;
        device.splits = unsignedOf(tiling.splits);
        device.input = buffer(op.input);
        device.output = buffer(op.output);
        device.output_width = widthOf(op.output);
        device.candidates = memory.candidates;
        switch (op.kind) {
        case OpKind::Embedding:
            device.weights = memory.weights(execution);
            break;
        case OpKind::Product:
            device.weights = memory.weights(execution);
            device.columns = unsignedOf(op.columns);
            device.rows_a_tile = unsignedOf(tiling.rows_a_tile);
            device.row_blocks = unsignedOf(op.rows / tiling.rows_a_tile);
            device.columns_a_stage = plan.stage_bytes / 2 / device.rows_a_tile;
            device.stages = device.columns / device.splits / device.columns_a_stage;
            device.partials = memory.product_partials;
            device.arrivals = memory.product_arrivals;
            if (op.epilogue == Epilogue::RotaryAppend) {
                device.keys = memory.keys[static_cast<std::size_t>(execution.layer)];
                device.values = memory.values[static_cast<std::size_t>(execution.layer)];
            }
            break;
        case OpKind::Attention:
            device.keys = memory.keys[static_cast<std::size_t>(execution.layer)];
            device.values = memory.values[static_cast<std::size_t>(execution.layer)];
            device.partials = memory.attention_partials;
            device.arrivals = memory.attention_arrivals;
            break;
        case OpKind::Best: // the product before it, which may be in another region
            device.row_blocks = unsignedOf(model.ops[execution.op - 1].rows /
                                           plan.tilings[execution.op - 1].rows_a_tile);
            break;
        }
        ops.push_back(device);
    }
    return ops;
}

RegionArguments regionArguments(const Model& model, int batch, const RegionPlan& plan) {
    RegionArguments region;
    region.op_count = static_cast<std::uint32_t>(plan.executions.size());
    region.batch = unsignedOf(batch);
    region.shared_heads = unsignedOf(model.heads / model.kv_heads);
    region.kv_heads = unsignedOf(model.kv_heads);
    region.head_dim = unsignedOf(model.head_dim);
    region.context = unsignedOf(model.context);
    region.vocabulary = unsignedOf(model.vocabulary);
    region.norm_epsilon = static_cast<float>(model.norm_epsilon);
    region.score_scale = 1.0F / std::sqrt(static_cast<float>(model.head_dim));
    region.stage_bytes = plan.stage_bytes;
    region.weight_stages = plan.weight_stages;
    region.slot_bytes = plan.slot_bytes;
    region.activation_slots = plan.activation_slots;
    region.positions_a_slot = plan.positions_a_slot;
    return region;
}

} // namespace kerf::lab

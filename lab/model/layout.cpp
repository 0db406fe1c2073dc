// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/model/layout.h"

namespace kerf::lab {

int matrixRow(const Model& model, const ModelOp& op, int packed) {
    if (op.epilogue == Epilogue::GatedSilu) {
        return packed / 2 + packed % 2 * (op.rows / 2);
    }
    if (op.epilogue != Epilogue::RotaryAppend) {
        return packed;
    }
    const int dim = model.head_dim;
    const int shared = model.heads / model.kv_heads; // q heads of a group
    const int group = packed / ((shared + 2) * dim);
    const int slot = packed / dim % (shared + 2);
    const int within = packed % dim;
    const int rotated = within / 2 + within % 2 * (dim / 2);
    if (slot < shared) {
        return (group * shared + slot) * dim + rotated;
    }
    if (slot == shared) {
        return (model.heads + group) * dim + rotated;
    }
    return (model.heads + model.kv_heads + group) * dim + within;
}

std::size_t packedOffset(const ModelOp& op, int rows_a_tile, int columns_a_stage, int packed,
                         int column) {
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::size_t stage_values = size(rows_a_tile) * size(columns_a_stage);
    const std::size_t stages_a_block = size(op.columns / columns_a_stage);
    const std::size_t stage =
        size(packed / rows_a_tile) * stages_a_block + size(column / columns_a_stage);
    const std::size_t block = size(packed % rows_a_tile / 16) * size(columns_a_stage / 32) +
                              size(column % columns_a_stage / 32);
    const std::size_t half = size(packed % 16 / 8);
    const std::size_t lane = size(4 * (packed % 8) + column % 32 / 8);
    return stage * stage_values + block * 512 + half * 256 + lane * 8 + size(column % 8);
}

} // namespace kerf::lab

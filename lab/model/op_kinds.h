// SPDX-License-Identifier: GPL-3.0-or-later
// What an op computes: shared by the model files and the kernels.
#pragma once

#include <cstdint>

namespace kerf::lab {

enum class OpKind : std::uint32_t {
    Embedding, ///< output = row of the table that the request's token names
    Product,   ///< output = epilogue(weights × input), weights [rows][columns]
    Attention, ///< output = softmax(q·Kᵀ/√head_dim)·V over the KV cache, current position included
    Best,      ///< token = row of the largest logit, the lowest row among equals
};

enum class Epilogue : std::uint32_t {
    Store,        ///< output[row] = value
    RotaryAppend, ///< rows are q heads, k heads, v heads: rotate q and k, append k and v to the
                  ///< cache
    Residual,     ///< output[row] += value
    GatedSilu,    ///< rows are gates, then ups: output[i] = silu(gate i)·up i
    BestOfTile,   ///< keeps the largest value of each tile and its row, for Best
};

} // namespace kerf::lab

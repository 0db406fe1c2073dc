// SPDX-License-Identifier: GPL-3.0-or-later
// A model as data: the ops of one step with their shapes, read from a file in lab/models. Every
// backend, the benchmarks and the reference work from this alone.
#pragma once

#include "lab/model/op_kinds.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::lab {

/// One op of the step. Buffers hold `width` bfloat16 values a request.
struct ModelOp {
    std::string name;
    OpKind kind = OpKind::Product;
    int rows = 0;      ///< products only
    int columns = 0;   ///< products only: width of the input
    bool norm = false; ///< products only: the input is divided by its root mean square
    Epilogue epilogue = Epilogue::Store;
    int input = -1;  ///< index into Model::buffers; −1: none (embedding), or the op before (Best)
    int output = -1; ///< index into Model::buffers; −1: not a buffer
    std::string key; ///< as Kerf names it: "decode/layer/product.1"
};

struct Buffer {
    std::string name;
    int width = 0; ///< values a request
};

struct Model {
    std::string name;
    std::string source;
    std::string stage;
    int context = 0; ///< positions of the KV cache, the current one included
    int heads = 0;
    int kv_heads = 0;
    int head_dim = 0;
    double rotary_base = 0;
    double norm_epsilon = 0;
    int vocabulary = 0;
    int layers = 0;
    std::vector<Buffer> buffers;
    std::vector<ModelOp> ops;    ///< prefix, one layer, suffix
    std::size_t layer_begin = 0; ///< ops[layer_begin, layer_end) are the layer
    std::size_t layer_end = 0;
};

/// An op in a layer: what a step executes in order.
struct Execution {
    std::size_t op = 0; ///< index into Model::ops
    int layer = 0;      ///< 0 outside layers
    bool operator==(const Execution&) const = default;
};
[[nodiscard]] std::vector<Execution> executionsOf(const Model& model);

/// Bytes of weights that a step reads, each once; of the embedding only the rows of `batch` tokens.
[[nodiscard]] double weightBytes(const Model& model, int batch);
/// Bytes of keys and values that a step reads.
[[nodiscard]] double cacheBytes(const Model& model, int batch);

/// Throws LabError that names the field: what is wrong, and what would be right.
[[nodiscard]] Model parseModel(std::string_view json);

} // namespace kerf::lab

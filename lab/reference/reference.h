// SPDX-License-Identifier: GPL-3.0-or-later
// The step in double precision, straight from the model's definition: what every backend is
// compared with. Weights are the same bfloat16 values; nothing else is rounded.
#pragma once

#include "lab/model/bfloat16.h"
#include "lab/model/model.h"

#include <cstdint>
#include <vector>

namespace kerf::lab {

/// Value (row, column) of an op's matrix (or an embedding's table), rows as the model counts them.
[[nodiscard]] BFloat16 weightValue(const Model& model, std::uint64_t seed,
                                   const Execution& execution, int row, int column);
/// Names an op's matrix and its range in random.h, for kernels that fill it.
struct TensorName {
    std::uint32_t tensor = 0;
    float range = 0;
};
[[nodiscard]] TensorName tensorName(const Model& model, const Execution& execution);
/// Cached key (or value) of a layer before the step, [request][kv head][position][dimension].
[[nodiscard]] BFloat16 cachedValue(std::uint64_t seed, bool is_value, int layer,
                                   std::uint64_t index);
/// cos and sin of each rotated pair, [context][head_dim / 2][2].
[[nodiscard]] std::vector<float> rotaryTable(const Model& model);

struct ReferenceStep {
    std::vector<std::vector<double>> buffers; ///< at the step's end, [buffer][request · width]
    std::vector<std::vector<double>> keys;    ///< appended, [layer][(request, kv head) · head_dim]
    std::vector<std::vector<double>> values;
    std::vector<double> logits; ///< [request][vocabulary]
    std::vector<std::uint32_t> tokens;
};

/// One step at `position` for requests whose last tokens are `tokens`. Uses all cores.
[[nodiscard]] ReferenceStep referenceStep(const Model& model, std::uint64_t seed, int position,
                                          const std::vector<std::uint32_t>& tokens);

} // namespace kerf::lab

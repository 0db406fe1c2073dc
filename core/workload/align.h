// SPDX-License-Identifier: GPL-3.0-or-later
// Names for ops that hold at every batch size, and the pairing of ops between batch sizes.
#pragma once

#include "core/workload/workload.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace kerf::workload {

enum class Section : std::uint8_t { Prefix, Layer, Suffix };

/// Where an op lies in its folded stage. Unfolded stages are all prefix.
struct FoldPosition {
    Section section = Section::Prefix;
    std::size_t layer = 0;  ///< 0 … count − 1; 0 outside layers
    std::size_t offset = 0; ///< within the prefix, the layer or the suffix
};
[[nodiscard]] FoldPosition foldPosition(const Fold& fold, std::size_t op);

/// A name for each op of a stage, the same at every batch size and in every layer. Anchors are
/// counted by role within their section: "prefix/embedding.1", "layer/product.2". Helper ops are
/// counted after the anchor that they follow: "layer/product.2+activation.1", "layer/+norm.1".
/// Unique within a section, and within one layer.
[[nodiscard]] std::vector<std::string> opKeys(const Stage& stage);

using OpPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Pairs the ops of one stage at two batch sizes: indices into `a.ops` and `b.ops`, both rising.
/// Roles must agree (a product may stand for a convolution: libraries swap them), anchors weigh
/// more than helpers, and where both stages have the same number of layers, layer goes to layer.
[[nodiscard]] OpPairs alignOps(const Stage& a, const Stage& b);

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
// One node of a stage, and what it does.
#pragma once

#include "core/trace/recording.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::workload {

/// What an op does, told from its kernel name. The same in every library and at every batch size.
enum class OpRole : std::uint8_t {
    Product,     ///< matrix product: cuBLAS, nvjet, CUTLASS, Triton mm, gemv
    Reduction,   ///< second half of a split-K product
    Attention,   ///< fused attention (flash, cuDNN SDPA, split-KV and its combine)
    Convolution, ///< convolution and transposed convolution
    Embedding,   ///< gather from a table
    Norm,        ///< RMSNorm, LayerNorm, also with a fused residual add
    Rotary,      ///< rotary embedding, q/k norm, head split
    CacheAppend, ///< writes K or V into the cache
    Activation,  ///< SiLU·up, GELU, snake
    Residual,    ///< add to the residual stream
    Mask,        ///< attention mask and other attention preparation
    Sample,      ///< argmax, softmax, top-k over the logits
    Layout,      ///< transposes and layout conversions
    Elementwise, ///< any other pointwise kernel
    Copy,        ///< memcpy
    Memset,      ///< memset
    Other,
};

/// The six colours of a picture; see docs/user-guide.
enum class OpClass : std::uint8_t { Product, Attention, Elementwise, Convolution, Embedding, Copy };

[[nodiscard]] std::string_view toString(OpRole role); ///< "product", "cache-append", …
[[nodiscard]] OpClass classOf(OpRole role);
/// Ops that every library has: products, attention, convolutions, embeddings, sampling. Other ops
/// come and go with batch size and library; they are named after the anchor that they follow.
[[nodiscard]] bool isAnchor(OpRole role);
[[nodiscard]] std::string_view toString(OpClass opClass); ///< "matrix product", …

/// Role of an activity from its kind and (demangled) kernel name. Never fails: Other where unknown.
[[nodiscard]] OpRole roleOf(trace::ActivityKind kind, std::string_view kernelName);

/// Short readable name for labels and tooltips, e.g. "nvjet 64x8" or "rms_norm".
[[nodiscard]] std::string shortName(std::string_view kernelName);

/// One node of a stage, with what all its executions had in common and every sample of its times.
struct Op {
    std::string kernel; ///< full name
    OpRole role = OpRole::Other;
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers_per_thread = 0;
    std::uint32_t shared_bytes = 0;
    std::uint64_t bytes = 0; ///< copies and memsets only
    std::int64_t stream = 0; ///< of the first instance
    double duration_us = 0;  ///< robust centre over the samples, as recorded
    double gap_us = 0;       ///< robust centre of the idle time between the latest end of the ops
                             ///< that it is after (directly or through others) and its start, as
                             ///< recorded; negative where it overlaps one; from the stage's start
                             ///< where it is after none; 0 for the first op of a stage (see
                             ///< Stage::entry_gap_us)
    std::vector<float> duration_samples_us; ///< one a counted instance, in order of time
    std::vector<float> gap_samples_us;      ///< the same; as many as durations
    std::vector<std::uint32_t> follows{1};  ///< the ops of the stage that it waits for, counted
                                            ///< back: 1 is the op before it, several where branches
                                            ///< join. Beyond the stage's first op: it starts the
                                            ///< stage; empty: it is one of several that do
};

} // namespace kerf::workload

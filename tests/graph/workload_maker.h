// SPDX-License-Identifier: GPL-3.0-or-later
// Small workloads written down by hand.
#pragma once

#include "core/workload/workload.h"

namespace kerf::test {

inline workload::Op op(workload::OpRole role, double durationUs, double gapUs,
                       std::uint32_t blocks = 132, std::uint32_t sharedBytes = 0) {
    workload::Op made;
    made.kernel = std::string(workload::toString(role));
    made.role = role;
    made.grid = {blocks, 1, 1};
    made.block = {256, 1, 1};
    made.registers_per_thread = 64;
    made.shared_bytes = sharedBytes;
    made.duration_us = durationUs;
    made.gap_us = gapUs;
    made.duration_samples_us = {static_cast<float>(durationUs)};
    made.gap_samples_us = {static_cast<float>(gapUs)};
    return made;
}

/// embedding, `layers` × (norm, product, attention, product, residual), norm, product, sample.
inline workload::Stage transformerStage(const std::string& name, std::size_t layers, double scale,
                                        double entryGapUs) {
    using workload::OpRole;
    workload::Stage stage;
    stage.name = name;
    stage.entry_gap_us = entryGapUs;
    stage.ops.push_back(op(OpRole::Embedding, 3 * scale, 0, 16));
    for (std::size_t i = 0; i < layers; ++i) {
        stage.ops.push_back(op(OpRole::Norm, 2 * scale, 0.5, 1));
        stage.ops.push_back(op(OpRole::Product, 10 * scale, 0.5, 128, 160 * 1024));
        stage.ops.push_back(op(OpRole::Attention, 6 * scale, 0.5, 32));
        stage.ops.push_back(op(OpRole::Product, 8 * scale, 0.5, 128, 160 * 1024));
        stage.ops.push_back(op(OpRole::Residual, 1 * scale, 0.5, 8));
    }
    stage.ops.push_back(op(OpRole::Norm, 2 * scale, 0.5, 1));
    stage.ops.push_back(op(OpRole::Product, 40 * scale, 0.5, 132, 160 * 1024));
    stage.ops.push_back(op(OpRole::Sample, 4 * scale, 0.5, 1));
    stage.fold = {1, 5, layers, 3};
    return stage;
}

/// prefill, 4 × inner, outer, 4 × inner, outer, 4 × inner, tail: a loop entered in its middle.
inline workload::Workload speechLike() {
    workload::Workload workload;
    workload.model = "toy";
    workload.batch = 1;
    workload.stages = {
        transformerStage("prefill", 3, 2.0, 0), transformerStage("inner", 2, 0.5, 1.5),
        transformerStage("outer", 3, 1.0, 2.5), transformerStage("tail", 2, 1.5, 3.5)};
    workload.path = {{0, 1}, {1, 4}, {2, 1}, {1, 4}, {2, 1}, {1, 4}, {3, 1}};
    return workload;
}

} // namespace kerf::test

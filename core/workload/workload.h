// SPDX-License-Identifier: GPL-3.0-or-later
// A workload: one model at one batch size, as stages of ops and a path to the first output.
#pragma once

#include "core/base/error.h"
#include "core/workload/op.h"

#include <optional>
#include <string>
#include <vector>

namespace kerf::workload {

/// Layers of a stage: ops = prefix + period × count + suffix. count 0: not folded (all prefix).
struct Fold {
    std::size_t prefix = 0; ///< ops before the first layer
    std::size_t period = 0; ///< ops a layer
    std::size_t count = 0;  ///< layers
    std::size_t suffix = 0; ///< ops after the last layer
};

/// One execution of a stage.
struct Instance {
    std::int64_t start_ns = 0; ///< first op's start, relative to Recording::base_time_ns
    std::int64_t end_ns = 0;   ///< last op's end
};

/// A part of the path that is launched as one unit.
struct Stage {
    std::string name;
    std::vector<Op> ops;
    Fold fold;
    double entry_gap_us = 0; ///< robust centre of the idle time between the previous stage's last op
                             ///< and this stage's first, within a path; 0 where it only starts paths
    std::vector<float> entry_gap_samples_us;
    std::vector<Instance> instances;
};

/// `repeats` executions of stage `stage`, one after another.
struct PathStep {
    std::size_t stage = 0;
    int repeats = 1;
    bool operator==(const PathStep&) const = default;
};
/// From request to first output.
using Path = std::vector<PathStep>;

/// Untraced timings of the same run: the truth that a replay is held against.
struct Untraced {
    struct Timing {
        double p50_us = 0;
        double p95_us = 0;
        std::vector<double> samples_us;
    };
    std::vector<std::pair<std::string, Timing>> stages; ///< by stage name
    std::optional<Timing> first_output;                 ///< the whole path
};

struct Workload {
    std::string model;
    int batch = 1;
    std::vector<Stage> stages; ///< in order of first execution
    Path path;
    int requests = 0; ///< executions of the path in the recording
    Untraced untraced;
    std::vector<std::string> notes; ///< what was assumed, one sentence each
};

/// Finds stages, layers and the path of a recording: annotated ranges that enclose graph launches,
/// else graph launches with the same kernel sequence, else runs of activities between gaps.
/// Errors: no GPU work; nothing that repeats in a usable way is no error (one stage, one step).
[[nodiscard]] Expected<Workload> buildWorkload(const trace::Recording& recording, std::string model,
                                               int batch);

/// Longest, most repeated run of layers in a sequence of op signatures. Layers must agree in roles
/// and kernels but may differ in helper ops (memsets).
[[nodiscard]] Fold findFold(const std::vector<Op>& ops);

/// Text form of a path, and back: "prefill, 15 × code_predictor_step, …". Also accepts "x" and "*".
/// Errors: unknown stage, repeats < 1, syntax; each names the place.
[[nodiscard]] std::string formatPath(const Workload& workload, const Path& path);
[[nodiscard]] Expected<Path> parsePath(const Workload& workload, std::string_view text);

} // namespace kerf::workload

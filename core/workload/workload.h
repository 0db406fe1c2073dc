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
    std::int64_t end_ns = 0;   ///< latest end of its ops
    bool counted = true; ///< gave samples; false where its kernels differ from the stage's ops
};

/// A part of the path that is launched as one unit.
struct Stage {
    std::string name;
    std::vector<Op> ops;
    Fold fold;
    double entry_gap_us =
        0; ///< robust centre of the idle time between the previous stage's last op
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

/// Finds stages, layers and the path of a recording. A stage is named by the innermost host
/// annotation around its graph launch, else after launches with the same kernel sequence
/// ("graph 1"); work outside graphs is split by annotated ranges around its launch calls, else at
/// gaps. The path is what one enclosing annotation ("request") holds, else the smallest period of
/// the stage sequence, else everything. `untraced` is left empty (see readUntraced).
/// Errors: no GPU work; nothing that repeats in a usable way is no error (one stage, one step).
[[nodiscard]] Expected<Workload> buildWorkload(const trace::Recording& recording, std::string model,
                                               int batch);

/// The repetition that covers most of `ops`, starting at the norm that begins a layer. Layers have
/// the same number of ops and the same kernels; at both ends layers whose helper ops differ but
/// whose anchors agree are taken in too. Not folded where less than a quarter of the ops repeats.
[[nodiscard]] Fold findFold(const std::vector<Op>& ops);

/// Centre of a set of samples in µs: their mean without accidents (samples beyond 2 medians + 10
/// µs). A mean, because centres of gaps and durations are added up to the time of a path, and only
/// means add up: gaps are skewed to the right, so the sum of medians or of trimmed means is too
/// short (on 8,500-node paths by 0.5 % with a tenth trimmed). 0 where there are no samples.
[[nodiscard]] double robustCentre(std::vector<float> samples);

/// Text form of a path, and back: "prefill, 15 × code_predictor_step, …". Parsing also accepts "x"
/// and "*" for "×", and loops: "4 × (talker_step, 15 × code_predictor_step)".
/// Errors: unknown stage, repeats < 1 or beyond a million steps, syntax; each names the place.
[[nodiscard]] std::string formatPath(const Workload& workload, const Path& path);
[[nodiscard]] Expected<Path> parsePath(const Workload& workload, std::string_view text);

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
// Tracing correction, and the replay of the conventional run that every claim rests on.
#pragma once

#include "core/workload/workload.h"

namespace kerf::workload {

/// What node-level tracing adds to each node. Taken off gaps first, then off durations.
struct TracingCorrection {
    double us_per_node = 0;
    std::string source; ///< where the figure comes from
};

/// The workload with the correction applied to every gap and duration (centres and samples). The
/// gap of a stage's first op is its entry gap. A gap is never made negative by it; what does not
/// fit into the gap is taken off the duration, which keeps at least 0.
[[nodiscard]] Workload corrected(const Workload& traced, const TracingCorrection& correction);

/// Time of the path as recorded: ops and gaps along the path, and entry gaps between stages. µs.
[[nodiscard]] double replayUs(const Workload& workload);
/// The same for one execution of a stage, without its entry gap: its longest path (branches.h). µs.
[[nodiscard]] double stageUs(const Stage& stage);

struct ReplayRow {
    std::string model;
    int batch = 1;
    double predicted_us = 0; ///< from the recording as traced
    double corrected_us = 0; ///< with the tracing correction
    double measured_us = 0;  ///< untraced p50; 0 where the workload has none
    [[nodiscard]] bool hasMeasurement() const { return measured_us > 0; }
    /// Relative errors, 0.01 = 1 % too long. 0 where there is no measurement.
    [[nodiscard]] double predictedError() const {
        return hasMeasurement() ? predicted_us / measured_us - 1 : 0;
    }
    [[nodiscard]] double correctedError() const {
        return hasMeasurement() ? corrected_us / measured_us - 1 : 0;
    }
};

[[nodiscard]] ReplayRow replay(const Workload& workload, const TracingCorrection& correction);

/// Untraced timings for `model` and `batch` from a file in the structure of runs.json:
/// {"runs": {NAME: {"model", "batch", "uninstrumented_us": {STAGE: {"p50","p95","samples"}},
/// "first_output_uninstrumented_us": {…}}}}. Errors: unreadable, other structure, no such run.
[[nodiscard]] Expected<Untraced> readUntraced(const std::string& path, const std::string& model,
                                              int batch);

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
// Second step: units with the same kernels become stages, and their times become samples.
#pragma once

#include "core/workload/units.h"
#include "core/workload/workload.h"

#include <vector>

namespace kerf::workload {

struct StagesOfUnits {
    std::vector<Stage> stages;      ///< by first execution; entry gaps and folds not yet filled
    std::vector<std::size_t> stage; ///< of each unit
    std::vector<std::string> notes;
};

/// Groups units of one name by the kernel sequences of their streams. A stage's ops are its most
/// frequent sequence; executions that differ a little belong to the stage but give no samples, and
/// a note says so.
[[nodiscard]] StagesOfUnits groupStages(const trace::Recording& recording, const Units& units);

} // namespace kerf::workload

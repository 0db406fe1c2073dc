// SPDX-License-Identifier: GPL-3.0-or-later
// What each effect of the model contributes: the error with that effect switched off.
#pragma once

#include "core/validation/validation.h"

namespace kerf::validation {

struct AblationRow {
    std::string effect; ///< what was switched off; "nothing" first
    ErrorSummary error;
    double mean_shift = 0; ///< mean of prediction / prediction with all effects − 1
    bool order_right = true;
};

/// Predicts all cases with one effect after another switched off. Errors: as validate().
[[nodiscard]] Expected<std::vector<AblationRow>>
ablate(const ChainFile& file, const cost::Hardware& hardware, Progress& progress);

} // namespace kerf::validation

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "lab/common/calibration.h"

namespace kerf::lab {

/// Measures everything on CUDA device `device`; progress goes to stderr. `quick` repeats less.
/// Throws LabError: no such device, one older than Hopper, a failed CUDA call, a wrong result, a
/// wait that ran out.
[[nodiscard]] Calibration calibrate(int device, bool quick);

} // namespace kerf::lab

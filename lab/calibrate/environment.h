// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "lab/common/calibration.h"

#include <cuda_runtime.h>

namespace kerf::lab {

[[nodiscard]] Limits readLimits(const cudaDeviceProp& properties);
/// GPU, driver, CUDA, date, memory clock; the SM clocks are the caller's to measure.
[[nodiscard]] Environment readEnvironment(const cudaDeviceProp& properties);

} // namespace kerf::lab

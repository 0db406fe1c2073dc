// SPDX-License-Identifier: GPL-3.0-or-later
// What one would predict without a simulator.
#pragma once

#include "core/cost/hardware.h"
#include "core/validation/chain.h"

namespace kerf::validation {

/// The conventional kernels without the launch gaps that fusing removes; the memset nodes before
/// each region are added, as in the measurement. µs.
[[nodiscard]] double launchGapSubtractionUs(const ChainFile& file, const MeasuredChain& chain,
                                            std::size_t regions, const cost::Hardware& hardware);

/// Bytes over bandwidth: every cut costs nothing. µs.
[[nodiscard]] double rooflineUs(const ChainFile& file, const MeasuredChain& chain,
                                const cost::Hardware& hardware);

} // namespace kerf::validation

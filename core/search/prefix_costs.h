// SPDX-License-Identifier: GPL-3.0-or-later
// Many region costs from few simulations: one forward simulation from a cut gives the time at which
// every later op is complete, and so the cost of every region that starts there.
#pragma once

#include "core/base/progress.h"
#include "core/search/predictor.h"

#include <map>
#include <span>

namespace kerf::search {

struct PrefixCosts {
    std::map<graph::Region, double> us; ///< one launch as a megakernel, boundary included;
                                        ///< +infinity where it cannot run
    std::size_t simulations = 0;
};

/// Costs of `regions` as megakernels. A region that is the beginning of a longer one on the same
/// workers takes its cost from the longer one's simulation. That is an approximation: the longer
/// one already loads weights of ops that the shorter one does not have. So it ranks compositions;
/// those that are reported are simulated whole. Errors: cancelled; an engine error.
[[nodiscard]] Expected<PrefixCosts>
prefixCosts(const Case& theCase, std::span<const graph::Region> regions, Progress& progress);

} // namespace kerf::search

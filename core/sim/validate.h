// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/sim/region_graph.h"

namespace kerf::sim {

/// Whether simulate() can run this. Errors: as simulate() says.
[[nodiscard]] Expected<void> validate(const RegionGraph& graph, const Machine& machine);

} // namespace kerf::sim

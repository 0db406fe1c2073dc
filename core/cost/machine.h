// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/footprint.h"
#include "core/sim/region_graph.h"

namespace kerf::cost {

/// The machine that a region with worker footprint `footprint` runs on: workers = SMs × residency,
/// ring = what shared memory the SM has left for each worker, rates from the measured curves.
/// Errors: the footprint does not fit an SM (says which limit).
[[nodiscard]] Expected<sim::Machine> machineFor(const Hardware& hardware,
                                                const Footprint& footprint,
                                                sim::Policy policy = sim::Policy::RoundRobin);

/// What a launch of a megakernel costs beside its region's makespan: the graph node, set-up and
/// drain. µs. `programmatic`: launched with a programmatic edge.
[[nodiscard]] double boundaryUs(const Hardware& hardware, bool programmatic = false);

} // namespace kerf::cost

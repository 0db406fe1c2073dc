// SPDX-License-Identifier: GPL-3.0-or-later
// The one bound that no design passes: bytes over bandwidth.
#pragma once

#include "core/base/error.h"
#include "core/sim/region_graph.h"

namespace kerf::sim {

/// µs that device memory needs for all bytes of a region, loops included.
[[nodiscard]] double bandwidthFloorUs(const RegionGraph& graph, double memoryGbps);

/// Refuses a region's time that is shorter than its bytes take. Such a time is no prediction but
/// a fault of its inputs. Errors: names the op with the most bytes, both times and what to check.
[[nodiscard]] Expected<void> checkBandwidthFloor(const RegionGraph& graph, double us,
                                                 double memoryGbps);

/// The same for one op of which only bytes and a time are known.
[[nodiscard]] Expected<void> checkBandwidthFloor(const std::string& op, double bytes, double us,
                                                 double memoryGbps);

} // namespace kerf::sim

// SPDX-License-Identifier: GPL-3.0-or-later
// Programmatic dependent launch: the conventional path with it, and region boundaries with it.
#pragma once

#include "core/search/predictor.h"

#include <span>

namespace kerf::search {

/// The conventional path with a programmatic edge between every two kernels of a stage. An
/// estimate: only the launch gap shrinks. What a kernel's start overlaps with the tail of the one
/// before it is not known from a recording and not counted, so the true gain may be larger.
struct ProgrammaticBaseline {
    double us = 0;          ///< path's time
    double saved_us = 0;    ///< below the conventional path without
    double per_edge_us = 0; ///< most that an edge saves: launch_gap_us − launch_gap_pdl_us, ≥ 0
    std::int64_t edges = 0; ///< along the path
};
/// Each gap between two kernels shrinks by `per_edge_us`, at most to zero. Gaps in front of a stage
/// stay: an edge does not leave its graph. So do gaps beside copies and memsets, which have no such
/// edge.
[[nodiscard]] ProgrammaticBaseline conventionalProgrammatic(const Case& theCase);

/// What consecutive megakernels overlap along the path, µs, estimated: of each pair the shorter of
/// the first one's tail and the second one's prologue with the ramp of its first load. `regions` in
/// the order of graph::regionsOf.
[[nodiscard]] double overlapUs(const Case& theCase, const graph::Chain& chain,
                               const graph::Composition& composition,
                               std::span<const RegionPrediction> regions);

} // namespace kerf::search

// SPDX-License-Identifier: GPL-3.0-or-later
// The beginnings of a region are regions too, and share its simulation up to where they end.
#pragma once

#include "core/sim/engine.h"

#include <optional>
#include <span>

namespace kerf::sim {

/// The executions of a region up to one of them: ops[0, ops). Of the loops that end there the
/// `loops_ended` innermost run all their iterations; those around them, and loops that reach
/// beyond, are in their first.
struct Beginning {
    OpIndex ops = 0;
    std::uint32_t loops_ended = 0;
};

/// Whether a loop of the region runs all its iterations within the beginning.
[[nodiscard]] bool isWhole(const std::vector<Loop>& loops, const Beginning& beginning,
                           std::uint32_t loop);

/// The beginning as a region of its own.
[[nodiscard]] RegionGraph regionOf(const RegionGraph& graph, const Beginning& beginning);

/// The beginning that consists of the region's first `ops` ops with the loops `part` over them, if
/// there is one. `loops`: those of the region.
[[nodiscard]] std::optional<Beginning> beginningOf(const std::vector<Loop>& loops, OpIndex ops,
                                                   const std::vector<Loop>& part);

/// Simulates beginnings of one region, each as simulate(regionOf(graph, beginning), machine) would,
/// bit for bit (but for the rounding of `wait_us` and `loaded_bytes`): the region runs twice, once
/// to see when each beginning comes to its last execution, and once to leave a copy there that runs
/// to its own end. One result a beginning, in their order.
/// Errors: those of simulate(), for each beginning by itself.
[[nodiscard]] std::vector<Expected<RegionResult>>
simulateBeginnings(const RegionGraph& graph, const Machine& machine,
                   std::span<const Beginning> beginnings);

} // namespace kerf::sim

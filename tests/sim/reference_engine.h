// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's definitions (docs/engine.md) executed as they stand: every tile in a list, every
// rate recomputed at every step, every condition looked at again until nothing changes. Slow,
// obvious and without a line of core/sim but the input.
#pragma once

#include "core/sim/region_graph.h"

#include <cstdint>
#include <vector>

namespace kerf::test {

struct ReferenceTile {
    sim::OpIndex op = 0;
    std::uint32_t iteration = 0;
    std::uint32_t tile = 0;
    int worker = -1;
    double load_start_us = 0;
    double load_end_us = 0;
    double start_us = 0;
    double end_us = 0;
};

struct ReferenceResult {
    double makespan_us = 0;
    std::vector<ReferenceTile> tiles; ///< in program order
};

[[nodiscard]] ReferenceResult referenceSimulate(const sim::RegionGraph& graph,
                                                const sim::Machine& machine);

} // namespace kerf::test

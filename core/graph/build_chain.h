// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/cost/bench_table.h"
#include "core/cost/ncu_match.h"
#include "core/graph/chain.h"
#include "core/graph/fusion_rules.h"
#include "core/workload/path_tree.h"

namespace kerf::graph {

/// What replaces estimates of tier 1, where it is there.
struct MeasuredCosts {
    const cost::BenchTable* benchmarks = nullptr;              ///< of the workload's model
    const cost::MatchedCounters* counters = nullptr;           ///< of the workload
    const cost::MatchedCounters* reference_counters = nullptr; ///< of the reference workload
};

/// The chain of a workload: its path's stages with layers and loops kept, ops fused by `rules`,
/// costs estimated from the recording (tier 1). `reference` is the same model at the smallest
/// recorded batch size, from which weight bytes are estimated (weights do not grow with the batch);
/// may be the workload itself. Both are expected corrected (workload/replay.h). Errors: empty path;
/// a benchmark that contradicts its op; an op whose footprint does not fit the hardware is no error
/// here.
[[nodiscard]] Expected<Chain> buildChain(const workload::Workload& workload,
                                         const workload::Workload& reference,
                                         const workload::PathTree& tree, const FusionRules& rules,
                                         const cost::Hardware& hardware,
                                         const MeasuredCosts& measured = {});

/// The part of a chain that repeats in steady state: everything from the first loop on, entered at
/// its start; without loops, everything after the first stage (or all, if there is one).
[[nodiscard]] Chain steadyPart(const Chain& chain);

} // namespace kerf::graph

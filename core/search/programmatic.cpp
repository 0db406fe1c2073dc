// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/programmatic.h"

#include "core/graph/lower.h"
#include "core/workload/branches.h"
#include "core/workload/replay.h"

#include <algorithm>

namespace kerf::search {

namespace {

bool isKernel(const workload::Op& op) {
    return op.role != workload::OpRole::Copy && op.role != workload::OpRole::Memset;
}

/// Adds `repeats` executions of a stage with every gap between kernels shortened. With branches
/// only what shortens the longest path is saved.
void addSaved(ProgrammaticBaseline& baseline, const workload::Stage& stage, int repeats) {
    const bool chain = workload::isChain(stage);
    workload::Stage shorter;
    for (std::size_t i = 0; i < stage.ops.size(); ++i) {
        const auto& op = stage.ops[i];
        const auto before = workload::followed(stage, i);
        const bool edge =
            isKernel(op) && !before.empty() &&
            std::ranges::all_of(before, [&](std::size_t one) { return isKernel(stage.ops[one]); });
        const double less_us = edge ? std::clamp(op.gap_us, 0.0, baseline.per_edge_us) : 0;
        baseline.edges += edge ? repeats : 0;
        if (chain) {
            baseline.saved_us += repeats * less_us;
        } else {
            workload::Op& copy = shorter.ops.emplace_back();
            copy.duration_us = op.duration_us;
            copy.gap_us = op.gap_us - less_us;
            copy.follows = op.follows;
        }
    }
    if (!chain) {
        baseline.saved_us += repeats * (workload::stageUs(stage) - workload::stageUs(shorter));
    }
}

double blameOf(const RegionPrediction& region, sim::Bound bound) {
    return region.blame[static_cast<std::size_t>(bound)];
}

} // namespace

ProgrammaticBaseline conventionalProgrammatic(const Case& theCase) {
    ProgrammaticBaseline baseline;
    baseline.per_edge_us = std::max(0.0, theCase.hardware.launch_gap_us.value -
                                             theCase.hardware.launch_gap_pdl_us.value);
    for (const auto& step : theCase.corrected.path) {
        addSaved(baseline, theCase.corrected.stages[step.stage], step.repeats);
    }
    const graph::Region path{graph::kPathStart, graph::pathEnd(theCase.chain)};
    baseline.us =
        graph::conventionalUs(theCase.chain, graph::opsOf(theCase.chain, path)) - baseline.saved_us;
    return baseline;
}

double overlapUs(const Case& theCase, const graph::Chain& chain,
                 const graph::Composition& composition, std::span<const RegionPrediction> regions) {
    double sumUs = 0;
    for (const auto& pair : graph::consecutiveRegions(chain, composition)) {
        const auto& first = regions[pair.first];
        const auto& next = regions[pair.next];
        if (first.use.mode == graph::Mode::Megakernel && next.use.mode == graph::Mode::Megakernel) {
            const double startUs =
                theCase.hardware.prologue_us.value + blameOf(next, sim::Bound::Prologue);
            sumUs += static_cast<double>(pair.count) *
                     std::min(blameOf(first, sim::Bound::Tail), startUs);
        }
    }
    return sumUs;
}

} // namespace kerf::search

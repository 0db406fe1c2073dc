// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/programmatic.h"

#include "core/graph/lower.h"

#include <algorithm>

namespace kerf::search {

namespace {

bool isKernel(const workload::Op& op) {
    return op.role != workload::OpRole::Copy && op.role != workload::OpRole::Memset;
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
        const auto& ops = theCase.corrected.stages[step.stage].ops;
        for (std::size_t i = 1; i < ops.size(); ++i) {
            if (isKernel(ops[i - 1]) && isKernel(ops[i])) {
                baseline.edges += step.repeats;
                baseline.saved_us +=
                    step.repeats * std::clamp(ops[i].gap_us, 0.0, baseline.per_edge_us);
            }
        }
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

// SPDX-License-Identifier: GPL-3.0-or-later
// A stage as fusion groups: their times, what they wait for, and where the stage may be cut.
#pragma once

#include "core/graph/fusion_rules.h"
#include "core/workload/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::graph {

/// A fusion group with its times averaged over the layers that it stands for.
struct KeyedGroup {
    std::string key; ///< within its stage: "layer/product.1"
    Group group;
    std::vector<double> duration_us;      ///< one a member, mean over layers
    std::vector<double> path_gap_us;      ///< the same, where it is on the stage's longest path
    std::vector<double> path_duration_us; ///< the same
    std::vector<std::uint32_t> follows;   ///< groups of the stage that it waits for in some layer,
                                          ///< counted back over executions
    std::vector<std::uint32_t> starts;    ///< executions of groups in front of it in the stage,
                                          ///< where it starts with the stage
    bool separate = true; ///< a cut is allowed in front of it: there one op's completion separates
                          ///< the stage, in every layer (for a layer's first group: see each_layer)
};

/// Groups in order of execution: a group of a branch stands where its branch has come to, so that
/// workers turn to the branches in turn. Keys count in the stage's order.
struct StageGroups {
    std::vector<KeyedGroup> prefix, layer, suffix;
    bool before_layers = true;       ///< a cut is allowed in front of the first layer
    bool each_layer = true;          ///< … between any two layers
    std::vector<std::uint32_t> ends; ///< groups that nothing in the stage waits for, counted back
                                     ///< from its end: 1 is the last execution
};

/// Groups never reach over the ends of a layer or a stage, nor over a fork or join.
[[nodiscard]] StageGroups groupsOf(const workload::Stage& stage, const FusionRules& rules);

} // namespace kerf::graph

// SPDX-License-Identifier: GPL-3.0-or-later
// Which recorded ops become one tile op: rules as data, edited by the user, kept in the project.
#pragma once

#include "core/workload/op.h"

#include <string>
#include <vector>

namespace kerf::graph {

/// What becomes of a recorded op of role `role` inside a megakernel.
enum class Fusion : std::uint8_t {
    Anchor,   ///< a tile op of its own
    Prologue, ///< computed by the next anchor's tiles
    Epilogue, ///< computed by the previous anchor's tiles
    Dropped,  ///< needs no work in a megakernel (layout conversion, counter reset)
};
[[nodiscard]] std::string_view toString(Fusion fusion);

struct FusionRule {
    workload::OpRole role = workload::OpRole::Other;
    Fusion fusion = Fusion::Anchor;
    double compute_factor = 1; ///< share of its recorded time that stays as consumer time of the
                               ///< anchor; above 1 where every tile recomputes it. Estimated.
    std::string reason;        ///< for the reader of the report
};

/// One rule a role. Roles without a rule are anchors.
using FusionRules = std::vector<FusionRule>;
[[nodiscard]] const FusionRules& defaultFusionRules();
[[nodiscard]] FusionRule ruleFor(const FusionRules& rules, workload::OpRole role);

/// Index of the group of each op: groups are consecutive, each with one anchor (or none where a run
/// of ops has no anchor near: then the run is a group). Dropped ops join the group before them.
struct Group {
    std::vector<std::size_t> members; ///< in order
    std::size_t anchor = 0;           ///< index into the ops
};
/// Groups of ops[begin, end): never reaches over the ends, so a folded layer groups by itself.
[[nodiscard]] std::vector<Group> fuse(const std::vector<workload::Op>& ops, std::size_t begin,
                                      std::size_t end, const FusionRules& rules);

} // namespace kerf::graph

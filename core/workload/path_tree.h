// SPDX-License-Identifier: GPL-3.0-or-later
// The path with its loops found: what the composition strip shows and cuts repeat over.
#pragma once

#include "core/workload/workload.h"

namespace kerf::workload {

/// A stage, or a loop over children. A loop may be entered in the middle: in its first iteration
/// children before `entry` are left out. So `cp, 3 × (talker, cp)` is 4 × (talker, cp) entered at
/// cp, and every stage of a model appears once.
struct PathNode {
    std::size_t stage = 0;          ///< stages only
    int count = 1;                  ///< loops only: iterations
    std::size_t entry = 0;          ///< loops only
    std::vector<PathNode> children; ///< loops only; empty: a stage
    [[nodiscard]] bool isLoop() const { return !children.empty(); }
};
using PathTree = std::vector<PathNode>;

/// Folds a path into loops so that every stage appears as few times as possible.
/// Expanding the result (see expand) gives the path's stages in order again.
[[nodiscard]] PathTree foldPath(const Path& path);

/// The stage of every execution along the path, loops unrolled.
[[nodiscard]] std::vector<std::size_t> expand(const PathTree& tree);
[[nodiscard]] std::vector<std::size_t> expand(const Path& path);

} // namespace kerf::workload

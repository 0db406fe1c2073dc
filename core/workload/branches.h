// SPDX-License-Identifier: GPL-3.0-or-later
// Branches: ops of a stage that run side by side. Which op waits for which, and what that makes of
// the stage's time.
#pragma once

#include "core/workload/workload.h"

#include <cstdint>
#include <vector>

namespace kerf::workload {

/// When an op ran in one execution of its stage.
struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

/// What an op waits for and the order in which a stage lists its ops.
struct BranchOrder {
    std::vector<std::size_t> order;                  ///< of the ops as given
    std::vector<std::vector<std::uint32_t>> follows; ///< of the ops in that order, see Op::follows
};

/// Tells from times alone what each op waits for. `streams[i]` is op i's stream, numbered from 0,
/// ops of a stream in order; `executions[k][i]` its times in execution k, of which there is at
/// least one. The rule is in docs/cost-model.md. Ops of a stream stay together as far as the order
/// allows, so that the same branches are listed alike in every layer.
[[nodiscard]] BranchOrder branchOrder(const std::vector<std::size_t>& streams,
                                      const std::vector<std::vector<Span>>& executions);

/// Indices of the ops that op `op` waits for; empty: it starts with the stage.
[[nodiscard]] std::vector<std::size_t> followed(const Stage& stage, std::size_t op);

/// Whether every op waits for the one before it and for nothing else.
[[nodiscard]] bool isChain(const Stage& stage);

/// An op in the replay of a stage.
struct Replayed {
    double start_us = 0; ///< from the stage's start
    double end_us = 0;
    double done_us = 0;   ///< latest end of it and of all that it is after
    bool longest = false; ///< on the longest path: gap and duration count in the stage's time
};
/// The stage with every op at its centre, or at sample `sample` (centres where it has none): an op
/// starts its gap after the latest end of all that it is after. The latest `done_us` is the stage's
/// time, and the gaps and durations along the longest path add up to it.
inline constexpr std::size_t kCentres = SIZE_MAX;
[[nodiscard]] std::vector<Replayed> replayOps(const Stage& stage, std::size_t sample = kCentres);

/// Places between two neighbouring ops where one op's completion separates the stage: everything in
/// front is done when the op before the place is, and everything behind waits for it. `follows` as
/// in Op::follows. Element p is the place in front of op p; element 0 is true.
[[nodiscard]] std::vector<bool> separators(const std::vector<std::vector<std::uint32_t>>& follows);

/// For people.
struct BranchCount {
    std::size_t streams = 0;  ///< that the stage's ops run on
    std::size_t branches = 1; ///< most streams between two places where everything has joined
};
[[nodiscard]] BranchCount countBranches(const Stage& stage);

} // namespace kerf::workload

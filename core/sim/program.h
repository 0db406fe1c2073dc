// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/beginnings.h"
#include "core/sim/region_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kerf::sim {

using LoopIndex = std::uint32_t; ///< index into RegionGraph::loops

/// The executions of a region's ops in order, loops unrolled one step at a time.
/// The graph must have passed validate().
class Program {
public:
    explicit Program(const RegionGraph& graph);

    [[nodiscard]] bool done() const { return op_ == op_count_; }
    [[nodiscard]] OpIndex op() const { return op_; } ///< of the next execution

    /// Loops of which the next execution ends an iteration, innermost first.
    [[nodiscard]] std::span<const LoopIndex> closing() const;
    /// Loops that the next execution ends for good.
    [[nodiscard]] std::uint32_t loopsEnded() const;
    void advance();
    /// Drops all that comes after `beginning`, which must not be behind it yet.
    void endAfter(const Beginning& beginning);

    /// Whether the next execution lies in `loop`, and in which iteration of it.
    [[nodiscard]] bool inside(LoopIndex loop) const;
    [[nodiscard]] std::uint32_t iteration(LoopIndex loop) const { return iteration_[loop]; }
    /// How often `loop` has been left: tells one entry of it from another.
    [[nodiscard]] std::uint64_t entry(LoopIndex loop) const { return exits_[loop]; }
    [[nodiscard]] std::uint32_t iterationsLeft(LoopIndex loop) const;
    /// Iterations of `loop` that are left out. At most iterationsLeft().
    void skip(LoopIndex loop, std::uint32_t iterations) { iteration_[loop] += iterations; }

    /// Executions of all ops together; saturates.
    [[nodiscard]] static double executions(const RegionGraph& graph);

private:
    const std::vector<Loop>* loops_;
    OpIndex op_count_;
    OpIndex op_ = 0;
    std::vector<std::vector<LoopIndex>>
        ending_; ///< by op: loops that end after it, innermost first
    std::vector<std::uint32_t> iteration_;
    std::vector<std::uint64_t> exits_;
};

} // namespace kerf::sim

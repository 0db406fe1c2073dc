// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/program.h"

namespace kerf::sim {

Program::Program(const RegionGraph& graph)
    : loops_(&graph.loops), op_count_(static_cast<OpIndex>(graph.ops.size())),
      ending_(graph.ops.size()), iteration_(graph.loops.size(), 0), exits_(graph.loops.size(), 0) {
    for (LoopIndex loop = static_cast<LoopIndex>(graph.loops.size()); loop-- > 0;) {
        ending_[graph.loops[loop].end - 1].push_back(loop); // loops are sorted outer first
    }
}

std::span<const LoopIndex> Program::closing() const {
    const std::vector<LoopIndex>& ending = ending_[op_];
    std::size_t count = 0;
    while (count < ending.size()) {
        const LoopIndex loop = ending[count];
        ++count;
        if (iteration_[loop] + 1 < (*loops_)[loop].iterations) {
            break; // this loop goes round again, so the loops around it do not end an iteration
        }
    }
    return {ending.data(), count};
}

std::uint32_t Program::loopsEnded() const {
    std::uint32_t ended = 0;
    for (const LoopIndex loop : ending_[op_]) {
        if (iteration_[loop] + 1 < (*loops_)[loop].iterations) {
            break;
        }
        ++ended;
    }
    return ended;
}

void Program::endAfter(const Beginning& beginning) {
    op_count_ = beginning.ops;
    ending_.resize(beginning.ops);
    ending_.back().resize(beginning.loops_ended); // innermost first
}

void Program::advance() {
    for (const LoopIndex loop : ending_[op_]) {
        if (iteration_[loop] + 1 < (*loops_)[loop].iterations) {
            ++iteration_[loop];
            op_ = (*loops_)[loop].begin;
            return;
        }
        iteration_[loop] = 0;
        ++exits_[loop];
    }
    ++op_;
}

bool Program::inside(LoopIndex loop) const {
    return op_ >= (*loops_)[loop].begin && op_ < (*loops_)[loop].end;
}

std::uint32_t Program::iterationsLeft(LoopIndex loop) const {
    return (*loops_)[loop].iterations - 1 - iteration_[loop];
}

double Program::executions(const RegionGraph& graph) {
    double total = 0;
    for (OpIndex op = 0; op < graph.ops.size(); ++op) {
        double times = 1;
        for (const Loop& loop : graph.loops) {
            if (op >= loop.begin && op < loop.end) {
                times *= loop.iterations;
            }
        }
        total += times;
    }
    return total;
}

} // namespace kerf::sim

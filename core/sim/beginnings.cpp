// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/beginnings.h"

#include "core/sim/engine_state.h"
#include "core/sim/validate.h"

#include <algorithm>
#include <map>

namespace kerf::sim {
namespace {

/// What the engine takes from a region as a whole; beginnings that differ in it share no run.
struct Traits {
    std::uint64_t longest_distance = 0;
    bool fine_grain = false;
    auto operator<=>(const Traits&) const = default;
};

Traits traitsOf(const RegionGraph& graph, const Beginning& beginning) {
    Traits traits;
    for (OpIndex op = 0; op < beginning.ops; ++op) {
        for (const Dependency& dependency : graph.ops[op].depends_on) {
            traits.longest_distance =
                std::max<std::uint64_t>(traits.longest_distance, dependency.distance);
            traits.fine_grain = traits.fine_grain || dependency.grain != Grain::All;
        }
    }
    if (traits.longest_distance > beginning.ops) { // perhaps beyond the region's start
        const double executions = Program::executions(regionOf(graph, beginning));
        traits.longest_distance =
            std::min(traits.longest_distance, static_cast<std::uint64_t>(executions));
    }
    return traits;
}

/// How many loops end with the last op of `ops`.
std::uint32_t loopsEndingAt(const std::vector<Loop>& loops, OpIndex ops) {
    return static_cast<std::uint32_t>(std::count_if(
        loops.begin(), loops.end(), [&](const Loop& loop) { return loop.end == ops; }));
}

std::vector<Loop> loopsOf(const std::vector<Loop>& loops, const Beginning& beginning) {
    std::vector<Loop> whole;
    for (std::uint32_t loop = 0; loop < loops.size(); ++loop) {
        if (isWhole(loops, beginning, loop)) {
            whole.push_back(loops[loop]);
        }
    }
    return whole;
}

/// The number of the event in which the beginning's last execution is generated.
std::uint64_t eventOf(const std::vector<Generated>& notes, const Beginning& beginning) {
    return std::find_if(notes.begin(), notes.end(),
                        [&](const Generated& note) {
                            return note.op + 1 == beginning.ops &&
                                   note.loops_ended >= beginning.loops_ended;
                        })
        ->event;
}

/// Beginnings with the same traits; `whole` is the longest of them.
void simulateAlike(const RegionGraph& whole, const Machine& machine,
                   std::span<const Beginning> beginnings, const std::vector<std::size_t>& wanted,
                   std::vector<Expected<RegionResult>>& results) {
    if (wanted.size() == 1) {
        results[wanted.front()] = simulate(whole, machine);
        return;
    }
    std::vector<Generated> notes;
    Engine first(whole, machine, {});
    first.noteGenerated(notes);
    if (const auto ran = first.run(); !ran) {
        for (const std::size_t i : wanted) {
            results[i] = simulate(regionOf(whole, beginnings[i]), machine);
        }
        return;
    }
    std::vector<std::pair<std::uint64_t, std::size_t>> order; // event, beginning
    order.reserve(wanted.size());
    for (const std::size_t i : wanted) {
        order.emplace_back(eventOf(notes, beginnings[i]), i);
    }
    std::sort(order.begin(), order.end());
    Engine second(whole, machine, {});
    bool started = false;
    for (const auto& [event, i] : order) {
        if (event == 0) { // within start(): there is nothing to share
            results[i] = simulate(regionOf(whole, beginnings[i]), machine);
            continue;
        }
        if (!started) {
            second.start();
            started = true;
        }
        second.runUntil(event);
        Engine copy = second;
        copy.endAfter(beginnings[i]);
        copy.runUntil(std::numeric_limits<std::uint64_t>::max());
        results[i] = copy.end();
    }
}

} // namespace

bool isWhole(const std::vector<Loop>& loops, const Beginning& beginning, std::uint32_t loop) {
    const OpIndex end = loops[loop].end;
    if (end != beginning.ops) {
        return end < beginning.ops;
    }
    // Loops are sorted outer first: those behind it that end there lie inside it.
    const auto inside = std::count_if(loops.begin() + loop + 1, loops.end(),
                                      [&](const Loop& inner) { return inner.end == end; });
    return inside < beginning.loops_ended;
}

RegionGraph regionOf(const RegionGraph& graph, const Beginning& beginning) {
    RegionGraph region;
    region.ops.assign(graph.ops.begin(), graph.ops.begin() + beginning.ops);
    region.loops = loopsOf(graph.loops, beginning);
    return region;
}

std::optional<Beginning> beginningOf(const std::vector<Loop>& loops, OpIndex ops,
                                     const std::vector<Loop>& part) {
    Beginning beginning{ops, 0};
    const std::uint32_t most = loopsEndingAt(loops, ops);
    for (; beginning.loops_ended <= most; ++beginning.loops_ended) {
        if (loopsOf(loops, beginning) == part) {
            return beginning;
        }
    }
    return std::nullopt;
}

std::vector<Expected<RegionResult>> simulateBeginnings(const RegionGraph& graph,
                                                       const Machine& machine,
                                                       std::span<const Beginning> beginnings) {
    std::vector<Expected<RegionResult>> results(beginnings.size());
    if (!validate(graph, machine)) { // perhaps for what lies behind some of them
        for (std::size_t i = 0; i < beginnings.size(); ++i) {
            results[i] = simulate(regionOf(graph, beginnings[i]), machine);
        }
        return results;
    }
    std::map<Traits, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < beginnings.size(); ++i) {
        alike[traitsOf(graph, beginnings[i])].push_back(i);
    }
    const auto shorter = [&](std::size_t a, std::size_t b) {
        return std::pair(beginnings[a].ops, beginnings[a].loops_ended) <
               std::pair(beginnings[b].ops, beginnings[b].loops_ended);
    };
    for (const auto& [traits, wanted] : alike) {
        const std::size_t longest = *std::max_element(wanted.begin(), wanted.end(), shorter);
        simulateAlike(regionOf(graph, beginnings[longest]), machine, beginnings, wanted, results);
    }
    return results;
}

} // namespace kerf::sim

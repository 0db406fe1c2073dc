// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/prefix_costs.h"

#include "core/graph/lower.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <tbb/parallel_for.h>

namespace kerf::search {

namespace {

struct Wanted {
    graph::Region region;
    sim::RegionGraph program;
    sim::Machine machine;
};

bool sameWorkers(const sim::Machine& a, const sim::Machine& b) {
    return a.workers == b.workers && a.ring_bytes == b.ring_bytes;
}

bool operator==(const sim::Loop& a, const sim::Loop& b) {
    return a.begin == b.begin && a.end == b.end && a.iterations == b.iterations;
}

/// When all that `shorter` runs is done in a simulation of `longer`, if `shorter` is how it begins.
/// µs.
std::optional<double> endWithin(const Wanted& shorter, const Wanted& longer,
                                const sim::RegionResult& result) {
    const auto count = shorter.program.ops.size();
    if (count > longer.program.ops.size() || !sameWorkers(shorter.machine, longer.machine)) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (shorter.program.ops[i].source != longer.program.ops[i].source) {
            return std::nullopt;
        }
    }
    bool endsWithLoop = false; // shorter runs all iterations of a loop that ends with its last op
    std::size_t found = 0;
    bool insideLoop = false; // shorter stops in the first iteration of a loop of longer
    for (const auto& loop : longer.program.loops) {
        const bool known = std::any_of(shorter.program.loops.begin(), shorter.program.loops.end(),
                                       [&](const sim::Loop& own) { return own == loop; });
        found += known ? 1 : 0;
        if (known && loop.end == count) {
            endsWithLoop = true;
        } else if (!known && loop.end < count) {
            return std::nullopt;
        } else if (!known && loop.begin < count) {
            insideLoop = true;
        }
    }
    if (found != shorter.program.loops.size() || (endsWithLoop && insideLoop)) {
        return std::nullopt; // other loops, or an end that only later outer iterations know
    }
    const auto& last = result.ops[count - 1];
    return endsWithLoop ? last.last_end_us : last.first_end_us;
}

/// Costs of regions that start at the same cut.
Expected<PrefixCosts> costsFromOneCut(const Case& theCase, std::span<const graph::Region> regions) {
    PrefixCosts costs;
    std::vector<Wanted> wanted;
    for (const auto& region : regions) {
        const auto items = graph::opsOf(theCase.chain, region);
        const auto machine = cost::machineFor(
            theCase.hardware, graph::regionFootprint(theCase.chain, items), theCase.policy);
        if (!machine) {
            costs.us[region] = std::numeric_limits<double>::infinity();
            continue;
        }
        wanted.push_back({region, graph::lowerRegion(theCase.chain, items), *machine});
    }
    std::stable_sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
        return a.program.ops.size() > b.program.ops.size();
    });
    const double boundaryUs =
        theCase.hardware.launch_gap_us.value + theCase.hardware.prologue_us.value;
    std::vector<std::pair<const Wanted*, sim::RegionResult>> simulated;
    for (const auto& want : wanted) {
        std::optional<double> endUs;
        for (const auto& [longer, result] : simulated) {
            endUs = endWithin(want, *longer, result);
            if (endUs) {
                break;
            }
        }
        if (!endUs) {
            auto result = sim::simulate(want.program, want.machine);
            if (!result) {
                return tl::unexpected(result.error());
            }
            ++costs.simulations;
            endUs = result->makespan_us;
            simulated.emplace_back(&want, std::move(*result));
        }
        costs.us[want.region] = boundaryUs + *endUs;
    }
    return costs;
}

} // namespace

Expected<PrefixCosts> prefixCosts(const Case& theCase, std::span<const graph::Region> regions,
                                  Progress& progress) {
    std::map<graph::SiteIndex, std::vector<graph::Region>> byStart;
    for (const auto& region : regions) {
        byStart[region.from].push_back(region);
    }
    std::vector<const std::vector<graph::Region>*> groups;
    for (const auto& [from, group] : byStart) {
        groups.push_back(&group);
    }
    PrefixCosts all;
    std::optional<Error> error;
    std::mutex mutex;
    std::size_t done = 0;
    tbb::parallel_for(std::size_t{0}, groups.size(), [&](std::size_t i) {
        if (progress.cancelled.load(std::memory_order_relaxed)) {
            return;
        }
        auto costs = costsFromOneCut(theCase, *groups[i]);
        const std::scoped_lock lock(mutex);
        if (!costs) {
            error = costs.error();
            return;
        }
        all.simulations += costs->simulations;
        all.us.merge(costs->us);
        progress.step(static_cast<double>(++done) / static_cast<double>(groups.size()),
                      "predicting regions");
    });
    if (error) {
        return tl::unexpected(*error);
    }
    if (progress.cancelled) {
        return fail("the search was cancelled");
    }
    return all;
}

} // namespace kerf::search

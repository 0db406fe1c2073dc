// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/what_if.h"

#include "core/search/transfer_cuts.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <tbb/parallel_for.h>

namespace kerf::search {

namespace {

struct Change {
    std::string group;
    std::string name;
    /// Errors: the changed case cannot be made. Returns what a reader of the row must know.
    std::function<Expected<std::vector<std::string>>(Case&)> apply;
};

template <class Edit> Change machine(std::string name, Edit edit) {
    return {"machine", std::move(name),
            [edit](Case& changed) -> Expected<std::vector<std::string>> {
                edit(changed);
                return std::vector<std::string>();
            }};
}

std::vector<Change> machineChanges() {
    return {
        machine("event latencies × 0.5",
                [](Case& c) { // one way and the fan-in, which is the rest of a barrier
                    c.hardware.event_one_way_us.value *= 0.5;
                    for (auto& point : c.hardware.barrier_us_by_workers) {
                        point.y *= 0.5;
                    }
                }),
        machine("memory bandwidth + 10 %", [](Case& c) { c.hardware.memory_gbps.value *= 1.1; }),
        machine("memory bandwidth − 10 %", [](Case& c) { c.hardware.memory_gbps.value *= 0.9; }),
        machine("L2 bandwidth + 50 %", [](Case& c) { c.hardware.l2_gbps.value *= 1.5; }),
        machine("launch gap 0",
                [](Case& c) {
                    c.hardware.launch_gap_us.value = 0;
                    c.hardware.launch_gap_pdl_us.value = 0;
                }),
        machine("prologue 0", [](Case& c) { c.hardware.prologue_us.value = 0; }),
        machine("drain 0", [](Case& c) { c.hardware.drain_us.value = 0; }),
        machine("ramp 0", [](Case& c) { c.hardware.ramp_us.value = 0; }),
        machine("dispatch 0",
                [](Case& c) {
                    c.hardware.dispatch_us.value = 0;
                    c.hardware.queue_pop_us.value = 0;
                }),
        machine("dependent latency 0", [](Case& c) { c.hardware.dependent_latency_us.value = 0; }),
        machine("consumer compute × 0.8",
                [](Case& c) {
                    for (auto& op : c.chain.ops) {
                        op.tile.compute_us *= 0.8;
                    }
                }),
    };
}

/// Benchmarked tile ops of the case whose tiles compute the ops of `role` that are fused into them.
std::size_t benchmarkedWith(const Case& theCase, workload::OpRole role) {
    std::size_t count = 0;
    for (const auto& op : theCase.chain.ops) {
        const auto& recorded = theCase.corrected.stages[op.stage].ops;
        const bool holdsRole =
            std::any_of(op.members.begin(), op.members.end(),
                        [&](std::size_t member) { return recorded[member].role == role; });
        if (!theCase.benchmarks || !holdsRole) {
            continue;
        }
        const auto found =
            cost::benchCost(*theCase.benchmarks, op.key, op.role, theCase.corrected.batch);
        if (found && *found) {
            const auto& fused = (*found)->fused;
            const bool computes =
                !fused || std::find(fused->begin(), fused->end(), role) != fused->end();
            count += computes ? 1 : 0;
        }
    }
    return count;
}

Expected<std::vector<std::string>> unfuse(Case& changed, workload::OpRole role) {
    std::vector<std::string> notes;
    if (const auto count = benchmarkedWith(changed, role); count > 0) {
        notes.push_back(fmt::format("{} benchmarked tile op{} still compute{} the {}, which then "
                                    "counts twice",
                                    count, count == 1 ? "" : "s", count == 1 ? "s" : "",
                                    toString(role)));
    }
    graph::FusionRules rules =
        changed.fusion_rules.empty() ? graph::defaultFusionRules() : changed.fusion_rules;
    for (auto& rule : rules) {
        if (rule.role == role) {
            rule = {role, graph::Fusion::Anchor, 1, "what if: tiles of its own"};
        }
    }
    const auto& reference = changed.reference ? *changed.reference : changed.corrected;
    auto chain =
        graph::buildChain(changed.corrected, reference, changed.tree, rules, changed.hardware,
                          {.benchmarks = changed.benchmarks.get(),
                           .counters = changed.counters.get(),
                           .reference_counters = changed.reference_counters.get()});
    if (!chain) {
        return tl::unexpected(chain.error());
    }
    changed.chain = std::move(*chain);
    changed.fusion_rules = std::move(rules);
    return notes;
}

/// One a rule that fuses or drops ops of the path, by role.
std::vector<Change> fusionChanges(const Case& theCase) {
    std::set<workload::OpRole> roles;
    for (const auto& step : theCase.corrected.path) {
        for (const auto& op : theCase.corrected.stages[step.stage].ops) {
            roles.insert(op.role);
        }
    }
    const auto& rules =
        theCase.fusion_rules.empty() ? graph::defaultFusionRules() : theCase.fusion_rules;
    std::vector<Change> changes;
    for (const auto role : roles) {
        const auto fusion = graph::ruleFor(rules, role).fusion;
        if (fusion != graph::Fusion::Anchor) {
            changes.push_back(
                {"fusion rules",
                 fmt::format("{} as tiles of its own, not {}", toString(role),
                             fusion == graph::Fusion::Dropped
                                 ? "dropped"
                                 : fmt::format("{} {}",
                                               fusion == graph::Fusion::Epilogue ? "an" : "a",
                                               toString(fusion))),
                 [role](Case& changed) { return unfuse(changed, role); }});
        }
    }
    return changes;
}

/// Candidates fastest first, ties in the given order.
std::vector<std::size_t> ranking(const std::vector<double>& times) {
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    return order;
}

struct Times {
    Expected<double> asked = 0;
    std::vector<std::size_t> order;
};

/// The composition and the candidates, which are those of chain `from`, on `theCase`.
Times timesOn(const std::shared_ptr<const Case>& theCase, const graph::Chain& from,
              const graph::Composition& composition,
              const std::vector<graph::Composition>& candidates, std::vector<std::string>& lost) {
    Predictor predictor(theCase);
    Times times;
    times.asked = predictor.ttfaUs(transferCuts(from, theCase->chain, composition, lost));
    std::vector<double> ofCandidates;
    std::vector<std::string> lostByCandidates; // would show as a change of the order
    for (const auto& candidate : candidates) {
        const auto us =
            predictor.ttfaUs(transferCuts(from, theCase->chain, candidate, lostByCandidates));
        ofCandidates.push_back(us ? *us : std::numeric_limits<double>::infinity());
    }
    times.order = ranking(ofCandidates);
    return times;
}

WhatIfRow rowOf(const Change& change, const Case& theCase, const graph::Composition& composition,
                const std::vector<graph::Composition>& candidates, const Times& asItIs) {
    WhatIfRow row{.group = change.group, .name = change.name};
    const auto cannot = [&row](const Error& error) {
        row.predicted_us = std::numeric_limits<double>::quiet_NaN();
        row.change_us = row.predicted_us;
        row.notes.push_back(error.what);
    };
    auto changed = std::make_shared<Case>(theCase);
    auto applied = change.apply(*changed);
    if (!applied) {
        cannot(applied.error());
        return row;
    }
    row.notes = std::move(*applied);
    std::vector<std::string> lost;
    const auto times = timesOn(changed, theCase.chain, composition, candidates, lost);
    for (const auto& key : lost) {
        row.notes.push_back(fmt::format("the cut {} has no counterpart and is left out", key));
    }
    if (times.asked) {
        row.predicted_us = *times.asked;
        row.change_us = *times.asked - *asItIs.asked;
    } else {
        cannot(times.asked.error());
    }
    if (!times.order.empty()) {
        row.best = times.order.front();
        row.best_changes = row.best != asItIs.order.front();
        row.order_changes = times.order != asItIs.order;
    }
    return row;
}

} // namespace

Expected<WhatIf> whatIf(const Case& theCase, const graph::Composition& composition,
                        const std::vector<graph::Composition>& candidates, Progress& progress) {
    std::vector<std::string> none;
    const auto asItIs = timesOn(std::make_shared<const Case>(theCase), theCase.chain, composition,
                                candidates, none);
    if (!asItIs.asked) {
        return tl::unexpected(asItIs.asked.error());
    }
    auto changes = machineChanges();
    for (auto& change : fusionChanges(theCase)) {
        changes.push_back(std::move(change));
    }
    WhatIf result;
    result.predicted_us = *asItIs.asked;
    result.best = asItIs.order.empty() ? 0 : asItIs.order.front();
    result.rows.resize(changes.size());
    std::atomic<std::size_t> done{0};
    tbb::parallel_for(std::size_t{0}, changes.size(), [&](std::size_t i) {
        if (progress.cancelled.load(std::memory_order_relaxed)) {
            return;
        }
        result.rows[i] = rowOf(changes[i], theCase, composition, candidates, asItIs);
        progress.step(static_cast<double>(++done) / static_cast<double>(changes.size()),
                      "predicting what-ifs");
    });
    if (progress.cancelled) {
        return fail("the what-ifs were cancelled");
    }
    return result;
}

} // namespace kerf::search

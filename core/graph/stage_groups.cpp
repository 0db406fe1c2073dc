// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/stage_groups.h"

#include "core/workload/branches.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace kerf::graph {

using workload::OpRole;
using workload::Stage;

namespace {

void addOnce(std::vector<std::uint32_t>& values, std::size_t value) {
    const auto number = static_cast<std::uint32_t>(value);
    const auto at = std::lower_bound(values.begin(), values.end(), number);
    if (at == values.end() || *at != number) {
        values.insert(at, number);
    }
}

class Grouping {
public:
    Grouping(const Stage& stage, const FusionRules& rules)
        : stage_(stage), rules_(rules), replayed_(workload::replayOps(stage)),
          followed_(stage.ops.size()), followers_(stage.ops.size(), 0),
          execution_(stage.ops.size(), 0) {
        for (std::size_t op = 0; op < followed_.size(); ++op) {
            followed_[op] = workload::followed(stage, op);
            for (const std::size_t one : followed_[op]) {
                ++followers_[one];
            }
        }
    }

    StageGroups make() {
        const auto& fold = stage_.fold;
        const std::size_t ops = stage_.ops.size();
        StageGroups groups;
        if (fold.count == 0) {
            groups.prefix = section("ops", 0, ops, 1);
        } else {
            const std::size_t layersEnd = fold.prefix + fold.period * fold.count;
            groups.prefix = section("prefix", 0, fold.prefix, 1);
            groups.layer = section("layer", fold.prefix, fold.prefix + fold.period, fold.count);
            groups.suffix = section("suffix", layersEnd, ops, 1);
        }
        connect(groups);
        return groups;
    }

private:
    /// Whether `op` continues the op before it: no fork or join between the two.
    [[nodiscard]] bool continues(std::size_t op) const {
        return followed_[op] == std::vector<std::size_t>{op - 1} && followers_[op - 1] == 1;
    }

    /// Ops [begin, end) and their `repeats` − 1 copies behind them.
    std::vector<KeyedGroup> section(std::string_view name, std::size_t begin, std::size_t end,
                                    std::size_t repeats) {
        const std::size_t period = end - begin;
        std::vector<KeyedGroup> keyed;
        std::map<OpRole, int> ordinals;
        for (std::size_t from = begin; from < end;) {
            std::size_t to = from + 1;
            const auto continuesInAll = [&](std::size_t op) {
                bool all = true;
                for (std::size_t r = 0; r < repeats; ++r) {
                    all = all && continues(op + r * period);
                }
                return all;
            };
            while (to < end && continuesInAll(to)) {
                ++to;
            }
            for (auto& group : fuse(stage_.ops, from, to, rules_)) {
                const auto role = stage_.ops[group.anchor].role;
                KeyedGroup& entry = keyed.emplace_back();
                entry.key =
                    fmt::format("{}/{}.{}", name, workload::toString(role), ++ordinals[role]);
                entry.group = std::move(group);
                setTimes(entry, period, repeats);
            }
            from = to;
        }
        inTurn(keyed, period, repeats);
        for (std::size_t r = 0; r < repeats; ++r) {
            for (const KeyedGroup& group : keyed) {
                for (const std::size_t member : group.group.members) {
                    execution_[member + r * period] = executions_;
                }
                ++executions_;
            }
        }
        return keyed;
    }

    void setTimes(KeyedGroup& entry, std::size_t period, std::size_t repeats) const {
        const auto layers = static_cast<double>(repeats);
        for (const std::size_t member : entry.group.members) {
            double duration = 0;
            double pathGap = 0;
            double pathDuration = 0;
            for (std::size_t r = 0; r < repeats; ++r) {
                const auto& op = stage_.ops[member + r * period];
                duration += op.duration_us;
                if (replayed_[member + r * period].longest) {
                    pathGap += op.gap_us;
                    pathDuration += op.duration_us;
                }
            }
            entry.duration_us.push_back(duration / layers);
            entry.path_gap_us.push_back(pathGap / layers);
            entry.path_duration_us.push_back(pathDuration / layers);
        }
    }

    /// Sorts by when a group could begin if only durations counted; a chain stays as it is.
    void inTurn(std::vector<KeyedGroup>& groups, std::size_t period, std::size_t repeats) const {
        std::map<std::size_t, std::size_t> groupOf; // of each op of the first repeat
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (const std::size_t member : groups[g].group.members) {
                groupOf[member] = g;
            }
        }
        std::vector<double> begin_us(groups.size(), 0);
        std::vector<double> end_us(groups.size(), 0);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (const std::size_t member : groups[g].group.members) {
                for (std::size_t r = 0; r < repeats; ++r) {
                    for (const std::size_t one : followed_[member + r * period]) {
                        const auto before =
                            one < r * period ? groupOf.end() : groupOf.find(one - r * period);
                        if (before != groupOf.end() && before->second != g) {
                            begin_us[g] = std::max(begin_us[g], end_us[before->second]);
                        }
                    }
                }
            }
            const auto& durations = groups[g].duration_us;
            end_us[g] = begin_us[g] + std::accumulate(durations.begin(), durations.end(), 0.0);
        }
        std::vector<std::size_t> order(groups.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return begin_us[a] < begin_us[b]; });
        std::vector<KeyedGroup> sorted;
        for (const std::size_t g : order) {
            sorted.push_back(std::move(groups[g]));
        }
        groups = std::move(sorted);
    }

    /// What every group waits for, and where one op's completion separates the stage.
    void connect(StageGroups& groups) const {
        std::vector<std::vector<std::uint32_t>> follows(executions_); // of every execution
        std::vector<bool> waitedFor(executions_, false);
        const std::size_t period = stage_.fold.period;
        const auto connectList = [&](std::vector<KeyedGroup>& list, std::size_t repeats) {
            for (KeyedGroup& group : list) {
                for (const std::size_t member : group.group.members) {
                    for (std::size_t r = 0; r < repeats; ++r) {
                        const std::size_t op = member + r * period;
                        const std::size_t here = execution_[op];
                        for (const std::size_t one : followed_[op]) {
                            if (execution_[one] != here) {
                                addOnce(group.follows, here - execution_[one]);
                                addOnce(follows[here], here - execution_[one]);
                                waitedFor[execution_[one]] = true;
                            }
                        }
                        if (followed_[op].empty()) {
                            addOnce(group.starts, here);
                        }
                    }
                }
            }
        };
        connectList(groups.prefix, 1);
        connectList(groups.layer, stage_.fold.count);
        connectList(groups.suffix, 1);
        for (std::size_t e = 0; e < executions_; ++e) {
            if (!waitedFor[e]) {
                addOnce(groups.ends, executions_ - e);
            }
        }
        allowCuts(groups, workload::separators(follows));
    }

    void allowCuts(StageGroups& groups, const std::vector<bool>& separates) const {
        const std::size_t prefix = groups.prefix.size();
        const std::size_t layer = groups.layer.size();
        for (std::size_t g = 0; g < prefix; ++g) {
            groups.prefix[g].separate = separates[g];
        }
        for (std::size_t r = 0; r < (layer == 0 ? 0 : stage_.fold.count); ++r) {
            for (std::size_t g = 0; g < layer; ++g) {
                const bool allowed = separates[prefix + r * layer + g];
                bool& place = g > 0    ? groups.layer[g].separate
                              : r == 0 ? groups.before_layers
                                       : groups.each_layer;
                place = place && allowed;
            }
        }
        const std::size_t suffix = executions_ - groups.suffix.size();
        for (std::size_t g = 0; g < groups.suffix.size(); ++g) {
            groups.suffix[g].separate = separates[suffix + g];
        }
    }

    const Stage& stage_;
    const FusionRules& rules_;
    std::vector<workload::Replayed> replayed_;
    std::vector<std::vector<std::size_t>> followed_; ///< of each op
    std::vector<std::size_t> followers_;             ///< of each op: how many wait for it
    std::vector<std::size_t> execution_;             ///< of each op: that of its group
    std::size_t executions_ = 0;
};

} // namespace

StageGroups groupsOf(const Stage& stage, const FusionRules& rules) {
    return Grouping(stage, rules).make();
}

} // namespace kerf::graph

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/branches.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace kerf::workload {
namespace {

/// Precedence among the ops of a stage, from the times of all its executions.
class Precedence {
public:
    Precedence(const std::vector<std::size_t>& streams,
               const std::vector<std::vector<Span>>& executions)
        : stream_(streams), position_(streams.size()), first_(executions.front()) {
        for (std::size_t op = 0; op < streams.size(); ++op) {
            if (streams[op] >= ops_.size()) {
                ops_.resize(streams[op] + 1);
            }
            position_[op] = ops_[streams[op]].size();
            ops_[streams[op]].push_back(op);
        }
        ended_.assign(streams.size(), std::vector<std::size_t>(ops_.size(), SIZE_MAX));
        for (const auto& spans : executions) {
            add(spans);
        }
        keepBefore();
    }

    /// By start in the first execution. Whatever an op waits for comes before it.
    [[nodiscard]] bool before(std::size_t a, std::size_t b) const {
        return std::tuple(first_[a].start_ns, a) < std::tuple(first_[b].start_ns, b);
    }
    [[nodiscard]] std::size_t streams() const { return ops_.size(); }
    [[nodiscard]] std::size_t streamOf(std::size_t op) const { return stream_[op]; }
    [[nodiscard]] std::size_t positionOf(std::size_t op) const { return position_[op]; }
    [[nodiscard]] const std::vector<std::size_t>& opsOf(std::size_t stream) const {
        return ops_[stream];
    }

    /// What `op` waits for, the redundant included: the op before it on its stream, and of each
    /// other stream the last op that had ended, where one of the two streams rested.
    [[nodiscard]] std::vector<std::size_t> candidates(std::size_t op) const {
        std::vector<std::size_t> found;
        const std::size_t own = stream_[op];
        const std::size_t position = position_[op];
        if (position > 0) {
            found.push_back(ops_[own][position - 1]);
        }
        for (std::size_t stream = 0; stream < ops_.size(); ++stream) {
            const std::size_t count = ended_[op][stream];
            if (stream == own || count == 0) {
                continue;
            }
            const std::size_t last = ops_[stream][count - 1];
            const bool joins = count == ops_[stream].size() || ended(op, ops_[stream][count]);
            const bool forks = position == 0 || ended(ops_[own][position - 1], last);
            if (joins || forks) {
                found.push_back(last);
            }
        }
        return found;
    }

private:
    /// Whether `a` had ended in every execution when `b`, of another stream, began.
    [[nodiscard]] bool ended(std::size_t a, std::size_t b) const {
        return position_[a] < ended_[b][stream_[a]];
    }

    void add(const std::vector<Span>& spans) {
        for (std::size_t stream = 0; stream < ops_.size(); ++stream) {
            std::vector<std::int64_t> ends; // latest so far
            for (const std::size_t op : ops_[stream]) {
                ends.push_back(ends.empty() ? spans[op].end_ns
                                            : std::max(ends.back(), spans[op].end_ns));
            }
            for (std::size_t op = 0; op < stream_.size(); ++op) {
                const auto count = static_cast<std::size_t>(
                    std::upper_bound(ends.begin(), ends.end(), spans[op].start_ns) - ends.begin());
                ended_[op][stream] = std::min(ended_[op][stream], count);
            }
        }
    }

    /// Ops without duration can each end before the other begins: one of the two comes first.
    void keepBefore() {
        for (std::size_t op = 0; op < stream_.size(); ++op) {
            for (std::size_t stream = 0; stream < ops_.size(); ++stream) {
                auto& count = ended_[op][stream];
                while (count > 0 && !before(ops_[stream][count - 1], op)) {
                    --count;
                }
            }
        }
    }

    const std::vector<std::size_t>& stream_;
    std::vector<std::size_t> position_; ///< of each op on its stream
    const std::vector<Span>& first_;
    std::vector<std::vector<std::size_t>> ops_;   ///< of each stream
    std::vector<std::vector<std::size_t>> ended_; ///< [op][stream]: ops ended in every execution
};

/// The candidates of every op without those that another one is after already.
std::vector<std::vector<std::size_t>> reduced(const Precedence& precedence, std::size_t ops) {
    std::vector<std::size_t> byStart(ops);
    std::iota(byStart.begin(), byStart.end(), std::size_t{0});
    std::sort(byStart.begin(), byStart.end(),
              [&](std::size_t a, std::size_t b) { return precedence.before(a, b); });
    std::vector<std::vector<std::size_t>> result(ops);
    std::vector<std::vector<std::size_t>>
        past( // [op][stream]: how many ops it is after, itself too
            ops, std::vector<std::size_t>(precedence.streams(), 0));
    for (const std::size_t op : byStart) {
        const auto candidates = precedence.candidates(op);
        for (const std::size_t one : candidates) {
            const bool redundant =
                std::any_of(candidates.begin(), candidates.end(), [&](std::size_t other) {
                    return other != one &&
                           past[other][precedence.streamOf(one)] > precedence.positionOf(one);
                });
            if (!redundant) {
                result[op].push_back(one);
            }
        }
        for (const std::size_t one : candidates) {
            for (std::size_t stream = 0; stream < precedence.streams(); ++stream) {
                past[op][stream] = std::max(past[op][stream], past[one][stream]);
            }
        }
        past[op][precedence.streamOf(op)] = precedence.positionOf(op) + 1;
    }
    return result;
}

} // namespace

BranchOrder branchOrder(const std::vector<std::size_t>& streams,
                        const std::vector<std::vector<Span>>& executions) {
    const std::size_t ops = streams.size();
    const Precedence precedence(streams, executions);
    const auto waitsFor = reduced(precedence, ops);
    std::vector<std::size_t> missing(ops);
    std::vector<std::vector<std::size_t>> followers(ops);
    const auto earlier = [&](std::size_t a, std::size_t b) { return precedence.before(a, b); };
    std::set<std::size_t, decltype(earlier)> ready(earlier);
    for (std::size_t op = 0; op < ops; ++op) {
        missing[op] = waitsFor[op].size();
        for (const std::size_t one : waitsFor[op]) {
            followers[one].push_back(op);
        }
        if (missing[op] == 0) {
            ready.insert(op);
        }
    }
    BranchOrder result;
    std::vector<std::size_t> place(ops);
    while (!ready.empty()) {
        std::size_t op = *ready.begin();
        if (!result.order.empty()) { // stay on the stream
            const std::size_t last = result.order.back();
            const auto& own = precedence.opsOf(precedence.streamOf(last));
            const std::size_t next = precedence.positionOf(last) + 1;
            op = next < own.size() && ready.contains(own[next]) ? own[next] : op;
        }
        ready.erase(op);
        place[op] = result.order.size();
        result.order.push_back(op);
        auto& follows = result.follows.emplace_back();
        for (const std::size_t one : waitsFor[op]) {
            follows.push_back(static_cast<std::uint32_t>(place[op] - place[one]));
        }
        std::sort(follows.begin(), follows.end());
        for (const std::size_t follower : followers[op]) {
            if (--missing[follower] == 0) {
                ready.insert(follower);
            }
        }
    }
    return result;
}

std::vector<std::size_t> followed(const Stage& stage, std::size_t op) {
    std::vector<std::size_t> result;
    for (const std::uint32_t back : stage.ops[op].follows) {
        if (back <= op) {
            result.push_back(op - back);
        }
    }
    return result;
}

bool isChain(const Stage& stage) {
    return std::all_of(stage.ops.begin(), stage.ops.end(), [&](const Op& op) {
        return op.follows.size() == 1 && op.follows.front() == 1;
    });
}

std::vector<Replayed> replayOps(const Stage& stage, std::size_t sample) {
    const auto valueOf = [sample](const std::vector<float>& samples, double centre) {
        return sample < samples.size() ? static_cast<double>(samples[sample]) : centre;
    };
    constexpr std::size_t kNone = SIZE_MAX;
    std::vector<Replayed> replayed;
    std::vector<std::size_t> latest(stage.ops.size(), kNone); // of the followed ops: done last
    std::size_t last = kNone;
    for (std::size_t i = 0; i < stage.ops.size(); ++i) {
        const Op& op = stage.ops[i];
        for (const std::size_t one : followed(stage, i)) {
            if (latest[i] == kNone || replayed[one].done_us > replayed[latest[i]].done_us) {
                latest[i] = one;
            }
        }
        const double ready_us = latest[i] == kNone ? 0 : replayed[latest[i]].done_us;
        const bool alone = i == 0 && !op.follows.empty(); // it is what starts the stage
        const double gap_us = alone ? 0 : valueOf(op.gap_samples_us, op.gap_us);
        Replayed& one = replayed.emplace_back();
        one.start_us = ready_us + gap_us;
        one.end_us = one.start_us + valueOf(op.duration_samples_us, op.duration_us);
        one.done_us = std::max(ready_us, one.end_us);
        if (last == kNone || one.done_us > replayed[last].done_us) {
            last = i;
        }
    }
    for (std::size_t i = last; i != kNone; i = latest[i]) {
        replayed[i].longest = replayed[i].done_us == replayed[i].end_us;
    }
    return replayed;
}

std::vector<bool> separators(const std::vector<std::vector<std::uint32_t>>& follows) {
    const std::size_t ops = follows.size();
    std::vector<bool> has_follower(ops, false);
    std::vector<std::size_t> reach(ops, 0); // last op that waits for it
    std::size_t last_start = 0;             // last op that starts with the stage
    for (std::size_t op = 0; op < ops; ++op) {
        bool starts = true;
        for (const std::uint32_t back : follows[op]) {
            if (back <= op) {
                has_follower[op - back] = true;
                reach[op - back] = op;
                starts = false;
            }
        }
        last_start = starts ? op : last_start;
    }
    std::vector<bool> result(ops, false);
    bool open_end = false;    // an op in front of the one before the place that nothing waits for
    std::size_t farthest = 0; // last op that waits for one of those
    for (std::size_t place = 0; place < ops; ++place) {
        if (place >= 2) {
            open_end = open_end || !has_follower[place - 2];
            farthest = std::max(farthest, reach[place - 2]);
        }
        result[place] = place == 0 || (!open_end && farthest < place && last_start < place);
    }
    return result;
}

BranchCount countBranches(const Stage& stage) {
    std::vector<std::vector<std::uint32_t>> follows;
    for (const Op& op : stage.ops) {
        follows.push_back(op.follows);
    }
    const auto separates = separators(follows);
    BranchCount count;
    std::set<std::int64_t> all;
    std::set<std::int64_t> beside;
    for (std::size_t i = 0; i < stage.ops.size(); ++i) {
        if (separates[i]) {
            beside.clear();
        }
        beside.insert(stage.ops[i].stream);
        all.insert(stage.ops[i].stream);
        count.branches = std::max(count.branches, beside.size());
    }
    count.streams = all.size();
    return count;
}

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/stage_ops.h"

#include "core/workload/branches.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

namespace kerf::workload {
namespace {

using trace::Activity;
using trace::Recording;
using Signature = std::vector<std::uint64_t>; ///< kernel name and kind of every op
constexpr std::uint64_t kNextStream = ~std::uint64_t{0};

// Executions under one name are the same stage when they share this much of their kernels; without
// a name only helper ops (a memset more) may differ.
constexpr double kAlikeNamed = 0.8;
constexpr double kAlikeUnnamed = 0.98;

// A sample beyond twice the median and 10 µs is an accident (an interrupt, another process), not
// the op: ordinary gaps and small kernels stay below 6 µs, large kernels within a few per cent.
constexpr double kFenceFactor = 2;
constexpr double kFence_us = 10;

/// What one stream ran of a unit.
struct StreamPart {
    Signature signature;
    std::vector<std::uint32_t> activities;
};

/// The parts of a unit, in an order that depends on what they ran and not on when or under which
/// number, so that executions whose streams race each other come out alike.
std::vector<StreamPart> partsOf(const Recording& recording, const Unit& unit) {
    std::vector<StreamPart> parts;
    std::map<std::int64_t, std::size_t> partOfStream;
    for (const std::uint32_t i : unit.activities) {
        const Activity& activity = recording.activities[i];
        const auto [known, fresh] = partOfStream.try_emplace(activity.stream, parts.size());
        if (fresh) {
            parts.emplace_back();
        }
        StreamPart& part = parts[known->second];
        // A memset is a memset: one and the same is called "(Device)" in one launch and "(Unknown)"
        // in the next.
        const bool named = activity.kind != trace::ActivityKind::Memset;
        part.signature.push_back((named ? std::uint64_t{activity.name} << 2U : 0) |
                                 static_cast<std::uint64_t>(activity.kind));
        part.activities.push_back(i);
    }
    std::stable_sort(parts.begin(), parts.end(), [](const StreamPart& a, const StreamPart& b) {
        return a.signature < b.signature;
    });
    return parts;
}

Signature signatureOf(const Recording& recording, const Unit& unit) {
    std::vector<StreamPart> parts = partsOf(recording, unit);
    Signature signature = std::move(parts.front().signature);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        signature.push_back(kNextStream);
        signature.insert(signature.end(), parts[i].signature.begin(), parts[i].signature.end());
    }
    return signature;
}

/// Share of kernels that two sequences have in common, whatever their order: 1 for equal ones.
double likeness(Signature a, Signature b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    Signature common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    return 2.0 * static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size());
}

/// Units that become one stage.
struct Cluster {
    Signature ops; ///< the most frequent sequence
    std::vector<std::size_t> units;
    std::vector<bool> counted; ///< of each unit: has exactly `ops`
};

/// Units that share a name → clusters, most frequent sequence first.
std::vector<Cluster> clusterUnits(const std::vector<std::size_t>& units,
                                  const std::vector<Signature>& signatures, double alike) {
    std::map<Signature, std::vector<std::size_t>> bySequence;
    for (const std::size_t u : units) {
        bySequence[signatures[u]].push_back(u);
    }
    std::vector<std::pair<Signature, std::vector<std::size_t>>> ordered(bySequence.begin(),
                                                                        bySequence.end());
    std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
        return a.second.size() != b.second.size() ? a.second.size() > b.second.size()
                                                  : a.second.front() < b.second.front();
    });
    std::vector<Cluster> clusters;
    for (auto& one : ordered) {
        auto& sequence = one.first; // a binding cannot be captured by clang 14
        auto& members = one.second;
        const auto home = std::find_if(clusters.begin(), clusters.end(), [&](const Cluster& c) {
            return likeness(c.ops, sequence) >= alike;
        });
        const bool fresh = home == clusters.end();
        Cluster& cluster = fresh ? clusters.emplace_back() : *home;
        if (fresh) {
            cluster.ops = sequence;
        }
        cluster.units.insert(cluster.units.end(), members.begin(), members.end());
        cluster.counted.insert(cluster.counted.end(), members.size(), fresh);
    }
    return clusters;
}

void sortByTime(Cluster& cluster) {
    std::vector<std::size_t> order(cluster.units.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return cluster.units[a] < cluster.units[b]; });
    Cluster sorted{.ops = cluster.ops, .units = {}, .counted = {}};
    for (const std::size_t i : order) {
        sorted.units.push_back(cluster.units[i]);
        sorted.counted.push_back(cluster.counted[i]);
    }
    cluster = std::move(sorted);
}

Op opOf(const Recording& recording, const Activity& activity) {
    Op op;
    op.kernel = recording.names[activity.name];
    op.role = roleOf(activity.kind, op.kernel);
    op.grid = activity.grid;
    op.block = activity.block;
    op.registers_per_thread = activity.registers_per_thread;
    op.shared_bytes = activity.shared_bytes;
    op.bytes = activity.bytes;
    op.stream = activity.stream;
    return op;
}

float microseconds(std::int64_t ns) {
    return static_cast<float>(static_cast<double>(ns) / 1000);
}

/// Activities of each counted execution of a stage, in the order of its ops, and what those follow.
struct Executions {
    std::vector<std::vector<std::uint32_t>> activities;
    std::vector<std::vector<std::uint32_t>> follows; ///< of each op
};

Executions executionsOf(const Recording& recording, const Units& units, const Cluster& cluster) {
    Executions result;
    std::vector<std::size_t> streams; // of each op
    for (std::size_t k = 0; k < cluster.units.size(); ++k) {
        if (!cluster.counted[k]) {
            continue;
        }
        const auto parts = partsOf(recording, units.units[cluster.units[k]]);
        auto& activities = result.activities.emplace_back();
        for (std::size_t part = 0; part < parts.size(); ++part) {
            activities.insert(activities.end(), parts[part].activities.begin(),
                              parts[part].activities.end());
            if (result.activities.size() == 1) {
                streams.insert(streams.end(), parts[part].activities.size(), part);
            }
        }
    }
    if (streams.back() == 0) { // one stream
        result.follows.assign(streams.size(), {1});
        return result;
    }
    std::vector<std::vector<Span>> spans;
    for (const auto& activities : result.activities) {
        auto& times = spans.emplace_back();
        for (const std::uint32_t i : activities) {
            const Activity& activity = recording.activities[i];
            times.push_back({activity.start_ns, activity.start_ns + activity.duration_ns});
        }
    }
    BranchOrder branches = branchOrder(streams, spans);
    for (auto& activities : result.activities) {
        const auto asGiven = activities;
        std::transform(branches.order.begin(), branches.order.end(), activities.begin(),
                       [&](std::size_t op) { return asGiven[op]; });
    }
    result.follows = std::move(branches.follows);
    const auto starts = std::count_if(result.follows.begin(), result.follows.end(),
                                      [](const auto& follows) { return follows.empty(); });
    if (starts == 1) { // it is what starts the stage
        result.follows.front() = {1};
    }
    return result;
}

Stage stageOf(const Recording& recording, const Units& units, const Cluster& cluster) {
    Stage stage;
    for (std::size_t k = 0; k < cluster.units.size(); ++k) {
        const Unit& unit = units.units[cluster.units[k]];
        stage.instances.push_back({unit.start_ns, unit.end_ns, cluster.counted[k]});
    }
    const Executions executions = executionsOf(recording, units, cluster);
    for (const std::uint32_t i : executions.activities.front()) {
        const std::size_t op = stage.ops.size();
        stage.ops.push_back(opOf(recording, recording.activities[i]));
        stage.ops.back().follows = executions.follows[op];
    }
    std::vector<std::int64_t> done_ns(stage.ops.size()); // latest end of it and all it is after
    for (const auto& activities : executions.activities) {
        std::int64_t begin_ns = recording.activities[activities.front()].start_ns;
        for (const std::uint32_t i : activities) {
            begin_ns = std::min(begin_ns, recording.activities[i].start_ns);
        }
        for (std::size_t i = 0; i < activities.size(); ++i) {
            const Activity& activity = recording.activities[activities[i]];
            std::int64_t ready_ns = begin_ns;
            for (const std::size_t one : followed(stage, i)) {
                ready_ns = std::max(ready_ns, done_ns[one]);
            }
            stage.ops[i].duration_samples_us.push_back(microseconds(activity.duration_ns));
            stage.ops[i].gap_samples_us.push_back(microseconds(activity.start_ns - ready_ns));
            done_ns[i] = std::max(ready_ns, activity.start_ns + activity.duration_ns);
        }
    }
    for (Op& op : stage.ops) {
        op.duration_us = robustCentre(op.duration_samples_us);
        op.gap_us = robustCentre(op.gap_samples_us);
    }
    return stage;
}

/// Names the stages in order of their first execution: after their annotation, else by number.
class StageNames {
public:
    std::string next(const Unit& unit) {
        if (!unit.name.empty()) {
            return unique(unit.name);
        }
        const char* kind = unit.kind == UnitKind::Graph ? "graph"
                           : unit.kind == UnitKind::Run ? "part"
                                                        : "outside";
        return unique(fmt::format("{} {}", kind, ++m_unnamed[unit.kind]));
    }

private:
    std::string unique(const std::string& name) {
        std::string candidate = name;
        for (int n = 2; !m_used.insert(candidate).second; ++n) {
            candidate = fmt::format("{} ({})", name, n);
        }
        return candidate;
    }
    std::map<UnitKind, int> m_unnamed;
    std::set<std::string> m_used;
};

} // namespace

double robustCentre(std::vector<float> samples) {
    if (samples.empty()) {
        return 0;
    }
    std::sort(samples.begin(), samples.end());
    const double median = samples[(samples.size() - 1) / 2];
    const double fence = kFenceFactor * std::max(0.0, median) + kFence_us;
    const auto end = std::upper_bound(samples.begin(), samples.end(), fence,
                                      [](double limit, float s) { return limit < s; });
    return std::accumulate(samples.begin(), end, 0.0) / static_cast<double>(end - samples.begin());
}

StagesOfUnits groupStages(const Recording& recording, const Units& units) {
    std::map<std::pair<UnitKind, std::string>, std::vector<std::size_t>> byName;
    std::vector<Signature> signatures;
    for (std::size_t u = 0; u < units.units.size(); ++u) {
        const Unit& unit = units.units[u];
        signatures.push_back(signatureOf(recording, unit));
        byName[{unit.kind, unit.name}].push_back(u);
    }
    std::vector<Cluster> clusters;
    for (const auto& [key, members] : byName) {
        const double alike = key.second.empty() ? kAlikeUnnamed : kAlikeNamed;
        for (Cluster& cluster : clusterUnits(members, signatures, alike)) {
            sortByTime(cluster);
            clusters.push_back(std::move(cluster));
        }
    }
    std::sort(clusters.begin(), clusters.end(),
              [](const Cluster& a, const Cluster& b) { return a.units.front() < b.units.front(); });

    StagesOfUnits result;
    result.stage.resize(units.units.size());
    StageNames names;
    for (const Cluster& cluster : clusters) {
        Stage stage = stageOf(recording, units, cluster);
        stage.name = names.next(units.units[cluster.units.front()]);
        const auto odd = std::count(cluster.counted.begin(), cluster.counted.end(), false);
        if (odd > 0) {
            result.notes.push_back(fmt::format(
                "{} of {} executions of {} run other kernels than the rest and are left "
                "out of its statistics.",
                odd, cluster.units.size(), stage.name));
        }
        for (const std::size_t u : cluster.units) {
            result.stage[u] = result.stages.size();
        }
        result.stages.push_back(std::move(stage));
    }
    return result;
}

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
// One recorded request, put together again from stage instances and op samples.
#include "views/timeline_model.h"

#include "core/workload/branches.h"
#include "core/workload/path_tree.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace kerf::views {
namespace {

using workload::Workload;

/// One execution of a stage, by time.
struct Execution {
    std::size_t stage = 0;
    std::size_t instance = 0;
    std::size_t sample = 0; ///< index into the ops' samples
    bool counted = true;
};

std::vector<Execution> executionsInOrder(const Workload& workload) {
    std::vector<Execution> executions;
    for (std::size_t stage = 0; stage < workload.stages.size(); ++stage) {
        std::size_t sample = 0;
        const auto& instances = workload.stages[stage].instances;
        for (std::size_t i = 0; i < instances.size(); ++i) {
            executions.push_back({stage, i, sample, instances[i].counted});
            sample += instances[i].counted ? 1 : 0;
        }
    }
    const auto startOf = [&](const Execution& e) {
        return workload.stages[e.stage].instances[e.instance].start_ns;
    };
    std::ranges::sort(executions, {}, startOf);
    return executions;
}

/// Where in `executions` a whole request begins: the stages of the path in order, all with samples.
std::vector<std::size_t> wholeRequests(const std::vector<Execution>& executions,
                                       const std::vector<std::size_t>& path) {
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; !path.empty() && at + path.size() <= executions.size();) {
        std::size_t matching = 0;
        while (matching < path.size() && executions[at + matching].stage == path[matching] &&
               executions[at + matching].counted) {
            ++matching;
        }
        if (matching == path.size()) {
            begins.push_back(at);
            at += path.size();
        } else {
            ++at;
        }
    }
    return begins;
}

double sampleOr(const std::vector<float>& samples, std::size_t index, double otherwise) {
    return index < samples.size() ? static_cast<double>(samples[index]) : otherwise;
}

/// Collects slices into lanes.
class Lanes {
public:
    explicit Lanes(const Workload& workload) : workload_(workload) {
        for (const auto& stage : workload.stages) {
            recorded_.details.push_back({.title = stage.name,
                                         .stage = stage.name,
                                         .role = {},
                                         .kernel = {},
                                         .op_class = workload::OpClass::Elementwise});
        }
        for (const auto& stage : workload.stages) {
            first_op_.push_back(static_cast<std::uint32_t>(recorded_.details.size()));
            for (const auto& op : stage.ops) {
                recorded_.details.push_back({.title = workload::shortName(op.kernel),
                                             .stage = stage.name,
                                             .role = std::string(toString(op.role)),
                                             .kernel = op.kernel,
                                             .op_class = workload::classOf(op.role),
                                             .grid = op.grid,
                                             .block = op.block,
                                             .registers = op.registers_per_thread,
                                             .shared_bytes = op.shared_bytes,
                                             .bytes = op.bytes});
            }
        }
    }

    /// Adds one execution that starts at `start_us`; sample −1: robust centres. Returns its end.
    double add(std::size_t stageIndex, double start_us, std::ptrdiff_t sample) {
        const auto& stage = workload_.stages[stageIndex];
        const std::size_t index = sample < 0 ? SIZE_MAX : static_cast<std::size_t>(sample);
        double latest = start_us;
        const auto replayed = workload::replayOps(stage, index);
        for (std::size_t i = 0; i < stage.ops.size(); ++i) {
            const auto& op = stage.ops[i];
            const double start = start_us + std::max(replayed[i].start_us, 0.0);
            const double end = start + sampleOr(op.duration_samples_us, index, op.duration_us);
            const bool copy = workload::classOf(op.role) == workload::OpClass::Copy;
            auto& lane = copy ? recorded_.copies : streams_[op.stream];
            lane.slices.push_back(
                {start, end, first_op_[stageIndex] + static_cast<std::uint32_t>(i)});
            latest = std::max(latest, end);
        }
        recorded_.stages.slices.push_back(
            {start_us, latest, static_cast<std::uint32_t>(stageIndex)});
        recorded_.total_us = std::max(recorded_.total_us, latest);
        return latest;
    }

    TimelineRecorded take() {
        recorded_.stages.name = "stages";
        recorded_.copies.name = "copies";
        std::ranges::sort(recorded_.copies.slices, {}, &TimelineSlice::start_us);
        for (auto& [stream, lane] : streams_) {
            lane.name = fmt::format("stream {}", stream);
            std::ranges::sort(lane.slices, {}, &TimelineSlice::start_us);
            recorded_.streams.push_back(std::move(lane));
        }
        return std::move(recorded_);
    }

private:
    const Workload& workload_;
    TimelineRecorded recorded_;
    std::vector<std::uint32_t> first_op_; ///< detail of each stage's first op
    std::map<std::int64_t, TimelineLane> streams_;
};

} // namespace

TimelineRecorded recordedOf(const search::Case& theCase) {
    const Workload& workload = theCase.traced;
    const auto path = workload::expand(workload.path);
    const auto executions = executionsInOrder(workload);
    auto requests = wholeRequests(executions, path);
    const auto instanceOf = [&](std::size_t at) -> const workload::Instance& {
        return workload.stages[executions[at].stage].instances[executions[at].instance];
    };
    Lanes lanes(workload);
    std::string note;
    if (requests.empty()) {
        double now = 0;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const double gap = i == 0 ? 0 : workload.stages[path[i]].entry_gap_us;
            now = lanes.add(path[i], std::max(0.0, now + gap), -1);
        }
        note = "typical request: every op at its mean, no recorded request holds the whole path";
    } else {
        const auto span_ns = [&](std::size_t at) {
            return instanceOf(at + path.size() - 1).end_ns - instanceOf(at).start_ns;
        };
        const auto middle =
            requests.begin() + static_cast<std::ptrdiff_t>((requests.size() - 1) / 2);
        std::ranges::nth_element(requests, middle, {}, span_ns);
        const std::int64_t zero_ns = instanceOf(*middle).start_ns;
        for (std::size_t at = *middle; at < *middle + path.size(); ++at) {
            const double start_us = static_cast<double>(instanceOf(at).start_ns - zero_ns) / 1000;
            lanes.add(executions[at].stage, start_us,
                      static_cast<std::ptrdiff_t>(executions[at].sample));
        }
        note = fmt::format("median of {} recorded requests, as traced", requests.size());
    }
    auto recorded = lanes.take();
    recorded.note = std::move(note);
    return recorded;
}

} // namespace kerf::views

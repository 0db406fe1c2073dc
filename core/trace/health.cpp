// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/health.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace kerf::trace {

std::int64_t sameStreamOverlaps(std::span<const Activity> activities) {
    std::vector<const Activity*> kernels;
    for (const Activity& activity : activities) {
        // an empty interval overlaps nothing
        if (activity.kind == ActivityKind::Kernel && activity.duration_ns > 0) {
            kernels.push_back(&activity);
        }
    }
    const auto lane = [](const Activity* kernel) {
        return std::tuple(kernel->process, kernel->device, kernel->stream);
    };
    std::ranges::sort(kernels, {}, [&](const Activity* kernel) {
        return std::tuple_cat(lane(kernel), std::tuple(kernel->start_ns));
    });
    std::int64_t pairs = 0;
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> running_ends;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (i > 0 && lane(kernels[i]) != lane(kernels[i - 1])) {
            running_ends = {};
        }
        while (!running_ends.empty() && running_ends.top() <= kernels[i]->start_ns) {
            running_ends.pop();
        }
        pairs += static_cast<std::int64_t>(running_ends.size());
        running_ends.push(kernels[i]->start_ns + kernels[i]->duration_ns);
    }
    return pairs;
}

std::vector<bool> withoutHostCall(const Recording& recording) {
    std::unordered_map<std::uint64_t, std::vector<std::int64_t>> processes_of;
    for (const ApiCall& call : recording.api_calls) {
        processes_of[call.correlation].push_back(call.process);
    }
    std::vector<bool> missing;
    missing.reserve(recording.activities.size());
    for (const Activity& activity : recording.activities) {
        const auto found = processes_of.find(activity.correlation);
        const bool has_call =
            found != processes_of.end() && std::ranges::any_of(found->second, [&](auto process) {
                return process == -1 || activity.process == -1 || process == activity.process;
            });
        missing.push_back(!has_call);
    }
    return missing;
}

bool isGraphLaunch(std::string_view api_call) {
    for (const std::string_view name : {"cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch"}) {
        if (api_call.starts_with(name)) {
            const auto suffix = api_call.substr(name.size());
            return suffix.empty() || suffix.front() == '_';
        }
    }
    return false;
}

void measureHealth(Recording& recording) {
    Health& health = recording.health;
    health.zero_durations = std::ranges::count(recording.activities, 0, &Activity::duration_ns);
    health.same_stream_overlaps = sameStreamOverlaps(recording.activities);
    health.without_host_call = std::ranges::count(withoutHostCall(recording), true);
}

bool isClean(const Health& health) {
    return health.dropped == 0 && health.zero_durations == 0 && health.negative_durations == 0 &&
           health.invalid_values == 0 && health.same_stream_overlaps == 0 &&
           health.without_host_call == 0 && !health.truncated && health.notes.empty();
}

std::vector<std::string> describe(const Health& health) {
    if (isClean(health)) {
        return {"Nothing is missing or doubtful."};
    }
    std::vector<std::string> lines;
    if (health.truncated) {
        lines.emplace_back("The file ends early: what follows its end is missing.");
    }
    const auto line = [&lines](std::int64_t count, std::string_view one, std::string_view many) {
        if (count == 1) {
            lines.push_back(fmt::format("1 {}.", one));
        } else if (count > 1) {
            lines.push_back(fmt::format("{} {}.", count, many));
        }
    };
    line(health.dropped, "record was lost by the recorder", "records were lost by the recorder");
    line(health.invalid_values, "GPU activity has unreadable times and is left out",
         "GPU activities have unreadable times and are left out");
    line(health.negative_durations, "GPU activity has a negative duration and is left out",
         "GPU activities have negative durations and are left out");
    line(health.without_host_call, "GPU activity has no host call in the file",
         "GPU activities have no host call in the file");
    line(health.same_stream_overlaps, "pair of kernels overlaps on one stream",
         "pairs of kernels overlap on one stream");
    line(health.zero_durations, "GPU activity claims to take no time",
         "GPU activities claim to take no time");
    lines.insert(lines.end(), health.notes.begin(), health.notes.end());
    return lines;
}

} // namespace kerf::trace

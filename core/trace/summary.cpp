// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/summary.h"

#include "core/trace/health.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kerf::trace {
namespace {

std::int64_t endOf(const Activity& activity) {
    return activity.start_ns + activity.duration_ns;
}

void extend(std::optional<SpanSummary>& span, const Activity& activity) {
    if (!span) {
        span = SpanSummary{activity.start_ns, endOf(activity)};
        return;
    }
    span->first_start_ns = std::min(span->first_start_ns, activity.start_ns);
    span->last_end_ns = std::max(span->last_end_ns, endOf(activity));
}

/// Whether µs in a double lose this time.
bool changesAsDouble(std::int64_t time_ns) {
    const std::int64_t rest_ns = std::abs(time_ns % 1000);
    const auto text =
        fmt::format("{}{}.{:03}", time_ns < 0 ? "-" : "", std::abs(time_ns / 1000), rest_ns);
    double microseconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), microseconds);
    return std::llrint(microseconds * 1000) != time_ns;
}

void countKinds(const Recording& recording, Summary& summary) {
    std::map<std::pair<std::int32_t, std::int64_t>, StreamSummary> streams;
    for (const Activity& activity : recording.activities) {
        const bool is_kernel = activity.kind == ActivityKind::Kernel;
        auto& stream = streams[{activity.device, activity.stream}];
        stream.device = activity.device;
        stream.stream = activity.stream;
        ++(is_kernel ? stream.kernels : stream.other);
        extend(summary.gpu_span, activity);
        if (activity.duration_ns == 0) {
            ++(is_kernel ? summary.zero_duration_kernels : summary.zero_duration_memops);
        }
        switch (activity.kind) {
        case ActivityKind::Kernel:
            ++summary.kernels;
            summary.kernel_time_ns += activity.duration_ns;
            summary.kernels_with_external_id += activity.has_external_id ? 1 : 0;
            summary.kernel_starts_changed_if_read_as_double +=
                changesAsDouble(activity.start_ns) ? 1 : 0;
            extend(summary.kernel_span, activity);
            break;
        case ActivityKind::Memcpy:
            ++summary.memcpys;
            summary.memcpy_time_ns += activity.duration_ns;
            break;
        case ActivityKind::Memset:
            ++summary.memsets;
            summary.memset_time_ns += activity.duration_ns;
            break;
        }
    }
    for (const auto& [key, stream] : streams) {
        summary.stream_list.push_back(stream);
        summary.streams_with_kernels += stream.kernels > 0 ? 1 : 0;
        if (summary.device_ids.empty() || summary.device_ids.back() != stream.device) {
            summary.device_ids.push_back(stream.device);
        }
    }
}

/// Activities are sorted by start, so each interval either extends the union or lies within it.
void measureBusyTime(const Recording& recording, Summary& summary) {
    std::map<std::int32_t, std::int64_t> busy_until;
    for (const Activity& activity : recording.activities) {
        if (activity.kind != ActivityKind::Kernel) {
            continue;
        }
        const auto [known, is_new] = busy_until.try_emplace(activity.device, activity.start_ns);
        const std::int64_t end_ns = endOf(activity);
        summary.kernel_busy_union_ns_by_device[activity.device] +=
            std::max<std::int64_t>(0, end_ns - std::max(known->second, activity.start_ns));
        known->second = std::max(known->second, end_ns);
    }
}

void findTopKernel(const Recording& recording, Summary& summary) {
    std::unordered_map<NameIndex, std::pair<std::int64_t, std::int64_t>> by_name;
    for (const Activity& activity : recording.activities) {
        if (activity.kind == ActivityKind::Kernel) {
            auto& [time_ns, count] = by_name[activity.name];
            time_ns += activity.duration_ns;
            ++count;
        }
    }
    summary.distinct_kernel_names = static_cast<std::int64_t>(by_name.size());
    for (const auto& [index, total] : by_name) {
        const auto& [time_ns, count] = total;
        const auto& name = recording.names[index];
        const auto& top = summary.top_kernel_by_time;
        // equal times: the first name of the alphabet, so that the answer is always the same
        if (!top || time_ns > top->time_ns || (time_ns == top->time_ns && name < top->name)) {
            summary.top_kernel_by_time = TopKernel{name, count, time_ns};
        }
    }
}

void describeDevices(const Recording& recording, Summary& summary) {
    summary.gpus = recording.devices;
    const auto find = [&](std::int32_t id) {
        return std::ranges::find(recording.devices, id, &Device::id);
    };
    for (const std::int32_t id : summary.device_ids) {
        if (find(id) == recording.devices.end()) {
            summary.devices_without_properties.push_back(id);
        }
    }
    if (summary.device_ids.size() == 1 && summary.devices_without_properties.empty()) {
        const Device& device = *find(summary.device_ids.front());
        summary.gpu_name = device.name;
        if (device.sm_count > 0) {
            summary.sm_count = device.sm_count;
        }
    }
}

void countLaunches(const Recording& recording, Summary& summary) {
    struct Group {
        std::int64_t kernels = 0;
        std::int64_t memcpys = 0;
        std::int64_t memsets = 0;
        bool has_call = true;
    };
    std::map<std::uint64_t, Group> groups;
    const auto missing = withoutHostCall(recording);
    for (std::size_t i = 0; i < recording.activities.size(); ++i) {
        const Activity& activity = recording.activities[i];
        const bool is_kernel = activity.kind == ActivityKind::Kernel;
        summary.gpu_activities_without_host_call += missing[i] ? 1 : 0;
        summary.kernels_without_host_call += missing[i] && is_kernel ? 1 : 0;
        Group& group = groups[activity.correlation];
        ++(is_kernel                               ? group.kernels
           : activity.kind == ActivityKind::Memcpy ? group.memcpys
                                                   : group.memsets);
        group.has_call = !missing[i];
    }
    summary.host_api_calls = static_cast<std::int64_t>(recording.api_calls.size());
    for (const ApiCall& call : recording.api_calls) {
        const auto& name = recording.names[call.name];
        if (!isGraphLaunch(name)) {
            continue;
        }
        const Group& group = groups[call.correlation];
        ++summary.graph_launches;
        ++summary.graph_launch_names[name];
        summary.kernels_per_graph_launch.push_back(group.kernels);
        summary.memcpys_per_graph_launch.push_back(group.memcpys);
        summary.memsets_per_graph_launch.push_back(group.memsets);
        summary.kernels_in_graph_launches += group.kernels;
    }
    for (const auto& [correlation, group] : groups) {
        if (!group.has_call && group.kernels + group.memcpys + group.memsets >= 2) {
            summary.kernels_in_groups_with_no_launch_call.push_back(group.kernels);
        }
    }
}

void countAnnotations(const Recording& recording, Summary& summary) {
    std::unordered_set<NameIndex> gpu_names;
    for (const Annotation& annotation : recording.annotations) {
        ++(annotation.on_gpu ? summary.gpu_user_annotations : summary.user_annotations);
        if (annotation.on_gpu) {
            gpu_names.insert(annotation.name);
        }
    }
    summary.gpu_user_annotation_names = static_cast<std::int64_t>(gpu_names.size());
}

} // namespace

Summary summarise(const Recording& recording) {
    Summary summary;
    summary.format = recording.format;
    summary.file = recording.file;
    summary.base_time_ns = recording.base_time_ns;
    summary.versions = recording.versions;
    countKinds(recording, summary);
    measureBusyTime(recording, summary);
    findTopKernel(recording, summary);
    summary.overlapping_same_stream_kernel_pairs = recording.health.same_stream_overlaps;
    summary.negative_duration_kernels = recording.health.negative_duration_kernels;
    summary.negative_duration_memops =
        recording.health.negative_durations - recording.health.negative_duration_kernels;
    describeDevices(recording, summary);
    countLaunches(recording, summary);
    countAnnotations(recording, summary);
    return summary;
}

} // namespace kerf::trace

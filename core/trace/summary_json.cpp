// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/summary.h"

#include <nlohmann/json.hpp>

namespace kerf::trace {
namespace {

using nlohmann::json;

template <class T> json orNull(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

json toJson(const std::optional<SpanSummary>& span) {
    if (!span) {
        return nullptr;
    }
    return {{"first_start_ns", std::to_string(span->first_start_ns)},
            {"last_end_ns", std::to_string(span->last_end_ns)},
            {"span_ns", span->last_end_ns - span->first_start_ns}};
}

json streamsToJson(const std::vector<StreamSummary>& streams) {
    json list = json::array();
    for (const StreamSummary& stream : streams) {
        list.push_back({{"device", stream.device},
                        {"stream", stream.stream},
                        {"kernels", stream.kernels},
                        {"other", stream.other}});
    }
    return list;
}

json gpusToJson(const std::vector<Device>& gpus) {
    json list = json::array();
    for (const Device& gpu : gpus) {
        list.push_back({{"id", gpu.id},
                        {"name", gpu.name},
                        {"sm_count", gpu.sm_count > 0 ? json(gpu.sm_count) : json(nullptr)}});
    }
    return list;
}

} // namespace

json toJson(const Summary& summary) {
    json busy = json::object();
    for (const auto& [device, time_ns] : summary.kernel_busy_union_ns_by_device) {
        busy[std::to_string(device)] = time_ns;
    }
    json result = {
        {"format", summary.format},
        {"top_level", summary.file.top_level},
        {"schema_version", orNull(summary.file.schema_version)},
        {"display_time_unit", orNull(summary.file.display_time_unit)},
        {"base_time_ns",
         summary.base_time_ns ? json(std::to_string(*summary.base_time_ns)) : json(nullptr)},
        {"versions", summary.versions},
        {"uncompressed_bytes", summary.file.content_bytes},
        {"trace_events", summary.file.trace_events},
        {"complete_events", summary.file.complete_events},
        {"kernels", summary.kernels},
        {"memcpys", summary.memcpys},
        {"memsets", summary.memsets},
        {"device_ids", summary.device_ids},
        {"devices", summary.device_ids.size()},
        {"streams", summary.stream_list.size()},
        {"streams_with_kernels", summary.streams_with_kernels},
        {"stream_list", streamsToJson(summary.stream_list)},
        {"kernel_time_ns", summary.kernel_time_ns},
        {"memcpy_time_ns", summary.memcpy_time_ns},
        {"memset_time_ns", summary.memset_time_ns},
        {"kernel_span", toJson(summary.kernel_span)},
        {"gpu_span", toJson(summary.gpu_span)},
        {"kernel_busy_union_ns_by_device", busy},
        {"distinct_kernel_names", summary.distinct_kernel_names},
        {"overlapping_same_stream_kernel_pairs", summary.overlapping_same_stream_kernel_pairs},
        {"zero_duration_kernels", summary.zero_duration_kernels},
        {"zero_duration_memops", summary.zero_duration_memops},
        {"negative_duration_kernels", summary.negative_duration_kernels},
        {"negative_duration_memops", summary.negative_duration_memops},
        {"kernel_starts_changed_if_read_as_double",
         summary.kernel_starts_changed_if_read_as_double},
        {"gpus", gpusToJson(summary.gpus)},
        {"devices_without_properties", summary.devices_without_properties},
        {"gpu_name", orNull(summary.gpu_name)},
        {"sm_count", orNull(summary.sm_count)},
        {"host_api_calls", summary.host_api_calls},
        {"gpu_activities_without_host_call", summary.gpu_activities_without_host_call},
        {"kernels_without_host_call", summary.kernels_without_host_call},
        {"kernels_with_external_id", summary.kernels_with_external_id},
        {"graph_launches", summary.graph_launches},
        {"graph_launch_names", summary.graph_launch_names},
        {"kernels_per_graph_launch", summary.kernels_per_graph_launch},
        {"memcpys_per_graph_launch", summary.memcpys_per_graph_launch},
        {"memsets_per_graph_launch", summary.memsets_per_graph_launch},
        {"kernels_in_graph_launches", summary.kernels_in_graph_launches},
        {"kernels_in_groups_with_no_launch_call", summary.kernels_in_groups_with_no_launch_call},
        {"gpu_user_annotations", summary.gpu_user_annotations},
        {"gpu_user_annotation_names", summary.gpu_user_annotation_names},
        {"user_annotations", summary.user_annotations},
    };
    if (const auto& top = summary.top_kernel_by_time) {
        result["top_kernel_by_time"] = {
            {"name", top->name}, {"count", top->count}, {"time_ns", top->time_ns}};
    }
    return result;
}

} // namespace kerf::trace

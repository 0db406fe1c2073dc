// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording holds, in numbers. `kerf info` prints it; docs/formats/kineto.md defines each.
#pragma once

#include "core/trace/recording.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kerf::trace {

/// Work of one stream of one device.
struct StreamSummary {
    std::int32_t device = 0;
    std::int64_t stream = 0;
    std::int64_t kernels = 0;
    std::int64_t other = 0; ///< memcpys and memsets
};

/// From the first start to the last end, without Recording::base_time_ns.
struct SpanSummary {
    std::int64_t first_start_ns = 0;
    std::int64_t last_end_ns = 0;
};

struct TopKernel {
    std::string name;
    std::int64_t count = 0;
    std::int64_t time_ns = 0;
};

struct Summary {
    std::string format;
    FileFacts file;
    std::optional<std::int64_t> base_time_ns;
    std::map<std::string, std::string> versions;

    std::int64_t kernels = 0;
    std::int64_t memcpys = 0;
    std::int64_t memsets = 0;
    std::vector<std::int32_t> device_ids;   ///< devices with GPU work
    std::vector<StreamSummary> stream_list; ///< by device and stream
    std::int64_t streams_with_kernels = 0;
    std::int64_t kernel_time_ns = 0; ///< sum of durations
    std::int64_t memcpy_time_ns = 0;
    std::int64_t memset_time_ns = 0;
    std::optional<SpanSummary> kernel_span;
    std::optional<SpanSummary> gpu_span; ///< also copies and memsets
    std::map<std::int32_t, std::int64_t> kernel_busy_union_ns_by_device; ///< length of the union
    std::int64_t distinct_kernel_names = 0;
    std::optional<TopKernel> top_kernel_by_time;

    std::int64_t overlapping_same_stream_kernel_pairs = 0;
    std::int64_t zero_duration_kernels = 0;
    std::int64_t zero_duration_memops = 0;
    std::int64_t negative_duration_kernels = 0; ///< left out of all other counts
    std::int64_t negative_duration_memops = 0;
    std::int64_t kernel_starts_changed_if_read_as_double = 0;

    std::vector<Device> gpus;                             ///< as the file lists them
    std::vector<std::int32_t> devices_without_properties; ///< with GPU work, but not in `gpus`
    std::optional<std::string> gpu_name; ///< of the one device used; none for several
    std::optional<std::int32_t> sm_count;

    std::int64_t host_api_calls = 0;
    std::int64_t gpu_activities_without_host_call = 0;
    std::int64_t kernels_without_host_call = 0;
    std::int64_t kernels_with_external_id = 0;

    std::int64_t graph_launches = 0;
    std::map<std::string, std::int64_t> graph_launch_names;
    std::vector<std::int64_t> kernels_per_graph_launch; ///< in the order of the calls
    std::vector<std::int64_t> memcpys_per_graph_launch;
    std::vector<std::int64_t> memsets_per_graph_launch;
    std::int64_t kernels_in_graph_launches = 0;
    /// kernels of each group of ≥ 2 activities that share a correlation without host call
    std::vector<std::int64_t> kernels_in_groups_with_no_launch_call;

    std::int64_t gpu_user_annotations = 0;
    std::int64_t gpu_user_annotation_names = 0;
    std::int64_t user_annotations = 0;
};

[[nodiscard]] Summary summarise(const Recording& recording);

/// One object; a key is named as its member, FileFacts' members among them. Values that can pass
/// 2^53 (starts, ends, the base time) are strings; what is not known is null.
[[nodiscard]] nlohmann::json toJson(const Summary& summary);

} // namespace kerf::trace

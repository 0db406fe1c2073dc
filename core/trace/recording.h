// SPDX-License-Identifier: GPL-3.0-or-later
// The recording model: what every reader produces and everything else starts from.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kerf::trace {

using NameIndex = std::uint32_t; ///< index into Recording::names

enum class ActivityKind : std::uint8_t { Kernel, Memcpy, Memset };

/// One piece of work on a GPU. Times in ns relative to Recording::base_time_ns.
struct Activity {
    std::int64_t start_ns = 0;
    std::int64_t duration_ns =
        0; ///< never negative; faulty ones are left out and counted in Health
    NameIndex name = 0;
    ActivityKind kind = ActivityKind::Kernel;
    std::int32_t device = 0;
    std::int64_t stream = 0;
    std::int64_t process = -1;           ///< −1 where the file does not say
    std::uint64_t correlation = 0;       ///< launch that caused it; 0 where the file does not say
    std::uint64_t graph_node_id = 0;     ///< 0 where the file does not say
    std::array<std::uint32_t, 3> grid{}; ///< zero where the file does not say
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers_per_thread = 0;
    std::uint32_t shared_bytes = 0; ///< static and dynamic
    std::uint64_t bytes = 0;        ///< copies and memsets
    bool has_external_id = false;
};

/// A host call of the CUDA (or HIP) runtime or driver API.
struct ApiCall {
    std::int64_t start_ns = 0;
    std::int64_t duration_ns = 0;
    NameIndex name = 0;
    std::uint64_t correlation = 0;
    std::int64_t process = -1;
    std::int64_t thread = 0;
};

/// A named range: set by the program on the host (user annotation, NVTX) or its shadow on the GPU.
struct Annotation {
    std::int64_t start_ns = 0;
    std::int64_t duration_ns = 0;
    NameIndex name = 0;
    bool on_gpu = false;
    std::int64_t process = -1; ///< −1 when on_gpu
    std::int32_t device = -1;  ///< when on_gpu
    std::int64_t track = 0;    ///< host thread, or stream when on_gpu
};

/// A GPU as the file describes it; zero or empty where it does not.
struct Device {
    std::int32_t id = 0;
    std::string name;
    std::int32_t sm_count = 0;
    std::int32_t compute_major = 0;
    std::int32_t compute_minor = 0;
    std::int32_t max_threads_per_sm = 0;
    std::int32_t registers_per_sm = 0;
    std::int32_t shared_bytes_per_sm = 0;
    std::int32_t shared_bytes_per_block_optin = 0;
    std::int64_t memory_bytes = 0;
};

/// What is wrong or incomplete in a recording; shown beside every result that uses it.
struct Health {
    std::int64_t dropped = 0;            ///< records that the recorder says it lost
    std::int64_t zero_durations = 0;     ///< kernels and copies that claim to take no time; kept
    std::int64_t negative_durations = 0; ///< activities that end before they start; left out
    std::int64_t negative_duration_kernels = 0; ///< those of them that are kernels
    std::int64_t invalid_values =
        0; ///< activities with NaN, infinite or unreadable numbers; left out
    std::int64_t same_stream_overlaps =
        0;                              ///< unordered pairs of kernels that overlap on one stream
    std::int64_t without_host_call = 0; ///< activities whose launch is not in the file
    bool truncated = false;             ///< the file ends early
    std::vector<std::string> notes;     ///< further findings, one sentence each
};

/// What a file says about itself, before anything is interpreted.
struct FileFacts {
    std::string top_level; ///< JSON: "object" or "array"
    std::optional<std::int64_t> schema_version;
    std::optional<std::string> display_time_unit; ///< changes nothing: times are read in µs
    std::int64_t content_bytes = 0;               ///< unpacked
    std::int64_t trace_events = 0;
    std::int64_t complete_events = 0; ///< those with a duration (ph X)
};

/// One trace of conventional execution.
struct Recording {
    std::string path;                         ///< file it was read from
    std::string model;                        ///< as its recorder was told; empty: not
    int batch = 0;                            ///< the same; 0: not
    std::string format;                       ///< reader's name, e.g. "kineto-chrome-json"
    std::optional<std::int64_t> base_time_ns; ///< to add to every time for absolute ns
    std::vector<std::string> names;           ///< interned strings
    std::vector<Activity> activities;         ///< sorted by (start, stream)
    std::vector<ApiCall> api_calls;           ///< sorted by start
    std::vector<Annotation> annotations;      ///< sorted by start, longest first
    std::vector<Device> devices;
    std::map<std::string, std::string> versions; ///< e.g. "cuda_runtime_version" → "13000"
    FileFacts file;
    Health health;
};

} // namespace kerf::trace

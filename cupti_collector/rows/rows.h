// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording holds, as plain rows: CUPTI's records without CUPTI's types.
// Times are ns of CUPTI's clock (CLOCK_REALTIME by default); numbers keep CUPTI's meaning.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kerf::collector {

using NameId = std::uint32_t;  ///< id of a NameRow; 0: CUPTI gave no name
using ShapeId = std::uint32_t; ///< id of a ShapeRow, from 1

/// A text that rows refer to; each is written once.
struct NameRow {
    NameId id = 0;
    std::string text;
};

/// Everything about a kernel launch that repeats from launch to launch; each is written once.
struct ShapeRow {
    ShapeId id = 0;
    NameId name = 0;
    std::array<std::int32_t, 3> grid{};
    std::array<std::int32_t, 3> block{};
    std::array<std::uint32_t, 3> cluster{}; ///< zero without clusters
    std::uint32_t registers_per_thread = 0;
    std::int32_t static_shared_bytes = 0;
    std::int32_t dynamic_shared_bytes = 0;
    std::uint32_t executed_shared_bytes = 0; ///< shared memory the SM was set to
    std::uint32_t local_bytes_per_thread = 0;
    std::uint32_t cluster_scheduling_policy = 0;
    std::uint32_t max_potential_cluster_size = 0;
    std::uint32_t max_active_clusters = 0;
    std::uint32_t launch_type = 0;     ///< CUpti_ActivityLaunchType: 0 regular, 1 and 2 cooperative
    std::uint32_t cache_config = 0;    ///< requested in the low 4 bits, executed in the high 4
    std::uint32_t device_launched = 0; ///< 1: launched by a kernel

    bool operator==(const ShapeRow&) const = default;
};

/// Where and when a piece of GPU work ran.
struct Span {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    std::uint32_t graph = 0;      ///< 0 outside graphs
    std::uint64_t graph_node = 0; ///< 0 outside graphs
};

struct KernelRow {
    Span span;
    ShapeId shape = 0;
};

struct CopyRow {
    Span span;
    std::uint64_t bytes = 0;
    std::uint32_t copy_kind = 0; ///< CUpti_ActivityMemcpyKind
    std::uint32_t source_kind = 0;
    std::uint32_t destination_kind = 0;
    std::uint32_t flags = 0;         ///< 1: asynchronous
    std::int64_t source_device = -1; ///< −1 unless between two devices
    std::int64_t destination_device = -1;
    std::uint64_t copy_count = 1;
};

struct MemsetRow {
    Span span;
    std::uint64_t bytes = 0;
    std::uint32_t value = 0;
    std::uint32_t memory_kind = 0;
    std::uint32_t flags = 0;
};

enum class ApiDomain : std::uint8_t { Runtime, Driver };

struct ApiRow {
    ApiDomain domain = ApiDomain::Runtime;
    NameId name = 0;
    std::uint32_t callback_id = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t correlation = 0;
    std::uint32_t result = 0;
};

/// One whole graph launch (graph-level tracing).
struct GraphLaunchRow {
    Span span;
    std::uint32_t end_device = 0;
    std::uint32_t end_context = 0;
};

/// One NVTX event; ranges are two of them with one id.
struct MarkerRow {
    std::uint64_t time_ns = 0;
    std::uint32_t id = 0;
    std::uint32_t flags = 0; ///< CUpti_ActivityFlag: 1 instant, 2 begin, 4 end
    NameId name = 0;         ///< 0 at an end
    NameId domain = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
};

struct MarkerDataRow {
    std::uint32_t id = 0;
    std::uint32_t flags = 0;
    std::uint32_t payload_kind = 0;
    std::uint64_t payload_bits = 0;
    std::uint32_t colour = 0;
    std::uint32_t category = 0;
};

struct ExternalRow {
    std::uint32_t kind = 0;
    std::uint64_t external_id = 0;
    std::uint32_t correlation = 0;
};

struct StreamRow {
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::int32_t priority = 0; ///< lower runs first
    std::uint32_t flag = 0;
    std::uint32_t correlation = 0;
};

struct ContextRow {
    std::uint32_t context = 0;
    std::uint32_t device = 0;
    std::uint32_t api_kind = 0;
    std::uint32_t null_stream = 0;
    std::uint32_t parent_context = 0;
    std::uint32_t sm_count = 0; ///< of a green context
};

struct DeviceRow {
    std::uint32_t device = 0;
    NameId name = 0;
    std::string uuid{}; ///< 32 hexadecimal digits
    std::uint32_t compute_major = 0;
    std::uint32_t compute_minor = 0;
    std::uint32_t sm_count = 0;
    std::uint32_t max_warps_per_sm = 0;
    std::uint32_t max_blocks_per_sm = 0;
    std::uint32_t registers_per_sm = 0;
    std::uint32_t shared_bytes_per_sm = 0;
    std::uint32_t shared_bytes_per_block = 0;
    std::uint32_t threads_per_block = 0;
    std::uint32_t warp_threads = 0;
    std::uint32_t l2_bytes = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t memory_kb_per_s = 0;
    std::uint32_t core_clock_khz = 0;
    std::uint32_t mig = 0;
};

/// Time that CUPTI or the driver spent on tracing itself.
struct OverheadRow {
    std::uint32_t kind = 0;
    std::uint32_t object_kind = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t correlation = 0;
};

struct SynchronizationRow {
    std::uint32_t type = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t correlation = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t event = 0;
    std::uint32_t result = 0;
};

/// The same moment on three clocks.
struct ClockRow {
    std::int64_t realtime_ns = 0;
    std::int64_t monotonic_ns = 0;
    std::uint64_t cupti_ns = 0;
};

/// A graph as it was when it was instantiated, or (revision > 0) after an update.
struct GraphRow {
    std::uint32_t definition = 0; ///< our number, from 1: rows of nodes and edges refer to it
    std::uint32_t graph = 0;      ///< CUPTI's id of the template
    std::uint32_t exec_graph = 0; ///< CUPTI's id of the executable graph; 0 where it gives none
    std::uint32_t revision = 0;
    std::uint32_t parent_definition = 0; ///< of a child graph; else 0
    std::uint64_t parent_node = 0;
};

struct GraphNodeRow {
    std::uint32_t definition = 0;
    std::uint64_t node = 0; ///< CUPTI's id
    std::uint32_t type = 0; ///< CUgraphNodeType
    NameId name = 0;        ///< of a kernel
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t dynamic_shared_bytes = 0;
    std::int32_t priority = 0;
};

struct GraphEdgeRow {
    std::uint32_t definition = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t type = 0; ///< CUgraphDependencyType: 1 programmatic
    std::uint32_t from_port = 0;
    std::uint32_t to_port = 0;
};

/// `node` was made as a copy of `original`.
struct GraphCloneRow {
    std::uint64_t original = 0;
    std::uint64_t node = 0;
};

/// What was not recorded, by cause. Counts of records unless named otherwise.
struct Loss {
    std::uint64_t dropped_by_cupti = 0;
    std::uint64_t zero_time = 0; ///< start or end is 0
    std::uint64_t end_before_start = 0;
    std::uint64_t time_out_of_range = 0; ///< beyond 2^63 − 1 ns
    std::uint64_t unknown_kind = 0;
    std::uint64_t truncated_buffers = 0; ///< buffers whose walk stopped early
    std::uint64_t refused_buffers = 0;   ///< CUPTI asked for a buffer and none was free
    std::uint64_t out_of_memory = 0;     ///< buffers or jobs lost for want of memory
    std::uint64_t queue_full = 0;        ///< jobs that the writer's queue had no room for
    std::uint64_t not_written = 0;       ///< rows lost to a failed write (disk full)

    Loss& operator+=(const Loss& other);
    bool operator==(const Loss&) const = default;
};

/// Rows on their way to the file.
struct RowBatch {
    std::vector<NameRow> names;
    std::vector<ShapeRow> shapes;
    std::vector<KernelRow> kernels;
    std::vector<CopyRow> copies;
    std::vector<MemsetRow> memsets;
    std::vector<ApiRow> api_calls;
    std::vector<GraphLaunchRow> graph_launches;
    std::vector<MarkerRow> markers;
    std::vector<MarkerDataRow> marker_data;
    std::vector<ExternalRow> external;
    std::vector<StreamRow> streams;
    std::vector<ContextRow> contexts;
    std::vector<DeviceRow> devices;
    std::vector<OverheadRow> overheads;
    std::vector<SynchronizationRow> synchronizations;
    std::vector<ClockRow> clocks;
    std::vector<GraphRow> graphs;
    std::vector<GraphNodeRow> graph_nodes;
    std::vector<GraphEdgeRow> graph_edges;
    std::vector<GraphCloneRow> graph_clones;
    std::vector<std::string> notes; ///< findings for a person, one sentence each
    Loss loss;

    [[nodiscard]] std::size_t size() const; ///< rows in all
    void clear();                           ///< empties it and keeps the memory
};

} // namespace kerf::collector

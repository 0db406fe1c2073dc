// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a .kerfrec file; docs/formats/kerfrec.md says what the columns mean.
#pragma once

namespace kerf::collector {

inline constexpr int kApplicationId = 0x4B455246; ///< "KERF", in SQLite's header
inline constexpr int kFormatVersion = 1;          ///< SQLite's user_version

inline constexpr const char* kSchema = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE health (cause TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE launch_shapes (id INTEGER PRIMARY KEY, name INTEGER,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER,
  cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER,
  registers_per_thread INTEGER, static_shared_bytes INTEGER, dynamic_shared_bytes INTEGER,
  executed_shared_bytes INTEGER, local_bytes_per_thread INTEGER,
  cluster_scheduling_policy INTEGER, max_potential_cluster_size INTEGER,
  max_active_clusters INTEGER, launch_type INTEGER, cache_config INTEGER, device_launched INTEGER);
CREATE TABLE kernels (start_ns INTEGER, duration_ns INTEGER, device INTEGER, context INTEGER,
  stream INTEGER, correlation INTEGER, graph INTEGER, graph_node INTEGER, shape INTEGER);
CREATE TABLE copies (start_ns INTEGER, duration_ns INTEGER, device INTEGER, context INTEGER,
  stream INTEGER, correlation INTEGER, graph INTEGER, graph_node INTEGER, bytes INTEGER,
  copy_kind INTEGER, source_kind INTEGER, destination_kind INTEGER, flags INTEGER,
  source_device INTEGER, destination_device INTEGER, copy_count INTEGER);
CREATE TABLE memsets (start_ns INTEGER, duration_ns INTEGER, device INTEGER, context INTEGER,
  stream INTEGER, correlation INTEGER, graph INTEGER, graph_node INTEGER, bytes INTEGER,
  value INTEGER, memory_kind INTEGER, flags INTEGER);
CREATE TABLE api_calls (start_ns INTEGER, duration_ns INTEGER, domain INTEGER, callback_id INTEGER,
  name INTEGER, process INTEGER, thread INTEGER, correlation INTEGER, result INTEGER);
CREATE TABLE graph_launches (start_ns INTEGER, duration_ns INTEGER, device INTEGER,
  context INTEGER, stream INTEGER, correlation INTEGER, graph INTEGER, end_device INTEGER,
  end_context INTEGER);
CREATE TABLE markers (time_ns INTEGER, id INTEGER, flags INTEGER, name INTEGER, domain INTEGER,
  process INTEGER, thread INTEGER);
CREATE TABLE marker_data (id INTEGER, flags INTEGER, payload_kind INTEGER, payload_bits INTEGER,
  colour INTEGER, category INTEGER);
CREATE TABLE external_correlations (kind INTEGER, external_id INTEGER, correlation INTEGER);
CREATE TABLE streams (context INTEGER, stream INTEGER, priority INTEGER, flag INTEGER,
  correlation INTEGER);
CREATE TABLE contexts (context INTEGER, device INTEGER, api_kind INTEGER, null_stream INTEGER,
  parent_context INTEGER, sm_count INTEGER);
CREATE TABLE devices (device INTEGER, name INTEGER, uuid TEXT, compute_major INTEGER,
  compute_minor INTEGER, sm_count INTEGER, max_warps_per_sm INTEGER, max_blocks_per_sm INTEGER,
  registers_per_sm INTEGER, shared_bytes_per_sm INTEGER, shared_bytes_per_block INTEGER,
  threads_per_block INTEGER, warp_threads INTEGER, l2_bytes INTEGER, memory_bytes INTEGER,
  memory_kb_per_s INTEGER, core_clock_khz INTEGER, mig INTEGER);
CREATE TABLE overheads (start_ns INTEGER, duration_ns INTEGER, kind INTEGER, object_kind INTEGER,
  process INTEGER, thread INTEGER, correlation INTEGER);
CREATE TABLE synchronizations (start_ns INTEGER, duration_ns INTEGER, type INTEGER,
  correlation INTEGER, context INTEGER, stream INTEGER, event INTEGER, result INTEGER);
CREATE TABLE clocks (realtime_ns INTEGER, monotonic_ns INTEGER, cupti_ns INTEGER);
CREATE TABLE graphs (definition INTEGER, graph INTEGER, exec_graph INTEGER, revision INTEGER,
  parent_definition INTEGER, parent_node INTEGER);
CREATE TABLE graph_nodes (definition INTEGER, node INTEGER, type INTEGER, name INTEGER,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER,
  block_z INTEGER, dynamic_shared_bytes INTEGER, priority INTEGER);
CREATE TABLE graph_edges (definition INTEGER, from_node INTEGER, to_node INTEGER, type INTEGER,
  from_port INTEGER, to_port INTEGER);
CREATE TABLE graph_clones (original INTEGER, node INTEGER);
CREATE TABLE notes (text TEXT NOT NULL);
)sql";

} // namespace kerf::collector

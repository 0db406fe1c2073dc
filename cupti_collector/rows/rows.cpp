// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/rows/rows.h"

namespace kerf::collector {
namespace {

template <class Batch, class Visit> void eachTable(Batch& batch, Visit visit) {
    visit(batch.names);
    visit(batch.shapes);
    visit(batch.kernels);
    visit(batch.copies);
    visit(batch.memsets);
    visit(batch.api_calls);
    visit(batch.graph_launches);
    visit(batch.markers);
    visit(batch.marker_data);
    visit(batch.external);
    visit(batch.streams);
    visit(batch.contexts);
    visit(batch.devices);
    visit(batch.overheads);
    visit(batch.synchronizations);
    visit(batch.clocks);
    visit(batch.graphs);
    visit(batch.graph_nodes);
    visit(batch.graph_edges);
    visit(batch.graph_clones);
    visit(batch.notes);
}

} // namespace

Loss& Loss::operator+=(const Loss& other) {
    dropped_by_cupti += other.dropped_by_cupti;
    zero_time += other.zero_time;
    end_before_start += other.end_before_start;
    time_out_of_range += other.time_out_of_range;
    unknown_kind += other.unknown_kind;
    truncated_buffers += other.truncated_buffers;
    refused_buffers += other.refused_buffers;
    out_of_memory += other.out_of_memory;
    queue_full += other.queue_full;
    not_written += other.not_written;
    return *this;
}

std::size_t RowBatch::size() const {
    std::size_t rows = 0;
    eachTable(*this, [&](const auto& table) { rows += table.size(); });
    return rows;
}

void RowBatch::clear() {
    eachTable(*this, [](auto& table) { table.clear(); });
    loss = {};
}

} // namespace kerf::collector

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/rows/activity_rows.h"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace kerf::collector {
namespace {

// From 13.0 on, cuptiGetVersion gives 130000 and more; earlier versions count 1, 2, … 28.
constexpr std::uint32_t kCupti13 = 130000;

/// The oldest layout of each kind that the supported CUPTI versions (12.4 on) write: a shorter
/// record is cut off.
std::size_t leastBytes(CUpti_ActivityKind kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return offsetof(CUpti_ActivityKernel10, isDeviceLaunched);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return offsetof(CUpti_ActivityMemcpy6, isDeviceLaunched);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return offsetof(CUpti_ActivityMemset4, isDeviceLaunched);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return offsetof(CUpti_ActivityGraphTrace2, endDeviceId);
    case CUPTI_ACTIVITY_KIND_MARKER:
        return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
        return offsetof(CUpti_ActivityMarkerData2, cuptiDomainId);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_STREAM:
        return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return offsetof(CUpti_ActivityContext3, parentContextId);
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return offsetof(CUpti_ActivityDevice5, isNumaNode);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return offsetof(CUpti_ActivityOverhead3, correlationId);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId);
    default:
        return sizeof(CUpti_Activity);
    }
}

/// A whole record, its missing tail zero: an older CUPTI writes fewer fields.
template <class Record> Record wholeRecord(const CUpti_Activity& record, std::size_t bytes) {
    Record whole{};
    std::memcpy(&whole, &record, std::min(bytes, sizeof whole));
    return whole;
}

/// Whether the times can be used; counts why not.
bool timesAreUsable(std::uint64_t start_ns, std::uint64_t end_ns, Loss& loss) {
    constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max();
    if (start_ns == 0 || end_ns == 0) {
        ++loss.zero_time;
    } else if (start_ns > kLatest || end_ns > kLatest) {
        ++loss.time_out_of_range;
    } else if (end_ns < start_ns) {
        ++loss.end_before_start;
    } else {
        return true;
    }
    return false;
}

template <class Record> Span spanOf(const Record& record) {
    return {.start_ns = record.start,
            .end_ns = record.end,
            .device = record.deviceId,
            .context = record.contextId,
            .stream = record.streamId,
            .correlation = record.correlationId,
            .graph = record.graphId,
            .graph_node = record.graphNodeId};
}

std::string hexOf(const CUuuid& uuid) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char c : uuid.bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

} // namespace

std::size_t ActivityRows::ShapeHash::operator()(const ShapeRow& shape) const {
    std::size_t hash = shape.name;
    const auto mix = [&hash](std::size_t value) { hash = hash * 0x9E3779B97F4A7C15ULL + value; };
    for (std::size_t axis = 0; axis < 3; ++axis) {
        mix(static_cast<std::size_t>(shape.grid[axis]));
        mix(static_cast<std::size_t>(shape.block[axis]));
        mix(shape.cluster[axis]);
    }
    mix(shape.registers_per_thread);
    mix(static_cast<std::size_t>(shape.static_shared_bytes));
    mix(static_cast<std::size_t>(shape.dynamic_shared_bytes));
    return hash ^ (hash >> 29U);
}

void ActivityRows::add(std::uint8_t* buffer, std::size_t valid_bytes, RowBatch& batch) {
    CUpti_Activity* record = nullptr;
    const std::uint8_t* before = nullptr;
    while (true) {
        const CUptiResult result = source_.next_record(buffer, valid_bytes, &record);
        if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) {
            return;
        }
        // a record outside the buffer, or one that does not move on, would be read for ever
        const auto* at = reinterpret_cast<const std::uint8_t*>(record);
        if (result != CUPTI_SUCCESS || at == nullptr || at < buffer || at <= before ||
            at + sizeof(CUpti_Activity) > buffer + valid_bytes ||
            !addRecord(*record, static_cast<std::size_t>(buffer + valid_bytes - at), batch)) {
            ++batch.loss.truncated_buffers;
            return;
        }
        before = at;
    }
}

bool ActivityRows::addRecord(const CUpti_Activity& record, std::size_t bytes, RowBatch& batch) {
    if (bytes < leastBytes(record.kind)) {
        return false;
    }
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        addKernel(wholeRecord<CUpti_ActivityKernel10>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        addCopy(wholeRecord<CUpti_ActivityMemcpy6>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        addPeerCopy(wholeRecord<CUpti_ActivityMemcpyPtoP4>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        addMemset(wholeRecord<CUpti_ActivityMemset4>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        addApi(wholeRecord<CUpti_ActivityAPI>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        addGraphLaunch(wholeRecord<CUpti_ActivityGraphTrace2>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_MARKER:
        addMarker(wholeRecord<CUpti_ActivityMarker2>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
        addMarkerData(wholeRecord<CUpti_ActivityMarkerData2>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto external = wholeRecord<CUpti_ActivityExternalCorrelation>(record, bytes);
        batch.external.push_back({.kind = static_cast<std::uint32_t>(external.externalKind),
                                  .external_id = external.externalId,
                                  .correlation = external.correlationId});
        break;
    }
    case CUPTI_ACTIVITY_KIND_STREAM: {
        const auto stream = wholeRecord<CUpti_ActivityStream>(record, bytes);
        batch.streams.push_back({.context = stream.contextId,
                                 .stream = stream.streamId,
                                 .priority = static_cast<std::int32_t>(stream.priority),
                                 .flag = static_cast<std::uint32_t>(stream.flag),
                                 .correlation = stream.correlationId});
        break;
    }
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
        const auto context = wholeRecord<CUpti_ActivityContext3>(record, bytes);
        const bool has_tail = source_.cupti_version >= kCupti13;
        batch.contexts.push_back(
            {.context = context.contextId,
             .device = context.deviceId,
             .api_kind = context.computeApiKind,
             .null_stream = context.nullStreamId,
             .parent_context = has_tail ? context.parentContextId : 0,
             .sm_count = has_tail ? std::uint32_t{context.numMultiprocessors} : 0});
        break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE:
        addDevice(wholeRecord<CUpti_ActivityDevice5>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        addOverhead(wholeRecord<CUpti_ActivityOverhead3>(record, bytes), batch);
        break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        addSynchronization(wholeRecord<CUpti_ActivitySynchronization2>(record, bytes), batch);
        break;
    default:
        ++batch.loss.unknown_kind;
    }
    return true;
}

ShapeId ActivityRows::internShape(ShapeRow shape, RowBatch& batch) {
    const auto next = static_cast<ShapeId>(shapes_.size() + 1);
    const auto [place, is_new] = shapes_.try_emplace(shape, next);
    if (is_new) {
        shape.id = next;
        batch.shapes.push_back(shape);
    }
    return place->second;
}

NameId ActivityRows::apiName(ApiDomain domain, std::uint32_t callback_id, RowBatch& batch) {
    const auto key = (static_cast<std::uint64_t>(domain) << 32U) | callback_id;
    if (const auto found = api_names_.find(key); found != api_names_.end()) {
        return found->second;
    }
    const char* text = nullptr;
    if (source_.callback_name != nullptr) {
        const auto cupti_domain =
            domain == ApiDomain::Runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
        if (source_.callback_name(cupti_domain, callback_id, &text) != CUPTI_SUCCESS) {
            text = nullptr;
        }
    }
    // CUPTI adds the version in which a call got its signature: cudaLaunchKernel_v7000
    std::string_view name = text == nullptr ? "" : text;
    if (domain == ApiDomain::Runtime) {
        if (const auto version = name.rfind("_v"); version != std::string_view::npos) {
            name = name.substr(0, version);
        }
    }
    const NameId id = text == nullptr ? 0 : names_.intern(name, batch);
    api_names_.emplace(key, id);
    return id;
}

void ActivityRows::addKernel(const CUpti_ActivityKernel10& record, RowBatch& batch) {
    if (!timesAreUsable(record.start, record.end, batch.loss)) {
        return;
    }
    const ShapeRow shape{.name = names_.intern(record.name, batch),
                         .grid = {record.gridX, record.gridY, record.gridZ},
                         .block = {record.blockX, record.blockY, record.blockZ},
                         .cluster = {record.clusterX, record.clusterY, record.clusterZ},
                         .registers_per_thread = record.registersPerThread,
                         .static_shared_bytes = record.staticSharedMemory,
                         .dynamic_shared_bytes = record.dynamicSharedMemory,
                         .executed_shared_bytes = record.sharedMemoryExecuted,
                         .local_bytes_per_thread = record.localMemoryPerThread,
                         .cluster_scheduling_policy = record.clusterSchedulingPolicy,
                         .max_potential_cluster_size = record.maxPotentialClusterSize,
                         .max_active_clusters = record.maxActiveClusters,
                         .launch_type = record.launchType,
                         .cache_config = record.cacheConfig.both,
                         .device_launched = source_.cupti_version >= kCupti13
                                                ? std::uint32_t{record.isDeviceLaunched}
                                                : 0};
    batch.kernels.push_back({spanOf(record), internShape(shape, batch)});
}

void ActivityRows::addCopy(const CUpti_ActivityMemcpy6& record, RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        batch.copies.push_back({.span = spanOf(record),
                                .bytes = record.bytes,
                                .copy_kind = record.copyKind,
                                .source_kind = record.srcKind,
                                .destination_kind = record.dstKind,
                                .flags = record.flags,
                                .copy_count = source_.cupti_version >= kCupti13
                                                  ? std::uint64_t{record.copyCount}
                                                  : 1});
    }
}

void ActivityRows::addPeerCopy(const CUpti_ActivityMemcpyPtoP4& record, RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        batch.copies.push_back({.span = spanOf(record),
                                .bytes = record.bytes,
                                .copy_kind = record.copyKind,
                                .source_kind = record.srcKind,
                                .destination_kind = record.dstKind,
                                .flags = record.flags,
                                .source_device = record.srcDeviceId,
                                .destination_device = record.dstDeviceId});
    }
}

void ActivityRows::addMemset(const CUpti_ActivityMemset4& record, RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        batch.memsets.push_back({.span = spanOf(record),
                                 .bytes = record.bytes,
                                 .value = record.value,
                                 .memory_kind = record.memoryKind,
                                 .flags = record.flags});
    }
}

void ActivityRows::addApi(const CUpti_ActivityAPI& record, RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        const auto domain =
            record.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? ApiDomain::Runtime : ApiDomain::Driver;
        batch.api_calls.push_back({.domain = domain,
                                   .name = apiName(domain, record.cbid, batch),
                                   .callback_id = record.cbid,
                                   .start_ns = record.start,
                                   .end_ns = record.end,
                                   .process = record.processId,
                                   .thread = record.threadId,
                                   .correlation = record.correlationId,
                                   .result = record.returnValue});
    }
}

void ActivityRows::addGraphLaunch(const CUpti_ActivityGraphTrace2& record, RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        const bool has_end = source_.cupti_version >= kCupti13;
        batch.graph_launches.push_back(
            {.span = {.start_ns = record.start,
                      .end_ns = record.end,
                      .device = record.deviceId,
                      .context = record.contextId,
                      .stream = record.streamId,
                      .correlation = record.correlationId,
                      .graph = record.graphId},
             .end_device = has_end ? record.endDeviceId : record.deviceId,
             .end_context = has_end ? record.endContextId : record.contextId});
    }
}

void ActivityRows::addMarker(const CUpti_ActivityMarker2& record, RowBatch& batch) {
    if (!timesAreUsable(record.timestamp, record.timestamp, batch.loss)) {
        return;
    }
    const bool has_thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ||
                            record.objectKind == CUPTI_ACTIVITY_OBJECT_PROCESS;
    batch.markers.push_back({.time_ns = record.timestamp,
                             .id = record.id,
                             .flags = static_cast<std::uint32_t>(record.flags),
                             .name = names_.intern(record.name, batch),
                             .domain = names_.intern(record.domain, batch),
                             .process = has_thread ? record.objectId.pt.processId : 0,
                             .thread = has_thread ? record.objectId.pt.threadId : 0});
}

void ActivityRows::addMarkerData(const CUpti_ActivityMarkerData2& record, RowBatch& batch) {
    batch.marker_data.push_back({.id = record.id,
                                 .flags = static_cast<std::uint32_t>(record.flags),
                                 .payload_kind = static_cast<std::uint32_t>(record.payloadKind),
                                 .payload_bits = record.payload.metricValueUint64,
                                 .colour = record.color,
                                 .category = record.category});
}

void ActivityRows::addDevice(const CUpti_ActivityDevice5& record, RowBatch& batch) {
    batch.devices.push_back({.device = record.id,
                             .name = names_.intern(record.name, batch),
                             .uuid = hexOf(record.uuid),
                             .compute_major = record.computeCapabilityMajor,
                             .compute_minor = record.computeCapabilityMinor,
                             .sm_count = record.numMultiprocessors,
                             .max_warps_per_sm = record.maxWarpsPerMultiprocessor,
                             .max_blocks_per_sm = record.maxBlocksPerMultiprocessor,
                             .registers_per_sm = record.maxRegistersPerMultiprocessor,
                             .shared_bytes_per_sm = record.maxSharedMemoryPerMultiprocessor,
                             .shared_bytes_per_block = record.maxSharedMemoryPerBlock,
                             .threads_per_block = record.maxThreadsPerBlock,
                             .warp_threads = record.numThreadsPerWarp,
                             .l2_bytes = record.l2CacheSize,
                             .memory_bytes = record.globalMemorySize,
                             .memory_kb_per_s = record.globalMemoryBandwidth,
                             .core_clock_khz = record.coreClockRate,
                             .mig = record.isMigEnabled});
    if (source_.free_texts) {
        std::free(const_cast<char*>(record.name)); // CUPTI: the client's to free
    }
}

void ActivityRows::addOverhead(const CUpti_ActivityOverhead3& record, RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        const bool has_thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ||
                                record.objectKind == CUPTI_ACTIVITY_OBJECT_PROCESS;
        batch.overheads.push_back(
            {.kind = static_cast<std::uint32_t>(record.overheadKind),
             .object_kind = static_cast<std::uint32_t>(record.objectKind),
             .process = has_thread ? record.objectId.pt.processId : 0,
             .thread = has_thread ? record.objectId.pt.threadId : 0,
             .start_ns = record.start,
             .end_ns = record.end,
             .correlation = source_.cupti_version >= kCupti13 ? record.correlationId : 0});
    }
    if (source_.free_texts && source_.cupti_version >= kCupti13) {
        std::free(record.overheadData); // CUPTI: the client's to free
    }
}

void ActivityRows::addSynchronization(const CUpti_ActivitySynchronization2& record,
                                      RowBatch& batch) {
    if (timesAreUsable(record.start, record.end, batch.loss)) {
        const bool has_result = source_.cupti_version >= kCupti13;
        batch.synchronizations.push_back({.type = static_cast<std::uint32_t>(record.type),
                                          .start_ns = record.start,
                                          .end_ns = record.end,
                                          .correlation = record.correlationId,
                                          .context = record.contextId,
                                          .stream = record.streamId,
                                          .event = record.cudaEventId,
                                          .result = has_result ? record.returnValue : 0});
    }
}

} // namespace kerf::collector

// SPDX-License-Identifier: GPL-3.0-or-later
// Activity buffers of every kind, and everything that can be wrong with one.
#include "cupti_collector/activity_buffer.h"
#include "cupti_collector/rows/activity_rows.h"

#include <QTest>
#include <cstdlib>

using namespace kerf::collector;
using kerf::test::ActivityBuffer;

namespace {

CUptiResult callbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
    if (id == 999) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel_v7000" : "cuLaunchKernel";
    return CUPTI_SUCCESS;
}

ActivityRows rowsOf(std::uint32_t version = CUPTI_API_VERSION) {
    return ActivityRows({.next_record = ActivityBuffer::next,
                         .callback_name = callbackName,
                         .cupti_version = version});
}

CUpti_ActivityKernel10 kernel(const char* name = "gemm") {
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = 1000;
    record.end = 3000;
    record.deviceId = 1;
    record.contextId = 2;
    record.streamId = 7;
    record.correlationId = 42;
    record.gridX = 132;
    record.gridY = 2;
    record.gridZ = 3;
    record.blockX = 256;
    record.blockY = 4;
    record.blockZ = 5;
    record.registersPerThread = 96;
    record.staticSharedMemory = 1024;
    record.dynamicSharedMemory = 98304;
    record.sharedMemoryExecuted = 102400;
    record.localMemoryPerThread = 16;
    record.graphId = 6;
    record.graphNodeId = 0x6'0000'0003;
    record.clusterX = 2;
    record.clusterY = 1;
    record.clusterZ = 1;
    record.maxActiveClusters = 66;
    record.launchType = 1;
    record.isDeviceLaunched = 1;
    record.name = name;
    return record;
}

RowBatch walk(ActivityBuffer& buffer, std::uint32_t version = CUPTI_API_VERSION) {
    RowBatch batch;
    ActivityRows rows = rowsOf(version);
    rows.add(buffer.data(), buffer.size(), batch);
    return batch;
}

template <class Record> RowBatch rowOf(const Record& record) {
    ActivityBuffer buffer;
    buffer.add(record);
    return walk(buffer);
}

} // namespace

class TestActivityRows : public QObject {
    Q_OBJECT
private slots:
    void kernelKeepsWhenAndWhere() {
        const RowBatch batch = rowOf(kernel());
        QCOMPARE(batch.kernels.size(), 1U);
        const Span& span = batch.kernels[0].span;
        QCOMPARE(span.start_ns, 1000U);
        QCOMPARE(span.end_ns, 3000U);
        QCOMPARE(span.device, 1U);
        QCOMPARE(span.context, 2U);
        QCOMPARE(span.stream, 7U);
        QCOMPARE(span.correlation, 42U);
        QCOMPARE(span.graph, 6U);
        QCOMPARE(span.graph_node, 0x6'0000'0003U);
    }
    void kernelKeepsItsLaunchAttributes() {
        const RowBatch batch = rowOf(kernel());
        QCOMPARE(batch.shapes.size(), 1U);
        const ShapeRow expected{.id = 1,
                                .name = 1,
                                .grid = {132, 2, 3},
                                .block = {256, 4, 5},
                                .cluster = {2, 1, 1},
                                .registers_per_thread = 96,
                                .static_shared_bytes = 1024,
                                .dynamic_shared_bytes = 98304,
                                .executed_shared_bytes = 102400,
                                .local_bytes_per_thread = 16,
                                .max_active_clusters = 66,
                                .launch_type = 1,
                                .device_launched = 1};
        QVERIFY(batch.shapes[0] == expected);
        QCOMPARE(batch.names[0].text, "gemm");
    }
    void equalLaunchesShareOneShape() {
        ActivityBuffer buffer;
        for (int i = 0; i < 50; ++i) {
            buffer.add(kernel(i % 2 == 0 ? "a" : "b"));
        }
        const RowBatch batch = walk(buffer);
        QCOMPARE(batch.kernels.size(), 50U);
        QCOMPARE(batch.shapes.size(), 2U);
        QCOMPARE(batch.kernels[48].shape, batch.kernels[0].shape);
        QVERIFY(batch.kernels[1].shape != batch.kernels[0].shape);
    }
    void launchesThatDifferInOneAttributeAreTwoShapes() {
        auto other = kernel();
        other.clusterSchedulingPolicy = 2;
        ActivityBuffer buffer;
        buffer.add(kernel());
        buffer.add(other);
        QCOMPARE(walk(buffer).shapes.size(), 2U);
    }
    void copiesKeepTheirDirection() {
        CUpti_ActivityMemcpy6 record{};
        record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
        record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
        record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
        record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
        record.bytes = 4096;
        record.start = 5;
        record.end = 9;
        record.copyCount = 3;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.copies.size(), 1U);
        QCOMPARE(batch.copies[0].bytes, 4096U);
        QCOMPARE(batch.copies[0].copy_kind, 1U);
        QCOMPARE(batch.copies[0].source_kind, 2U);
        QCOMPARE(batch.copies[0].destination_kind, 3U);
        QCOMPARE(batch.copies[0].copy_count, 3U);
        QCOMPARE(batch.copies[0].source_device, -1);
    }
    void peerCopiesKeepBothDevices() {
        CUpti_ActivityMemcpyPtoP4 record{};
        record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
        record.start = 5;
        record.end = 9;
        record.srcDeviceId = 3;
        record.dstDeviceId = 4;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.copies.size(), 1U);
        QCOMPARE(batch.copies[0].source_device, 3);
        QCOMPARE(batch.copies[0].destination_device, 4);
    }
    void memsetsKeepValueAndBytes() {
        CUpti_ActivityMemset4 record{};
        record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
        record.start = 5;
        record.end = 9;
        record.value = 255;
        record.bytes = 64;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.memsets.size(), 1U);
        QCOMPARE(batch.memsets[0].value, 255U);
        QCOMPARE(batch.memsets[0].bytes, 64U);
    }
    void apiCallsGetTheirNameWithoutVersion() {
        CUpti_ActivityAPI record{};
        record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
        record.cbid = 211;
        record.start = 5;
        record.end = 9;
        record.processId = 70;
        record.threadId = 71;
        record.correlationId = 42;
        record.returnValue = 700;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.api_calls.size(), 1U);
        QCOMPARE(batch.names[0].text, "cudaLaunchKernel");
        QCOMPARE(batch.api_calls[0].thread, 71U);
        QCOMPARE(batch.api_calls[0].result, 700U);
    }
    void anUnknownCallHasNoName() {
        CUpti_ActivityAPI record{};
        record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
        record.cbid = 999;
        record.start = 5;
        record.end = 9;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.api_calls.size(), 1U);
        QCOMPARE(batch.api_calls[0].name, 0U);
        QVERIFY(batch.api_calls[0].domain == ApiDomain::Driver);
    }
    void wholeGraphLaunchesAreKept() {
        CUpti_ActivityGraphTrace2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
        record.start = 10;
        record.end = 90;
        record.graphId = 6;
        record.correlationId = 42;
        record.endDeviceId = 1;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.graph_launches.size(), 1U);
        QCOMPARE(batch.graph_launches[0].span.graph, 6U);
        QCOMPARE(batch.graph_launches[0].end_device, 1U);
    }
    void markersKeepNameDomainAndThread() {
        CUpti_ActivityMarker2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_MARKER;
        record.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
        record.timestamp = 77;
        record.id = 5;
        record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
        record.objectId.pt.processId = 70;
        record.objectId.pt.threadId = 71;
        record.name = "decode";
        record.domain = "vllm";
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.markers.size(), 1U);
        QCOMPARE(batch.names[0].text, "decode");
        QCOMPARE(batch.names[1].text, "vllm");
        QCOMPARE(batch.markers[0].flags, 2U);
        QCOMPARE(batch.markers[0].thread, 71U);
    }
    void endMarkersHaveNoName() {
        CUpti_ActivityMarker2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_MARKER;
        record.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
        record.timestamp = 78;
        record.id = 5;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.markers.size(), 1U);
        QCOMPARE(batch.markers[0].name, 0U);
        QVERIFY(batch.names.empty());
    }
    void markerDataKeepsThePayload() {
        CUpti_ActivityMarkerData2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA;
        record.id = 5;
        record.payload.metricValueUint64 = 0xFFFF'FFFF'FFFF'FFFE;
        record.color = 0xFF00FF00;
        record.category = 9;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.marker_data.size(), 1U);
        QCOMPARE(batch.marker_data[0].payload_bits, 0xFFFF'FFFF'FFFF'FFFEU);
        QCOMPARE(batch.marker_data[0].colour, 0xFF00FF00U);
        QCOMPARE(batch.marker_data[0].category, 9U);
    }
    void externalCorrelationIsKept() {
        CUpti_ActivityExternalCorrelation record{};
        record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
        record.externalId = 1ULL << 40U;
        record.correlationId = 42;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.external.size(), 1U);
        QCOMPARE(batch.external[0].external_id, 1ULL << 40U);
    }
    void streamPrioritiesAreSigned() {
        CUpti_ActivityStream record{};
        record.kind = CUPTI_ACTIVITY_KIND_STREAM;
        record.streamId = 13;
        record.priority = static_cast<std::uint32_t>(-5);
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.streams.size(), 1U);
        QCOMPARE(batch.streams[0].priority, -5);
    }
    void contextsAreKept() {
        CUpti_ActivityContext3 record{};
        record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
        record.contextId = 2;
        record.deviceId = 1;
        record.nullStreamId = 7;
        record.numMultiprocessors = 66;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.contexts.size(), 1U);
        QCOMPARE(batch.contexts[0].null_stream, 7U);
        QCOMPARE(batch.contexts[0].sm_count, 66U);
    }
    void deviceNamesAreFreed() {
        CUpti_ActivityDevice5 record{};
        record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
        record.numMultiprocessors = 132;
        record.uuid.bytes[15] = static_cast<char>(0xAB);
        record.name = strdup("NVIDIA H200"); // the address sanitizer sees a leak or a double free
        ActivityBuffer buffer;
        buffer.add(record);
        RowBatch batch;
        ActivityRows rows({.next_record = ActivityBuffer::next, .free_texts = true});
        rows.add(buffer.data(), buffer.size(), batch);
        QCOMPARE(batch.devices.size(), 1U);
        QCOMPARE(batch.names[0].text, "NVIDIA H200");
        QCOMPARE(batch.devices[0].uuid, "000000000000000000000000000000ab");
    }
    void overheadIsKeptAndItsDataFreed() {
        CUpti_ActivityOverhead3 record{};
        record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
        record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
        record.start = 4;
        record.end = 8;
        record.overheadData = std::malloc(16);
        ActivityBuffer buffer;
        buffer.add(record);
        RowBatch batch;
        ActivityRows rows({.next_record = ActivityBuffer::next, .free_texts = true});
        rows.add(buffer.data(), buffer.size(), batch);
        QCOMPARE(batch.overheads.size(), 1U);
        QCOMPARE(batch.overheads[0].end_ns, 8U);
    }
    void synchronizationsAreKept() {
        CUpti_ActivitySynchronization2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
        record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
        record.start = 4;
        record.end = 8;
        record.streamId = 7;
        const RowBatch batch = rowOf(record);
        QCOMPARE(batch.synchronizations.size(), 1U);
        QCOMPARE(batch.synchronizations[0].stream, 7U);
    }

    void aNullNameIsNoName() {
        const RowBatch batch = rowOf(kernel(nullptr));
        QCOMPARE(batch.kernels.size(), 1U);
        QCOMPARE(batch.shapes[0].name, 0U);
    }

    void unusableTimesAreCountedByCause_data() {
        QTest::addColumn<quint64>("start");
        QTest::addColumn<quint64>("end");
        QTest::addColumn<int>("zero");
        QTest::addColumn<int>("before");
        QTest::addColumn<int>("range");
        QTest::newRow("both zero") << quint64{0} << quint64{0} << 1 << 0 << 0;
        QTest::newRow("still running at a forced flush") << quint64{5} << quint64{0} << 1 << 0 << 0;
        QTest::newRow("no start") << quint64{0} << quint64{5} << 1 << 0 << 0;
        QTest::newRow("ends before it starts") << quint64{5} << quint64{4} << 0 << 1 << 0;
        QTest::newRow("start 0x8000…") << quint64{1} << (quint64{1} << 63U) << 0 << 0 << 1;
        QTest::newRow("all bits") << ~quint64{0} << ~quint64{0} << 0 << 0 << 1;
    }
    void unusableTimesAreCountedByCause() {
        QFETCH(quint64, start);
        QFETCH(quint64, end);
        auto record = kernel();
        record.start = start;
        record.end = end;
        const RowBatch batch = rowOf(record);
        QVERIFY(batch.kernels.empty());
        QTEST(static_cast<int>(batch.loss.zero_time), "zero");
        QTEST(static_cast<int>(batch.loss.end_before_start), "before");
        QTEST(static_cast<int>(batch.loss.time_out_of_range), "range");
    }
    void aKernelThatTakesNoTimeIsKept() {
        auto record = kernel();
        record.end = record.start;
        QCOMPARE(rowOf(record).kernels.size(), 1U);
    }
    void unknownKindsAreCountedAndPassedOver() {
        ActivityBuffer buffer;
        auto odd = kernel();
        odd.kind = static_cast<CUpti_ActivityKind>(9999);
        buffer.add(odd);
        buffer.add(kernel());
        const RowBatch batch = walk(buffer);
        QCOMPARE(batch.loss.unknown_kind, 1U);
        QCOMPARE(batch.kernels.size(), 1U);
    }
    void aCutOffRecordIsNotRead() {
        ActivityBuffer buffer;
        buffer.add(kernel());
        buffer.add(kernel(), 100);
        const RowBatch batch = walk(buffer);
        QCOMPARE(batch.kernels.size(), 1U);
        QCOMPARE(batch.loss.truncated_buffers, 1U);
    }
    void aBufferCutAtAnyByteIsNeverReadBeyond() {
        // what lies behind a heap block of exactly that size, the address sanitizer guards
        ActivityBuffer whole;
        whole.add(kernel());
        whole.add(kernel());
        for (std::size_t size = 0; size <= whole.size(); ++size) {
            RowBatch batch;
            ActivityRows rows = rowsOf();
            rows.add(whole.data(), size, batch);
            QCOMPARE(batch.kernels.size() + batch.loss.truncated_buffers,
                     (size == 0                                ? 0U
                      : size <= sizeof(CUpti_ActivityKernel10) ? 1U
                                                               : 2U));
        }
    }
    void theShorterKernelOfAnOlderCuptiIsRead() {
        ActivityBuffer buffer;
        const std::size_t older = offsetof(CUpti_ActivityKernel10, isDeviceLaunched);
        buffer.add(kernel("first"), older);
        buffer.add(kernel("last"), older);
        const RowBatch batch = walk(buffer, 24);
        QCOMPARE(batch.kernels.size(), 2U);
        QCOMPARE(batch.loss.truncated_buffers, 0U);
        QCOMPARE(batch.shapes[0].device_launched, 0U); // that byte is the next record's
    }
    void aFailingWalkStops() {
        RowBatch batch;
        ActivityRows rows({.next_record = [](std::uint8_t*, std::size_t, CUpti_Activity**) {
            return CUPTI_ERROR_INVALID_KIND;
        }});
        std::uint8_t bytes[64] = {};
        rows.add(bytes, sizeof bytes, batch);
        QCOMPARE(batch.loss.truncated_buffers, 1U);
    }
    void aWalkThatStandsStillStops() {
        RowBatch batch;
        ActivityRows rows(
            {.next_record = [](std::uint8_t* buffer, std::size_t, CUpti_Activity** record) {
                *record = reinterpret_cast<CUpti_Activity*>(buffer);
                return CUPTI_SUCCESS;
            }});
        alignas(8) std::uint8_t bytes[64] = {};
        rows.add(bytes, sizeof bytes, batch);
        QCOMPARE(batch.loss.truncated_buffers, 1U);
    }
    void namesKeepTheirIdsOverBuffers() {
        ActivityRows rows = rowsOf();
        ActivityBuffer first;
        first.add(kernel("a"));
        ActivityBuffer second;
        second.add(kernel("a"));
        RowBatch batch;
        rows.add(first.data(), first.size(), batch);
        batch.clear();
        rows.add(second.data(), second.size(), batch);
        QVERIFY(batch.names.empty());
        QCOMPARE(batch.kernels[0].shape, 1U);
    }
};

QTEST_APPLESS_MAIN(TestActivityRows)
#include "tst_activity_rows.moc"

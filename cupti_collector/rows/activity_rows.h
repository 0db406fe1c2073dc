// SPDX-License-Identifier: GPL-3.0-or-later
// From CUPTI's activity buffers to rows.
#pragma once

#include "cupti_collector/rows/names.h"
#include "cupti_collector/rows/rows.h"

#include <cstddef>
#include <cstdint>
#include <cupti.h>
#include <functional>
#include <unordered_map>

namespace kerf::collector {

/// cuptiActivityGetNextRecord, or a test's own.
using NextRecord = CUptiResult (*)(std::uint8_t* buffer, std::size_t valid_bytes,
                                   CUpti_Activity** record);

/// The CUPTI functions that the walk needs. Any but next_record may be null.
struct ActivitySource {
    NextRecord next_record = nullptr;
    CUptiResult (*callback_name)(CUpti_CallbackDomain, std::uint32_t, const char**) = nullptr;
    std::uint32_t cupti_version = CUPTI_API_VERSION; ///< of the library that fills the buffers
    bool free_texts = false; ///< Device5::name and Overhead3::overheadData are ours to free()
};

/// Turns buffers into rows; remembers names and launch shapes. Owned by one thread.
class ActivityRows {
public:
    explicit ActivityRows(ActivitySource source) : source_(source) {}

    /// Appends what the first `valid_bytes` of `buffer` hold. Never throws except for want of
    /// memory; a record that cannot be used is counted in batch.loss and left out.
    void add(std::uint8_t* buffer, std::size_t valid_bytes, RowBatch& batch);

    [[nodiscard]] Names& names() { return names_; }

private:
    struct ShapeHash {
        std::size_t operator()(const ShapeRow& shape) const;
    };

    bool addRecord(const CUpti_Activity& record, std::size_t bytes, RowBatch& batch);
    ShapeId internShape(ShapeRow shape, RowBatch& batch);
    NameId apiName(ApiDomain domain, std::uint32_t callback_id, RowBatch& batch);
    void addKernel(const CUpti_ActivityKernel10& record, RowBatch& batch);
    void addCopy(const CUpti_ActivityMemcpy6& record, RowBatch& batch);
    void addPeerCopy(const CUpti_ActivityMemcpyPtoP4& record, RowBatch& batch);
    void addMemset(const CUpti_ActivityMemset4& record, RowBatch& batch);
    void addApi(const CUpti_ActivityAPI& record, RowBatch& batch);
    void addGraphLaunch(const CUpti_ActivityGraphTrace2& record, RowBatch& batch);
    void addMarker(const CUpti_ActivityMarker2& record, RowBatch& batch);
    void addMarkerData(const CUpti_ActivityMarkerData2& record, RowBatch& batch);
    void addDevice(const CUpti_ActivityDevice5& record, RowBatch& batch);
    void addOverhead(const CUpti_ActivityOverhead3& record, RowBatch& batch);
    void addSynchronization(const CUpti_ActivitySynchronization2& record, RowBatch& batch);

    ActivitySource source_;
    Names names_;
    std::unordered_map<ShapeRow, ShapeId, ShapeHash> shapes_;
    std::unordered_map<std::uint64_t, NameId> api_names_; ///< by domain and callback id
};

} // namespace kerf::collector

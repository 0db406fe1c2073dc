// SPDX-License-Identifier: GPL-3.0-or-later
// CUPTI as found on the machine that records: loaded by name, never linked, so that a program runs
// unchanged where there is none.
#pragma once

#include <cupti.h>

#include <string>

namespace kerf::collector {

/// The functions that the collector calls. All are there, or load() has failed.
struct CuptiApi {
    decltype(&cuptiGetVersion) getVersion = nullptr;
    decltype(&cuptiGetResultString) getResultString = nullptr;
    decltype(&cuptiGetTimestamp) getTimestamp = nullptr;
    decltype(&cuptiSubscribe_v2) subscribe = nullptr;
    decltype(&cuptiEnableCallback) enableCallback = nullptr;
    decltype(&cuptiGetCallbackName) getCallbackName = nullptr;
    decltype(&cuptiSetThreadIdType) setThreadIdType = nullptr;
    decltype(&cuptiActivityEnable) activityEnable = nullptr;
    decltype(&cuptiActivityDisable) activityDisable = nullptr;
    decltype(&cuptiActivityEnableRuntimeApi) activityEnableRuntimeApi = nullptr;
    decltype(&cuptiActivityEnableDriverApi) activityEnableDriverApi = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) activityRegisterCallbacks = nullptr;
    decltype(&cuptiActivityFlushAll) activityFlushAll = nullptr;
    decltype(&cuptiActivitySetAttribute) activitySetAttribute = nullptr;
    decltype(&cuptiActivityGetNextRecord) activityGetNextRecord = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) activityGetNumDroppedRecords = nullptr;
    decltype(&cuptiGetGraphId) getGraphId = nullptr;
    decltype(&cuptiGetGraphExecId) getGraphExecId = nullptr;
    decltype(&cuptiGetGraphNodeId) getGraphNodeId = nullptr;

    std::string path; ///< that it was loaded from

    /// Loads `path`, or where it is empty the libraries of the CUDA versions that are known, the
    /// newest first. Returns why it failed; empty: loaded.
    [[nodiscard]] std::string load(const std::string& path);
    /// "CUPTI_ERROR_…".
    [[nodiscard]] std::string text(CUptiResult result) const;
};

} // namespace kerf::collector

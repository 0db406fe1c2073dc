// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/cupti/cupti_api.h"

#include <dlfcn.h>

#include <vector>

namespace kerf::collector {
namespace {

constexpr const char* kLibraries[] = {"libcupti.so.13", "libcupti.so",
                                      "/usr/local/cuda/lib64/libcupti.so",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};

template <class Function>
void find(void* library, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr && missing.empty()) {
        missing = name;
    }
}

} // namespace

std::string CuptiApi::load(const std::string& wanted) {
    std::vector<std::string> candidates(std::begin(kLibraries), std::end(kLibraries));
    if (!wanted.empty()) {
        candidates = {wanted};
    }
    void* library = nullptr;
    std::string first_failure;
    for (const std::string& candidate : candidates) {
        library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) {
            path = candidate;
            break;
        }
        if (first_failure.empty()) {
            first_failure = dlerror();
        }
    }
    if (library == nullptr) {
        return "CUPTI was not found (" + first_failure +
               "); install the CUDA toolkit's CUPTI or name its library with --cupti";
    }
    std::string missing;
    find(library, "cuptiGetVersion", getVersion, missing);
    find(library, "cuptiGetResultString", getResultString, missing);
    find(library, "cuptiGetTimestamp", getTimestamp, missing);
    find(library, "cuptiSubscribe_v2", subscribe, missing);
    find(library, "cuptiEnableCallback", enableCallback, missing);
    find(library, "cuptiGetCallbackName", getCallbackName, missing);
    find(library, "cuptiSetThreadIdType", setThreadIdType, missing);
    find(library, "cuptiActivityEnable", activityEnable, missing);
    find(library, "cuptiActivityDisable", activityDisable, missing);
    find(library, "cuptiActivityEnableRuntimeApi", activityEnableRuntimeApi, missing);
    find(library, "cuptiActivityEnableDriverApi", activityEnableDriverApi, missing);
    find(library, "cuptiActivityRegisterCallbacks", activityRegisterCallbacks, missing);
    find(library, "cuptiActivityFlushAll", activityFlushAll, missing);
    find(library, "cuptiActivitySetAttribute", activitySetAttribute, missing);
    find(library, "cuptiActivityGetNextRecord", activityGetNextRecord, missing);
    find(library, "cuptiActivityGetNumDroppedRecords", activityGetNumDroppedRecords, missing);
    find(library, "cuptiGetGraphId", getGraphId, missing);
    find(library, "cuptiGetGraphExecId", getGraphExecId, missing);
    find(library, "cuptiGetGraphNodeId", getGraphNodeId, missing);
    if (!missing.empty()) {
        return path + " has no " + missing +
               ": it is older than CUDA 13.0, which this recorder needs";
    }
    std::uint32_t version = 0;
    if (getVersion(&version) != CUPTI_SUCCESS || version < CUPTI_API_VERSION) {
        // Older versions write shorter records than those that are read here.
        return path + " is CUPTI " + std::to_string(version) + "; this recorder needs " +
               std::to_string(CUPTI_API_VERSION) + " (CUDA 13.0) or newer";
    }
    return {};
}

std::string CuptiApi::text(CUptiResult result) const {
    const char* name = nullptr;
    if (getResultString == nullptr || getResultString(result, &name) != CUPTI_SUCCESS ||
        name == nullptr) {
        return "CUPTI error " + std::to_string(static_cast<int>(result));
    }
    return name;
}

} // namespace kerf::collector

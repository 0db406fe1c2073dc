// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for libcupti, loaded by the collector through the same dlopen: it hands out the kernel
// records that a program asks it for. Environment variables make it misbehave:
//   FAKE_CUPTI_VERSION    the version it claims to be
//   FAKE_CUPTI_SUBSCRIBE  "other": another profiler is there; "driver": not initialised
//   FAKE_CUPTI_HANG       the last flush never ends
//   FAKE_CUPTI_TWICE      hands every buffer over twice
//   FAKE_CUPTI_DROPPED    so many records are said to be dropped
#include <cupti.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_CallbackFunc callback = nullptr;
void* callback_data = nullptr;
std::size_t waiting = 0; ///< kernels that have run and are in no buffer yet
std::uint32_t correlation = 0;
bool kernels_enabled = false;
std::size_t dropped = 0;

const char* setting(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Fills buffers until nothing waits, or none is to be had.
void deliver() {
    while (waiting > 0) {
        std::uint8_t* buffer = nullptr;
        std::size_t bytes = 0;
        std::size_t most = 0;
        request(&buffer, &bytes, &most);
        if (buffer == nullptr) {
            dropped += waiting;
            waiting = 0;
            return;
        }
        std::size_t used = 0;
        for (; waiting > 0 && used + sizeof(CUpti_ActivityKernel10) <= bytes; --waiting) {
            CUpti_ActivityKernel10 kernel{};
            kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
            kernel.correlationId = ++correlation;
            kernel.start = 1'700'000'000'000'000'000ULL + 2000ULL * correlation;
            kernel.end = kernel.start + 1000;
            kernel.streamId = 7;
            kernel.name = "fake_kernel";
            kernel.gridX = kernel.gridY = kernel.gridZ = 1;
            kernel.blockX = kernel.blockY = kernel.blockZ = 1;
            std::memcpy(buffer + used, &kernel, sizeof(kernel));
            used += sizeof(kernel);
        }
        complete(nullptr, 0, buffer, bytes, used);
        if (setting("FAKE_CUPTI_TWICE")[0] != 0) {
            complete(nullptr, 0, buffer, bytes, used);
        }
    }
}

} // namespace

extern "C" {

/// The program has run so many kernels.
void fakeRunKernels(std::size_t count) {
    waiting += kernels_enabled ? count : 0;
}

/// A graph of so many nodes was instantiated: each node is cloned.
void fakeCloneNodes(std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i) {
        CUpti_GraphData graph{};
        graph.originalNode = reinterpret_cast<CUgraphNode>(i);
        graph.node = reinterpret_cast<CUgraphNode>(i + count);
        CUpti_ResourceData resource{};
        resource.resourceDescriptor = &graph;
        callback(callback_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                 &resource);
    }
}

CUptiResult cuptiGetVersion(uint32_t* version) {
    *version = setting("FAKE_CUPTI_VERSION")[0] != 0
                   ? static_cast<uint32_t>(std::atoi(setting("FAKE_CUPTI_VERSION")))
                   : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "FAKE_RESULT";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
    *timestamp = 1'700'000'000'000'000'000ULL;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc called,
                              void* data, CUpti_SubscriberParams* params) {
    *subscriber = nullptr;
    callback = called;
    callback_data = data;
    if (std::strcmp(setting("FAKE_CUPTI_SUBSCRIBE"), "other") == 0) {
        std::strncpy(params->oldSubscriberName, "somebody else", params->oldSubscriberSize);
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    if (std::strcmp(setting("FAKE_CUPTI_SUBSCRIBE"), "driver") == 0) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char** name) {
    *name = "fakeLaunch";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    kernels_enabled = kernels_enabled || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    kernels_enabled = kernels_enabled && kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
    request = requested;
    complete = completed;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t flags) {
    deliver();
    while (flags == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED && setting("FAKE_CUPTI_HANG")[0] != 0) {
        sleep(1);
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, CUpti_Activity** record) {
    auto* next = *record == nullptr
                     ? buffer
                     : reinterpret_cast<uint8_t*>(*record) + sizeof(CUpti_ActivityKernel10);
    if (next >= buffer + bytes) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* count) {
    *count = dropped + static_cast<size_t>(std::atoi(setting("FAKE_CUPTI_DROPPED")));
    dropped = 0;
    unsetenv("FAKE_CUPTI_DROPPED");
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphId(CUgraph, uint32_t*) {
    return CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiGetGraphExecId(CUgraphExec, uint32_t*) {
    return CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
    *id = reinterpret_cast<uintptr_t>(node);
    return CUPTI_SUCCESS;
}

} // extern "C"

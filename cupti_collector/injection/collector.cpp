// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/injection/collector.h"

#include <nvtx3/nvToolsExt.h> // the next one needs its types

#include <generated_nvtx_meta.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

namespace kerf::collector {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kBytesPerMb = std::size_t{1} << 20;
constexpr auto kFlushEvery = std::chrono::milliseconds(200);
constexpr std::size_t kClonesAtOnce = 4096; ///< a job a node would overflow the writer's queue
constexpr auto kLongestLastFlush = std::chrono::seconds(10);
constexpr int kTicksPerClock = 50; ///< clocks are noted every 10 s

// CUPTI's buffer callbacks get no pointer of ours.
Collector* the_collector = nullptr;

/// Ranges that are open on this thread, outermost first: is it one of the wanted name?
thread_local std::vector<bool> pushed_ranges;

std::uint64_t nowNs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    constexpr std::uint64_t kNsPerS = 1'000'000'000;
    return static_cast<std::uint64_t>(now.tv_sec) * kNsPerS +
           static_cast<std::uint64_t>(now.tv_nsec);
}

constexpr CUpti_CallbackId kRuntimeInstantiates[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithFlags_v11040,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithParams_v12000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithParams_ptsz_v12000,
};
constexpr CUpti_CallbackId kDriverInstantiates[] = {
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz,
};
/// All of them begin with these two, in the runtime's types or the driver's (which are the same).
struct InstantiateParams {
    CUgraphExec* exec;
    CUgraph graph;
};

constexpr CUpti_CallbackId kRangeCalls[] = {
    CUPTI_CBID_NVTX_nvtxRangePushA,        CUPTI_CBID_NVTX_nvtxRangePushEx,
    CUPTI_CBID_NVTX_nvtxDomainRangePushEx, CUPTI_CBID_NVTX_nvtxRangePop,
    CUPTI_CBID_NVTX_nvtxDomainRangePop,
};

/// Host calls that start work, wait for it, or take memory. The others (cudaGetDevice above all)
/// are many, and say nothing about time on the GPU.
bool isWorthRecording(const char* name) {
    constexpr const char* kParts[] = {"Launch",           "Memcpy",      "Memset",
                                      "Synchronize",      "Malloc",      "Free",
                                      "MemAlloc",         "WaitEvent",   "EventRecord",
                                      "GraphInstantiate", "GraphUpload", "GraphExecUpdate"};
    return std::any_of(std::begin(kParts), std::end(kParts),
                       [&](const char* part) { return std::strstr(name, part) != nullptr; });
}

const char* messageOf(const nvtxEventAttributes_t* attributes) {
    return attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII
               ? attributes->message.ascii
               : nullptr;
}

} // namespace

void Collector::tell(const std::string& line) const {
    const std::string whole = "kerf-record: " + line + "\n";
    // One write, so that lines of several threads and processes stay whole.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, whole.data(), whole.size());
}

std::string Collector::subscribe() {
    char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "kerf-record";
    params.oldSubscriberName = other;
    params.oldSubscriberSize = sizeof(other);
    const CUptiResult result = cupti_.subscribe(&subscriber_, called, this, &params);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        return std::string("another profiler is in this process") +
               (other[0] != 0 ? " (" + std::string(other) + ")" : "") +
               "; run the program without it";
    }
    if (result == CUPTI_ERROR_NOT_INITIALIZED) {
        return "CUPTI cannot begin: it is newer than the driver, or the driver does not work";
    }
    return result == CUPTI_SUCCESS ? std::string() : "CUPTI cannot begin: " + cupti_.text(result);
}

std::string Collector::start() {
    if (std::string why = cupti_.load(options_.cupti); !why.empty()) {
        return why;
    }
    // The file first: without it nothing of the program should be disturbed.
    std::uint32_t version = 0;
    cupti_.getVersion(&version);
    WriterOptions to;
    to.paths = filesOf(options_, getpid());
    to.meta = {{"pass", options_.pass},
               {"process", std::to_string(getpid())},
               {"start_realtime_ns", std::to_string(nowNs(CLOCK_REALTIME))},
               {"cupti_version", std::to_string(version)},
               {"cupti_path", cupti_.path},
               {"built_for_cuda", std::to_string(CUDA_VERSION)},
               {"model", options_.model},
               {"batch", options_.batch},
               {"command", options_.command}};
    to.complain = [this](const std::string& line) { tell(line); };
    writer_ = std::make_unique<Writer>(std::move(to));
    if (writer_->path().empty()) {
        writer_.reset();
        return "the file cannot be written";
    }
    if (std::string why = subscribe(); !why.empty()) {
        return why;
    }
    const std::size_t buffers = std::max<std::size_t>(
        2, static_cast<std::size_t>(options_.buffer_mb) * kBytesPerMb / kBufferBytes);
    pool_ = std::make_unique<BufferPool>(kBufferBytes, buffers);
    rows_ =
        std::make_unique<ActivityRows>(ActivitySource{.next_record = cupti_.activityGetNextRecord,
                                                      .callback_name = cupti_.getCallbackName,
                                                      .cupti_version = version,
                                                      .free_texts = true});
    the_collector = this;

    std::uint8_t zeroed = 1;
    std::size_t bytes = sizeof(zeroed);
    cupti_.activitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
    cupti_.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    const CUptiResult registered =
        cupti_.activityRegisterCallbacks(bufferRequested, bufferCompleted);
    if (registered != CUPTI_SUCCESS) {
        return "CUPTI takes no buffers: " + cupti_.text(registered);
    }
    noteClocks();
    started_ = std::chrono::steady_clock::now();
    enableCallbacks();
    {
        const std::lock_guard lock(conditions_);
        decide();
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all); // the program's signals are for its own threads
    pthread_sigmask(SIG_SETMASK, &all, &before);
    timer_ = std::thread([this] { runTimer(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return {};
}

void Collector::note(const std::string& what) {
    writer_->push([what](RowBatch& batch) { batch.notes.push_back(what); });
}

std::string Collector::enableKinds() {
    std::vector<CUpti_ActivityKind> kinds{CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                          CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MARKER,
                                          CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
                                          CUPTI_ACTIVITY_KIND_STREAM, CUPTI_ACTIVITY_KIND_OVERHEAD};
    if (options_.pass != "off") {
        kinds.push_back(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    }
    if (options_.pass == "graph") { // then CUPTI leaves out the records of their nodes
        kinds.push_back(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    }
    if (options_.api_calls) { // external ids come only with them
        kinds.push_back(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
        enableApiCalls();
    }
    if (options_.synchronizations) {
        kinds.push_back(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    }
    std::string refused;
    for (const CUpti_ActivityKind kind : kinds) {
        const CUptiResult result =
            recording_ ? cupti_.activityEnable(kind) : cupti_.activityDisable(kind);
        if (result != CUPTI_SUCCESS) {
            refused += (refused.empty() ? "" : ", ") + std::to_string(static_cast<int>(kind)) +
                       " (" + cupti_.text(result) + ")";
        }
    }
    return refused;
}

void Collector::enableApiCalls() {
    const auto enableAll = [&](CUpti_CallbackDomain domain, std::uint32_t end, auto enable) {
        for (std::uint32_t id = 1; id < end; ++id) {
            const char* name = nullptr;
            if (cupti_.getCallbackName(domain, id, &name) == CUPTI_SUCCESS && name != nullptr &&
                isWorthRecording(name)) {
                enable(id, recording_ ? 1 : 0);
            }
        }
    };
    enableAll(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE,
              cupti_.activityEnableRuntimeApi);
    enableAll(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE,
              cupti_.activityEnableDriverApi);
}

void Collector::enableCallbacks() {
    const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
        cupti_.enableCallback(1, subscriber_, domain, id);
    };
    for (const CUpti_CallbackId id : kRuntimeInstantiates) {
        enable(CUPTI_CB_DOMAIN_RUNTIME_API, id);
    }
    for (const CUpti_CallbackId id : kDriverInstantiates) {
        enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
    }
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
    if (options_.profiler_api) {
        enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000);
        enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
        enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
        enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
    }
    if (!options_.range.empty()) {
        for (const CUpti_CallbackId id : kRangeCalls) {
            enable(CUPTI_CB_DOMAIN_NVTX, id);
        }
    }
}

void Collector::decide() {
    const auto ran_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now() - started_)
                            .count();
    const bool in_time =
        ran_ms >= options_.delay_ms &&
        (options_.duration_ms == 0 || ran_ms < options_.delay_ms + options_.duration_ms);
    const bool wanted = in_time && (!options_.profiler_api || profiler_started_) &&
                        (options_.range.empty() || range_depth_ > 0) && !ended_;
    if (wanted != recording_) {
        setRecording(wanted);
    }
}

void Collector::setRecording(bool on) {
    recording_ = on;
    const std::string refused = enableKinds();
    if (on && !refused.empty()) {
        tell("CUPTI does not record kinds " + refused + "; the others are recorded");
        note("activity kinds that CUPTI refused: " + refused);
    }
    if (options_.verbose) {
        tell(on ? "recording" : "recording has stopped");
    }
}

template <class Work> void Collector::guarded(Work&& work) {
    try {
        work();
    } catch (...) { // out of memory; an exception in a callback or a thread would end the program
        writer_->addLoss({.out_of_memory = 1});
    }
}

void CUPTIAPI Collector::bufferRequested(std::uint8_t** buffer, std::size_t* bytes,
                                         std::size_t* mostRecords) {
    *mostRecords = 0;
    if (the_collector->standing_down_) { // the parent's locks may be held for ever
        *buffer = nullptr;
        *bytes = 0;
        return;
    }
    BufferPool& pool = *the_collector->pool_;
    *buffer = nullptr; // without one CUPTI drops what it has, and says how much
    the_collector->guarded([&] { *buffer = pool.take(); });
    *bytes = *buffer != nullptr ? pool.bufferBytes() : 0;
}

void CUPTIAPI Collector::bufferCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer,
                                         std::size_t, std::size_t valid) {
    Collector& self = *the_collector;
    if (buffer == nullptr || self.standing_down_ || self.ended_) {
        return;
    }
    self.guarded([&] {
        if (!self.pool_->complete(buffer)) {
            return;
        }
        const bool taken = self.writer_->push([&self, buffer, valid](RowBatch& batch) {
            self.rows_->add(buffer, valid, batch);
            self.pool_->give(buffer, valid);
        });
        if (!taken) {
            self.pool_->give(buffer, valid);
        }
    });
    self.noteDropped();
}

void Collector::noteDropped() {
    std::size_t dropped = 0; // reading resets it
    if (cupti_.activityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0) {
        writer_->addLoss({.dropped_by_cupti = dropped});
    }
}

void CUPTIAPI Collector::called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
    auto& collector = *static_cast<Collector*>(self);
    if (collector.standing_down_ || collector.ended_ || data == nullptr) {
        return;
    }
    try {
        if (domain == CUPTI_CB_DOMAIN_NVTX) {
            collector.onNvtx(id, *static_cast<const CUpti_NvtxData*>(data));
        } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
            const auto* graph = static_cast<const CUpti_GraphData*>(
                static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
            if (graph != nullptr) {
                collector.onClone(*graph);
            }
        } else {
            collector.onApi(domain, id, *static_cast<const CUpti_CallbackData*>(data));
        }
    } catch (...) { // not the program's concern
        collector.writer_->addLoss({.out_of_memory = 1});
    }
}

void Collector::onApi(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                      const CUpti_CallbackData& data) {
    const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    const bool starts = runtime ? id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
                                : id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
    const bool stops = runtime ? id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000
                               : id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
    if (starts || stops) {
        if (data.callbackSite == CUPTI_API_ENTER) {
            const std::lock_guard lock(conditions_);
            profiler_started_ = starts;
            decide();
        }
        return;
    }
    if (data.callbackSite == CUPTI_API_EXIT) {
        onGraph(data);
    }
}

void Collector::onGraph(const CUpti_CallbackData& data) {
    // 0 is success in both APIs.
    if (data.functionReturnValue != nullptr && *static_cast<int*>(data.functionReturnValue) != 0) {
        return;
    }
    const auto& params = *static_cast<const InstantiateParams*>(data.functionParams);
    std::uint32_t exec = 0;
    if (params.exec == nullptr || cupti_.getGraphExecId(*params.exec, &exec) != CUPTI_SUCCESS) {
        note("a graph was instantiated for which CUPTI has no id: its nodes are not in the file");
        return;
    }
    const std::lock_guard lock(graphs_);
    if (!known_graphs_.insert(exec).second) {
        return; // the runtime's call has called the driver's
    }
    if (driver_.graphGetNodes == nullptr && !driver_.load()) {
        if (known_graphs_.size() == 1) {
            note("the driver is too old to tell graphs' nodes and edges: they are not in the file");
        }
        return;
    }
    Topology topology = readTopology(driver_, cupti_, params.graph, next_definition_);
    next_definition_ += static_cast<std::uint32_t>(topology.graphs.size());
    topology.graphs.front().exec_graph = exec;
    if (!topology.fault.empty()) {
        note("graph " + std::to_string(exec) + " was read in part: " + topology.fault);
    }
    writer_->push([this, topology = std::move(topology)](RowBatch& batch) mutable {
        for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
            if (!topology.names[i].empty()) {
                topology.nodes[i].name = rows_->names().intern(topology.names[i], batch);
            }
        }
        const auto append = [](auto& to, const auto& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(batch.graphs, topology.graphs);
        append(batch.graph_nodes, topology.nodes);
        append(batch.graph_edges, topology.edges);
    });
}

void Collector::onClone(const CUpti_GraphData& graph) {
    GraphCloneRow clone;
    if (cupti_.getGraphNodeId(graph.originalNode, &clone.original) != CUPTI_SUCCESS ||
        cupti_.getGraphNodeId(graph.node, &clone.node) != CUPTI_SUCCESS) {
        return;
    }
    bool many = false;
    {
        const std::lock_guard lock(clones_mutex_);
        clones_.push_back(clone);
        many = clones_.size() >= kClonesAtOnce;
    }
    if (many) {
        pushClones();
    }
}

void Collector::pushClones() {
    std::vector<GraphCloneRow> clones;
    {
        const std::lock_guard lock(clones_mutex_);
        clones.swap(clones_);
    }
    if (!clones.empty()) {
        writer_->push([clones = std::move(clones)](RowBatch& batch) {
            batch.graph_clones.insert(batch.graph_clones.end(), clones.begin(), clones.end());
        });
    }
}

void Collector::onNvtx(CUpti_CallbackId id, const CUpti_NvtxData& data) {
    const char* name = nullptr;
    switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
        name = static_cast<const nvtxRangePushA_params*>(data.functionParams)->message;
        break;
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
        name =
            messageOf(static_cast<const nvtxRangePushEx_params*>(data.functionParams)->eventAttrib);
        break;
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
        name = messageOf(static_cast<const nvtxDomainRangePushEx_params*>(data.functionParams)
                             ->core.eventAttrib);
        break;
    default: {
        if (pushed_ranges.empty()) {
            return; // opened before we came
        }
        const bool wanted = pushed_ranges.back();
        pushed_ranges.pop_back();
        if (wanted) {
            const std::lock_guard lock(conditions_);
            --range_depth_;
            decide();
        }
        return;
    }
    }
    const bool wanted = name != nullptr && options_.range == name;
    pushed_ranges.push_back(wanted);
    if (wanted) {
        const std::lock_guard lock(conditions_);
        ++range_depth_;
        decide();
    }
}

void Collector::noteClocks() {
    std::uint64_t cupti_ns = 0;
    if (cupti_.getTimestamp(&cupti_ns) == CUPTI_SUCCESS) {
        const ClockRow clock{static_cast<std::int64_t>(nowNs(CLOCK_REALTIME)),
                             static_cast<std::int64_t>(nowNs(CLOCK_MONOTONIC)), cupti_ns};
        writer_->push([clock](RowBatch& batch) { batch.clocks.push_back(clock); });
    }
}

void Collector::tick() {
    {
        const std::lock_guard lock(conditions_);
        decide();
    }
    cupti_.activityFlushAll(0); // finished records only
    pushClones();
}

void Collector::runTimer() {
    for (int ticks = 1;; ++ticks) {
        {
            std::unique_lock lock(timer_mutex_);
            if (timer_wake_.wait_for(lock, kFlushEvery, [this] { return timer_ending_; })) {
                break;
            }
        }
        guarded([&] {
            tick();
            if (ticks % kTicksPerClock == 0) {
                noteClocks();
            }
        });
    }
    // First what is complete, then, forced, the rest: a kernel that still runs comes with end 0.
    cupti_.activityFlushAll(0);
    cupti_.activityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    guarded([&] {
        pushClones();
        noteDropped();
        noteClocks();
    });
    {
        const std::lock_guard lock(timer_mutex_);
        timer_flushed_ = true;
    }
    timer_wake_.notify_all();
}

void Collector::end() {
    if (standing_down_ || ended_ || !writer_) {
        return;
    }
    bool flushed = false;
    {
        std::unique_lock lock(timer_mutex_);
        timer_ending_ = true;
        timer_wake_.notify_all();
        // CUPTI has been seen to hang at exit; the program must not.
        flushed = timer_wake_.wait_for(lock, kLongestLastFlush, [this] { return timer_flushed_; });
    }
    if (flushed) {
        timer_.join();
    } else {
        timer_.detach();
        const std::string what =
            "CUPTI did not finish its last flush; the last records are missing";
        tell(what);
        note(what);
    }
    ended_ = true;
    if (const std::uint64_t refused = pool_->refused(); refused > 0) {
        writer_->addLoss({.refused_buffers = refused});
    }
    const std::string file = writer_->path();
    writer_->finish();
    const Loss loss = writer_->loss();
    if (loss != Loss{}) {
        tell(file + " is incomplete: its health table says what was lost");
    } else if (options_.verbose) {
        tell("wrote " + file);
    }
}

} // namespace kerf::collector

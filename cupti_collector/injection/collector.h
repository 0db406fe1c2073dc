// SPDX-License-Identifier: GPL-3.0-or-later
// The recorder inside the program: CUPTI's callbacks on one side, the writer on the other.
#pragma once

#include "cupti_collector/graph/topology.h"
#include "cupti_collector/injection/options.h"
#include "cupti_collector/rows/activity_rows.h"
#include "cupti_collector/store/buffer_pool.h"
#include "cupti_collector/store/writer.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

namespace kerf::collector {

/// One a process, never destroyed: CUPTI may call until the process is gone.
class Collector {
public:
    explicit Collector(Options options) : options_(std::move(options)) {}

    /// Begins to record. Returns why it does not; empty: it does. The program runs on either way.
    [[nodiscard]] std::string start();
    /// Takes what CUPTI still has, and closes the file. Once; later calls do nothing.
    void end();
    /// In the child of a fork, where nothing of the parent's may be used.
    void standDown() { standing_down_ = true; }

private:
    static void CUPTIAPI bufferRequested(std::uint8_t** buffer, std::size_t* bytes,
                                         std::size_t* mostRecords);
    static void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream,
                                         std::uint8_t* buffer, std::size_t bytes,
                                         std::size_t valid);
    static void CUPTIAPI called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data);

    [[nodiscard]] std::string subscribe();
    [[nodiscard]] std::string enableKinds();
    void enableApiCalls();
    void enableCallbacks();
    void setRecording(bool on);
    /// Compares what is asked with what is so; called where a condition has changed.
    void decide();
    void onApi(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);
    void onNvtx(CUpti_CallbackId id, const CUpti_NvtxData& data);
    void onGraph(const CUpti_CallbackData& data);
    void onClone(const CUpti_GraphData& graph);
    void pushClones();
    void tick();
    void runTimer();
    void noteClocks();
    /// Lets no exception out.
    template <class Work> void guarded(Work&& work);
    void noteDropped();
    void note(const std::string& what); ///< a finding for the file's meta table
    void tell(const std::string& line) const;

    Options options_;
    CuptiApi cupti_;
    DriverApi driver_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    std::unique_ptr<BufferPool> pool_;
    std::unique_ptr<ActivityRows> rows_; ///< of the writer's thread
    std::unique_ptr<Writer> writer_;
    std::atomic<bool> standing_down_{false};
    std::atomic<bool> ended_{false};

    std::mutex conditions_;
    bool recording_ = false;
    bool profiler_started_ = false;
    int range_depth_ = 0; ///< pushed ranges of the wanted name that are open
    std::chrono::steady_clock::time_point started_;

    std::mutex graphs_;
    std::set<std::uint32_t> known_graphs_; ///< executable graphs that were read
    std::uint32_t next_definition_ = 1;

    std::mutex clones_mutex_;
    std::vector<GraphCloneRow> clones_; ///< on their way to the writer

    std::mutex timer_mutex_;
    std::condition_variable timer_wake_;
    bool timer_ending_ = false;
    bool timer_flushed_ = false; ///< the last flush is done
    std::thread timer_;
};

} // namespace kerf::collector

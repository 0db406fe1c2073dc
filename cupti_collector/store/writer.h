// SPDX-License-Identifier: GPL-3.0-or-later
// The thread that writes a recording while the program runs.
#pragma once

#include "cupti_collector/store/database.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kerf::collector {

struct WriterOptions {
    std::vector<std::string> paths{}; ///< the first that does not exist yet is made
    std::vector<std::pair<std::string, std::string>> meta{};
    std::size_t queue_capacity = 4096;           ///< jobs
    std::size_t rows_per_commit = 50'000;        ///< a transaction ends after as many rows,
    std::chrono::milliseconds commit_every{200}; ///< or after this long
    std::function<void(const std::string&)>
        complain{}; ///< gets one line for a person, at most once
};

/// Runs jobs, each of which fills a batch, on a thread of its own and writes what they give.
/// A job still runs after a failed write (it may hand a buffer back); its rows are then counted as
/// not written. All signals are blocked in the thread: the program's handlers never run there, and
/// a file-size limit gives an error instead of SIGXFSZ.
class Writer {
public:
    using Job = std::function<void(RowBatch&)>;

    explicit Writer(WriterOptions options);
    ~Writer(); ///< finish()

    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// False, and counted, when the queue is full or finish() was called. Never blocks on the disk.
    bool push(Job job);

    /// Adds to the health table; any thread.
    void addLoss(const Loss& loss);

    /// Waits until what was pushed so far is committed or lost.
    void flush();

    /// Writes what is queued, marks the file complete and closes it. Later calls do nothing.
    void finish();

    /// Path of the file, empty until it is made or when that failed. Waits for it.
    [[nodiscard]] std::string path();
    [[nodiscard]] Loss loss();

private:
    void work();
    void open();
    void give(RowBatch& batch);
    void commit();
    void failed(const std::string& what);

    WriterOptions options_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable idle_;
    std::deque<Job> jobs_;
    Loss loss_;
    std::string path_;
    bool opened_ = false;
    bool busy_ = false;
    bool flush_ = false;
    bool stop_ = false;
    bool joined_ = false;

    // the thread's own
    Database database_;
    bool usable_ = false;
    bool complained_ = false;
    std::size_t rows_in_transaction_ = 0;
    bool uncommitted_ = false;
    std::chrono::steady_clock::time_point last_commit_;
    std::thread thread_; ///< last: starts when everything else is there
};

} // namespace kerf::collector

// SPDX-License-Identifier: GPL-3.0-or-later
// Work off the GUI thread. Results come back on it; stale ones never do.
#pragma once

#include "core/base/progress.h"

#include <QObject>
#include <QThreadPool>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace kerf::app {

/// What to do with a result, on the GUI thread.
using Deliver = std::function<void()>;

/// One piece of work at a time; a newer request replaces the one that waits, so the newest is
/// always answered and a fast stream of requests never builds a queue. Answers come in order.
class LatestRunner : public QObject {
    Q_OBJECT
public:
    explicit LatestRunner(QObject* parent = nullptr);
    ~LatestRunner() override;

    void submit(std::function<Deliver()> work);
    /// Forgets the waiting request and the answers on their way.
    void drop();
    [[nodiscard]] bool busy() const { return unanswered_ > 0; }

private:
    struct Request {
        std::function<Deliver()> work;
        std::uint64_t generation = 0;
    };
    void loop(const std::stop_token& stop);
    void answer(std::uint64_t generation, const Deliver& deliver);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::optional<Request> waiting_;
    std::uint64_t generation_ = 0; ///< GUI thread only
    int unanswered_ = 0;  ///< GUI thread only: requests of this generation without an answer
    std::jthread thread_; ///< last: stops before the rest goes
};

/// One long job with progress. Starting another cancels the one before and drops its result.
class Job : public QObject {
    Q_OBJECT
public:
    explicit Job(QObject* parent = nullptr);
    ~Job() override;

    void start(const QString& title, std::function<Deliver(Progress&)> work);
    void cancel();
    [[nodiscard]] bool running() const { return progress_ != nullptr; }

signals:
    void started(const QString& title);
    void progressed(double fraction, const QString& what);
    void finished();

private:
    std::shared_ptr<Progress> progress_; ///< of the job that counts; null: none
    QThreadPool pool_;
};

} // namespace kerf::app

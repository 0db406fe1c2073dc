// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/background.h"

#include <QElapsedTimer>

namespace kerf::app {

LatestRunner::LatestRunner(QObject* parent)
    : QObject(parent), thread_([this](const std::stop_token& stop) { loop(stop); }) {}

LatestRunner::~LatestRunner() {
    thread_.request_stop();
    thread_.join();
}

void LatestRunner::submit(std::function<Deliver()> work) {
    {
        const std::lock_guard lock(mutex_);
        if (!waiting_) {
            ++unanswered_;
        }
        waiting_ = Request{std::move(work), generation_};
    }
    wake_.notify_one();
}

void LatestRunner::drop() {
    const std::lock_guard lock(mutex_);
    waiting_.reset();
    ++generation_;
    unanswered_ = 0;
}

void LatestRunner::loop(const std::stop_token& stop) {
    while (true) {
        Request request;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, stop, [this] { return waiting_.has_value(); })) {
                return;
            }
            request = std::move(*waiting_);
            waiting_.reset();
        }
        Deliver deliver = request.work();
        QMetaObject::invokeMethod(
            this,
            [this, generation = request.generation, deliver = std::move(deliver)] {
                answer(generation, deliver);
            },
            Qt::QueuedConnection);
    }
}

void LatestRunner::answer(std::uint64_t generation, const Deliver& deliver) {
    if (generation == generation_) {
        --unanswered_;
        deliver();
    }
}

Job::Job(QObject* parent) : QObject(parent) {
    pool_.setMaxThreadCount(2);
}

Job::~Job() {
    if (progress_) {
        progress_->cancelled.store(true);
    }
    pool_.waitForDone();
}

void Job::cancel() {
    if (progress_) {
        progress_->cancelled.store(true);
    }
}

void Job::start(const QString& title, std::function<Deliver(Progress&)> work) {
    cancel();
    auto progress = std::make_shared<Progress>();
    progress_ = progress;
    const std::weak_ptr<Progress> self = progress;
    // Reports come from many threads and often; the window needs some twenty a second.
    progress->report = [this, self, mutex = std::make_shared<std::mutex>(),
                        clock = std::make_shared<QElapsedTimer>()](double fraction,
                                                                   std::string_view what) {
        {
            const std::lock_guard lock(*mutex);
            if (clock->isValid() && clock->elapsed() < 50) {
                return;
            }
            clock->start();
        }
        QMetaObject::invokeMethod(
            this,
            [this, self, fraction,
             text = QString::fromUtf8(what.data(), static_cast<qsizetype>(what.size()))] {
                const auto reporting = self.lock();
                if (reporting && reporting == progress_) {
                    emit progressed(fraction, text);
                }
            },
            Qt::QueuedConnection);
    };
    emit started(title);
    pool_.start([this, progress, work = std::move(work)] {
        Deliver deliver = work(*progress);
        QMetaObject::invokeMethod(
            this,
            [this, progress, deliver = std::move(deliver)] {
                if (progress != progress_) {
                    return;
                }
                progress_.reset();
                emit finished();
                deliver();
            },
            Qt::QueuedConnection);
    });
}

} // namespace kerf::app

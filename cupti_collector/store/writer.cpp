// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/store/writer.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

namespace kerf::collector {
namespace {

/// Threads made while one lives start with every signal blocked.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

} // namespace

Writer::Writer(WriterOptions options) : options_(std::move(options)) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { work(); });
}

Writer::~Writer() {
    finish();
}

bool Writer::push(Job job) {
    const std::lock_guard lock(mutex_);
    if (stop_ || jobs_.size() >= options_.queue_capacity) {
        ++loss_.queue_full;
        return false;
    }
    jobs_.push_back(std::move(job));
    wake_.notify_one();
    return true;
}

void Writer::addLoss(const Loss& loss) {
    const std::lock_guard lock(mutex_);
    loss_ += loss;
    uncommitted_ = true;
}

void Writer::flush() {
    std::unique_lock lock(mutex_);
    if (stop_) {
        return;
    }
    flush_ = true;
    wake_.notify_one();
    idle_.wait(lock, [this] { return !flush_; });
}

void Writer::finish() {
    {
        const std::lock_guard lock(mutex_);
        if (joined_) {
            return;
        }
        joined_ = true;
        stop_ = true;
        wake_.notify_one();
    }
    thread_.join();
}

std::string Writer::path() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return opened_; });
    return path_;
}

Loss Writer::loss() {
    const std::lock_guard lock(mutex_);
    return loss_;
}

void Writer::failed(const std::string& what) {
    usable_ = false;
    if (!complained_ && options_.complain) {
        options_.complain(what);
    }
    complained_ = true;
}

void Writer::open() {
    std::string wrong = "no path was given";
    std::string tried;
    for (const std::string& path : options_.paths) {
        tried = path;
        wrong = database_.create(path);
        if (wrong != std::strerror(EEXIST)) {
            break;
        }
    }
    for (const auto& [key, value] : options_.meta) {
        if (wrong.empty()) {
            wrong = database_.setMeta(key, value);
        }
    }
    if (wrong.empty()) {
        wrong = database_.commit({});
    }
    usable_ = wrong.empty();
    if (!usable_) {
        failed("cannot write " + tried + ": " + wrong + "; nothing is recorded");
    }
    const std::lock_guard lock(mutex_);
    path_ = usable_ ? tried : "";
    opened_ = true;
    idle_.notify_all();
}

void Writer::give(RowBatch& batch) {
    Loss lost = batch.loss;
    const std::size_t rows = batch.size();
    if (usable_ && rows > 0) {
        if (const std::string wrong = database_.write(batch); !wrong.empty()) {
            // what the transaction held so far goes with it
            lost.not_written += rows_in_transaction_ + rows;
            failed("writing " + path_ + " failed: " + wrong +
                   "; what follows is not recorded, what was committed stays readable");
        } else {
            rows_in_transaction_ += rows;
        }
    } else {
        lost.not_written += rows;
    }
    if (lost != Loss{} || rows > 0) {
        const std::lock_guard lock(mutex_);
        loss_ += lost;
        uncommitted_ = true;
    }
    batch.clear();
}

void Writer::commit() {
    Loss total;
    {
        const std::lock_guard lock(mutex_);
        uncommitted_ = false;
        total = loss_;
    }
    if (usable_) {
        if (const std::string wrong = database_.commit(total); !wrong.empty()) {
            {
                const std::lock_guard lock(mutex_);
                loss_.not_written += rows_in_transaction_;
            }
            failed("writing " + path_ + " failed: " + wrong +
                   "; what follows is not recorded, what was committed stays readable");
        }
    }
    rows_in_transaction_ = 0;
    last_commit_ = std::chrono::steady_clock::now();
}

void Writer::work() {
    open();
    RowBatch batch;
    last_commit_ = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait_for(lock, options_.commit_every,
                       [this] { return !jobs_.empty() || stop_ || flush_; });
        if (!jobs_.empty()) {
            const Job job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            try {
                job(batch);
                give(batch);
            } catch (const std::bad_alloc&) {
                batch.clear();
                addLoss({.out_of_memory = 1});
            }
        } else {
            lock.unlock();
        }
        const bool due = std::chrono::steady_clock::now() - last_commit_ >= options_.commit_every;
        lock.lock();
        const bool drained = jobs_.empty();
        if (uncommitted_ && (due || rows_in_transaction_ >= options_.rows_per_commit ||
                             (drained && (flush_ || stop_)))) {
            lock.unlock();
            commit();
            lock.lock();
        }
        if (drained && jobs_.empty()) {
            if (flush_) {
                flush_ = false;
                idle_.notify_all();
            }
            if (stop_) {
                break;
            }
        }
    }
    const Loss total = loss_;
    lock.unlock();
    if (usable_) {
        std::string wrong = database_.setMeta("complete", "1");
        if (wrong.empty()) {
            wrong = database_.commit(total);
        }
        if (wrong.empty()) {
            wrong = database_.close();
        }
        if (!wrong.empty()) {
            failed("closing " + path_ + " failed: " + wrong +
                   "; what was committed stays readable");
        }
    }
}

} // namespace kerf::collector

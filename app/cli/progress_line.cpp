// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_line.h"

#include <atomic>
#include <csignal>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace kerf::cli {

namespace {

std::atomic<Progress*> cancellable{nullptr};
std::atomic<bool> line_is_up{false};

static_assert(std::atomic<Progress*>::is_always_lock_free, "read in a signal handler");

void onSignal(int /*signal*/) {
    if (Progress* progress = cancellable.load(std::memory_order_relaxed)) {
        progress->cancelled.store(true, std::memory_order_relaxed);
    }
}

void handle(int signal) {
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART; // a second one is final
    sigaction(signal, &action, nullptr);
}

} // namespace

ProgressLine::ProgressLine(Progress& progress) : progress_(progress) {
    cancellable.store(&progress);
    handle(SIGINT);
    handle(SIGTERM);
    if (isatty(STDERR_FILENO) != 0) {
        progress.report = [this](double fraction, std::string_view what) { show(fraction, what); };
    }
}

ProgressLine::~ProgressLine() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    cancellable.store(nullptr);
    progress_.report = nullptr;
    clearProgressLine();
}

void ProgressLine::show(double fraction, std::string_view what) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now - shown_at_ < std::chrono::milliseconds(80)) {
        return;
    }
    shown_ = true;
    shown_at_ = now;
    line_is_up.store(true);
    const std::string line =
        fmt::format("\r\033[K{:3.0f} %  {}", fraction * 100, what.substr(0, 70));
    fmt::print(stderr, "{}", line);
    std::fflush(stderr);
}

void clearProgressLine() {
    if (line_is_up.exchange(false)) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }
}

} // namespace kerf::cli

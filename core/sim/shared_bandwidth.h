// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/key_heap.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kerf::sim {

/// Device memory that all active loads share equally, each capped by what one worker can pull.
/// All loads run at one common rate, so a load ends when the bytes served to each active load (the
/// virtual time) have grown by its own bytes: an event costs O(log n), no rate is ever recomputed
/// load by load.
class SharedBandwidth {
public:
    /// Rates in bytes/µs.
    SharedBandwidth(double memory_rate, double worker_rate)
        : memory_rate_(memory_rate), worker_rate_(worker_rate) {}

    void reserve(std::size_t loads) { ends_.reserve(loads); }

    /// Starts `count` equal loads under one id. Returns the bytes served to each load at which they
    /// end.
    double start(double now_us, double bytes, std::uint32_t id, std::uint32_t count) {
        serveUntil(now_us);
        const double end = served_ + bytes;
        ends_.push(end, id);
        active_ += count;
        setRate();
        return end;
    }

    /// When the next load ends; infinite without loads.
    [[nodiscard]] double nextEndUs() {
        const KeyHeap::Entry* next = ends_.top();
        return next == nullptr ? std::numeric_limits<double>::infinity()
                               : at_us_ + std::max(0.0, next->key - served_) * us_per_byte_;
    }

    /// Its id.
    [[nodiscard]] std::uint32_t next() { return ends_.top()->id; }
    /// Ends the next load, or `count` of them under one id; `now_us` is what nextEndUs() said.
    void end(double now_us, std::uint32_t count) {
        served_ = ends_.top()->key; // exact: loads of equal end stay equal
        ends_.take();
        at_us_ = now_us;
        active_ -= count;
        setRate();
    }

    /// Bytes served to each active load by now.
    [[nodiscard]] double served(double now_us) const { return served_ + (now_us - at_us_) * rate_; }

private:
    void serveUntil(double now_us) {
        if (active_ > 0) {
            served_ += (now_us - at_us_) * rate_;
        } else if (now_us > at_us_) {
            served_ = 0; // keeps the virtual time small, hence precise. Not within one instant:
                         // there it would depend on the order in which equal loads end and start
        }
        at_us_ = now_us;
    }
    void setRate() {
        if (active_ != rated_for_) {
            rated_for_ = active_;
            rate_ =
                std::min(worker_rate_, memory_rate_ / static_cast<double>(std::max(active_, 1U)));
            us_per_byte_ = 1 / rate_;
        }
    }

    KeyHeap ends_;
    double memory_rate_;
    double worker_rate_;
    double served_ = 0; ///< bytes that each active load has got since the memory was last idle
    double at_us_ = 0;  ///< when `served_` was right
    double rate_ = 0;
    double us_per_byte_ = 0;
    std::uint32_t active_ = 0; ///< loads in progress
    std::uint32_t rated_for_ = static_cast<std::uint32_t>(-1);
};

} // namespace kerf::sim

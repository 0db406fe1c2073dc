// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/key_heap.h"

#include <algorithm>
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

    /// Returns the bytes served to each load at which this one ends.
    double start(double now_us, double bytes, std::uint32_t id) {
        serveUntil(now_us);
        const double end = served_ + bytes;
        ends_.push(end, id);
        setRate();
        return end;
    }

    /// When the next load ends; infinite without loads.
    [[nodiscard]] double nextEndUs() {
        const KeyHeap::Entry* next = ends_.top();
        return next == nullptr ? std::numeric_limits<double>::infinity()
                               : at_us_ + std::max(0.0, next->key - served_) * us_per_byte_;
    }

    /// Ends that load; `now_us` is what nextEndUs() said.
    std::uint32_t end(double now_us) {
        const KeyHeap::Entry ended = *ends_.top();
        ends_.take();
        served_ = ended.key; // exact: loads of equal end stay equal
        at_us_ = now_us;
        if (ends_.size() == 0) {
            served_ = 0;
        }
        setRate();
        return ended.id;
    }

    /// Bytes served to each active load by now.
    [[nodiscard]] double served(double now_us) const { return served_ + (now_us - at_us_) * rate_; }

private:
    void serveUntil(double now_us) {
        if (ends_.size() == 0) {
            served_ = 0; // keeps the virtual time small, hence precise
        } else {
            served_ += (now_us - at_us_) * rate_;
        }
        at_us_ = now_us;
    }
    void setRate() {
        if (ends_.size() != rated_for_) {
            rated_for_ = ends_.size();
            rate_ =
                std::min(worker_rate_,
                         memory_rate_ / static_cast<double>(std::max<std::size_t>(rated_for_, 1)));
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
    std::size_t rated_for_ = static_cast<std::size_t>(-1);
};

} // namespace kerf::sim

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

namespace kerf {

/// How long work reports itself and learns that it is no longer wanted.
/// `report` may be called from any thread; `cancelled` may be set from any thread.
struct Progress {
    std::function<void(double fraction, std::string_view what)> report; ///< may be empty
    std::atomic<bool> cancelled{false};

    /// Tells how far the work is (0…1). Returns false when the work should stop.
    bool step(double fraction, std::string_view what) {
        if (report) {
            report(fraction, what);
        }
        return !cancelled.load(std::memory_order_relaxed);
    }
};

} // namespace kerf

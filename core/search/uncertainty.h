// SPDX-License-Identifier: GPL-3.0-or-later
// Paired replicas with common random numbers: intervals, P(A beats B), ties.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kerf::search {

/// Independent causes of error. Each has one multiplier a replica, shared by all candidates.
enum class ErrorSource : std::uint8_t {
    ConventionalRun,   ///< run-to-run spread of the recording and its replay residual
    MegakernelProduct, ///< cost of op classes inside a megakernel
    MegakernelAttention,
    MegakernelElementwise,
    MegakernelConvolution,
    MegakernelEmbedding,
    MegakernelCopy,
    Launch, ///< launch gap and prologue of a region
    Event,  ///< signal, fan-in, observe
};
inline constexpr std::size_t kErrorSources = 9;

/// A candidate's time by cause. µs; the sum is its predicted time.
using TimeParts = std::array<double, kErrorSources>;
[[nodiscard]] double total(const TimeParts& parts);

/// One standard deviation of each multiplier around 1, e.g. 0.15. Drawn log-normal with median 1.
using ErrorModel = std::array<double, kErrorSources>;

struct Interval {
    double low = 0;  ///< 5th percentile
    double high = 0; ///< 95th percentile
};

struct Uncertain {
    double predicted_us = 0; ///< without error: sum of the parts
    Interval interval_us;    ///< 90 %
    double mean_us = 0;      ///< over the replicas
    double p_best = 0;       ///< share of replicas in which it is the fastest (ties split equally)
};

struct Comparison {
    double difference_us = 0; ///< a − b
    Interval interval_us;     ///< of the difference
    double p_a_beats_b = 0;
    bool tie = false; ///< 0.05 < p < 0.95, or |difference| below `tie_fraction` × b
};

/// `replicas` paired draws, keyed by (seed, replica, source), never by draw order: same seed, same
/// bits in any order of candidates and on any thread count. All candidates share each draw.
[[nodiscard]] std::vector<Uncertain> quantify(const std::vector<TimeParts>& candidates,
                                              const ErrorModel& model, int replicas,
                                              std::uint64_t seed);
[[nodiscard]] Comparison compare(const TimeParts& a, const TimeParts& b, const ErrorModel& model,
                                 double tie_fraction, int replicas, std::uint64_t seed);

} // namespace kerf::search

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kerf::search {
namespace {

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014): neighbouring keys give unrelated bits.
std::uint64_t mixed(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30U)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27U)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31U);
}

/// In (0, 1).
double uniform(std::uint64_t key) {
    return (static_cast<double>(mixed(key) >> 11U) + 0.5) * 0x1p-53;
}

/// Standard normal (Box and Muller).
double normal(std::uint64_t key) {
    const double radius = std::sqrt(-2 * std::log(uniform(key)));
    return radius * std::cos(2 * std::numbers::pi * uniform(key ^ 0x5851f42d4c957f2dU));
}

/// σ of the logarithm of a log-normal variable with median 1 and standard deviation s. From
/// s² = (e^σ² − 1) e^σ².
double logSigma(double standard_deviation) {
    const double variance = standard_deviation * standard_deviation;
    return std::sqrt(std::log((1 + std::sqrt(1 + 4 * variance)) / 2));
}

/// The multipliers of one replica.
TimeParts multipliers(const ErrorModel& model, std::uint64_t seed, int replica) {
    TimeParts factors{};
    for (std::size_t source = 0; source < factors.size(); ++source) {
        const std::uint64_t key =
            mixed(mixed(seed) ^ static_cast<std::uint64_t>(replica)) ^ (source + 1);
        factors[source] = std::exp(logSigma(model[source]) * normal(mixed(key)));
    }
    return factors;
}

double totalWith(const TimeParts& parts, const TimeParts& factors) {
    return std::inner_product(parts.begin(), parts.end(), factors.begin(), 0.0);
}

/// Linear between order statistics, as numpy's default. `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Interval interval(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return {quantile(samples, 0.05), quantile(samples, 0.95)};
}

} // namespace

double total(const TimeParts& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

std::vector<Uncertain> quantify(const std::vector<TimeParts>& candidates, const ErrorModel& model,
                                int replicas, std::uint64_t seed) {
    std::vector<Uncertain> result(candidates.size());
    if (candidates.empty()) {
        return result;
    }
    replicas = std::max(replicas, 1);
    std::vector<std::vector<double>> samples(candidates.size());
    for (int replica = 0; replica < replicas; ++replica) {
        const TimeParts factors = multipliers(model, seed, replica);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            samples[i].push_back(totalWith(candidates[i], factors));
        }
        const auto is_less = [](const auto& a, const auto& b) { return a.back() < b.back(); };
        const double best = std::min_element(samples.begin(), samples.end(), is_less)->back();
        const auto is_best = [&](const auto& s) { return s.back() == best; };
        const auto winners = std::count_if(samples.begin(), samples.end(), is_best);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (is_best(samples[i])) {
                result[i].p_best += 1.0 / (static_cast<double>(winners) * replicas);
            }
        }
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        result[i].predicted_us = total(candidates[i]);
        result[i].mean_us = std::accumulate(samples[i].begin(), samples[i].end(), 0.0) / replicas;
        result[i].interval_us = interval(std::move(samples[i]));
    }
    return result;
}

Comparison compare(const TimeParts& a, const TimeParts& b, const ErrorModel& model,
                   double tie_fraction, int replicas, std::uint64_t seed) {
    replicas = std::max(replicas, 1);
    std::vector<double> differences;
    double wins = 0;
    for (int replica = 0; replica < replicas; ++replica) {
        const TimeParts factors = multipliers(model, seed, replica);
        const double difference = totalWith(a, factors) - totalWith(b, factors);
        differences.push_back(difference);
        wins += difference < 0 ? 1.0 : difference == 0 ? 0.5 : 0.0;
    }
    Comparison result;
    result.difference_us = total(a) - total(b);
    result.interval_us = interval(std::move(differences));
    result.p_a_beats_b = wins / replicas;
    result.tie = (result.p_a_beats_b > 0.05 && result.p_a_beats_b < 0.95) ||
                 std::abs(result.difference_us) < tie_fraction * total(b);
    return result;
}

} // namespace kerf::search

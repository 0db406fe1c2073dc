// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/statistics.h"

#include <algorithm>
#include <cmath>

namespace kerf::lab {

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) {
        return *middle;
    }
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

Summary summarise(const std::vector<double>& values) {
    // A normal distribution's standard deviation over its median absolute deviation.
    constexpr double kNormalScale = 1.4826;
    Summary summary;
    summary.median = median(values);
    summary.count = static_cast<int>(values.size());
    std::vector<double> deviations;
    deviations.reserve(values.size());
    for (const double value : values) {
        deviations.push_back(std::abs(value - summary.median));
    }
    summary.spread = kNormalScale * median(std::move(deviations));
    return summary;
}

Summary difference(const Summary& a, const Summary& b) {
    return {a.median - b.median, std::hypot(a.spread, b.spread), std::min(a.count, b.count)};
}

} // namespace kerf::lab

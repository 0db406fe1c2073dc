// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace kerf::lab {

/// Centre and spread of repeated measurements, in their unit.
struct Summary {
    double median = 0;
    double spread = 0; ///< robust standard deviation: 1.4826 times the median absolute deviation
    int count = 0;
};

/// Mean of the two middle values for an even count; 0 for none.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] Summary summarise(const std::vector<double>& values);

/// a - b of independent measurements: spreads add in quadrature, the smaller count is kept.
[[nodiscard]] Summary difference(const Summary& a, const Summary& b);

} // namespace kerf::lab

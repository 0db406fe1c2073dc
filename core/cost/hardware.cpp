// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/hardware.h"

#include <algorithm>

namespace kerf::cost {

double interpolate(const Curve& curve, double x) {
    if (curve.empty()) {
        return 0;
    }
    const auto right = std::lower_bound(curve.begin(), curve.end(), x,
                                        [](const CurvePoint& p, double at) { return p.x < at; });
    if (right == curve.begin()) {
        return curve.front().y;
    }
    if (right == curve.end()) {
        return curve.back().y;
    }
    const auto left = right - 1;
    return left->y + (right->y - left->y) * (x - left->x) / (right->x - left->x);
}

double readBandwidthGbps(const Hardware& hardware, double workers, double threads) {
    Curve by_threads;
    by_threads.reserve(hardware.bandwidth.size());
    for (const BandwidthCurve& curve : hardware.bandwidth) {
        by_threads.push_back(
            {static_cast<double>(curve.threads), interpolate(curve.gbps_by_workers, workers)});
    }
    return interpolate(by_threads, threads);
}

} // namespace kerf::cost

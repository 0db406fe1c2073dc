// SPDX-License-Identifier: GPL-3.0-or-later
// A made-up speech model for tests of views: prefill, 4 frames of (talker_step, 15 × code
// predictor), codec. Every figure is invented.
#pragma once

#include "core/search/predictor.h"

#include <memory>
#include <string>

namespace kerf::test {

/// 34 tile ops, four stages; layers ×28 and ×5 folded; loops with back sites.
[[nodiscard]] std::shared_ptr<const search::Case> sampleCase(int batch = 32);
/// One stage of `ops` equal ops with a site between every two: ops − 1 sites, in order.
[[nodiscard]] std::shared_ptr<const search::Case> flatCase(int ops);

/// Site whose key is `key`; fails the program where there is none.
[[nodiscard]] graph::SiteIndex siteOf(const graph::Chain& chain, const std::string& key);

[[nodiscard]] search::Prediction samplePrediction(const graph::Composition& composition,
                                                  double ttfa_us, double throughput_per_s,
                                                  double coverage);
/// Six candidates of sampleCase(), best first; the first two tie.
[[nodiscard]] search::SearchResult sampleResult(const graph::Chain& chain);

} // namespace kerf::test

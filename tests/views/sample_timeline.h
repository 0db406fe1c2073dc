// SPDX-License-Identifier: GPL-3.0-or-later
// A made-up case small enough to work out by hand: prefill, then two steps of `step`.
#pragma once

#include "core/search/predictor.h"

#include <memory>

namespace kerf::test {

/// Stage "prefill": product (10 µs). Stage "step": norm 2 µs, gap 1, product 5 µs on stream 7 and a
/// copy 1 µs after it. Path: prefill, 2 × step. Three requests; the second has the median span: its
/// stages start at 0, 12 and 22 µs and it ends at 31 µs.
[[nodiscard]] std::shared_ptr<search::Case> smallCase();

/// prefill conventional (15 µs), each step one megakernel launch of 8 µs (2 µs boundary).
[[nodiscard]] search::Prediction smallPrediction();

/// Eight workers, each a tile of the norm (0–1 µs) and then of the product (1–6 µs), but workers
/// 4–7 have no product.
[[nodiscard]] sim::RegionResult smallRegion();

} // namespace kerf::test

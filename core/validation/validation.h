// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions of a chain file held against its measurements.
#pragma once

#include "core/base/progress.h"
#include "core/validation/chain_prediction.h"

#include <optional>

namespace kerf::validation {

struct CaseResult {
    std::size_t chain = 0;      ///< index into ChainFile::chains
    std::size_t chain_case = 0; ///< index into its cases
    double predicted_us = 0;    ///< whole chain, as all times here
    double measured_us = 0;
    double launch_gap_us = 0; ///< naive: conventional without gaps
    double roofline_us = 0;   ///< naive: bytes over bandwidth
};

/// Of |predicted / measured − 1|; fractions.
struct ErrorSummary {
    double mean_abs = 0;
    double worst_abs = 0;
};

/// Two cases of one chain that the prediction puts the other way round than the measurement.
struct WrongPair {
    std::size_t chain = 0;
    std::size_t faster = 0; ///< as measured; indices into the chain's cases
    std::size_t slower = 0;
    double measured_difference = 0; ///< slower / faster − 1
};

/// The constants' own check: a single op as the persistent kernel, no cut involved. An input.
struct SingleResult {
    Product product;
    double predicted_us = 0;
    double measured_us = 0;
};

struct Validation {
    std::vector<CaseResult> cases;
    ErrorSummary engine;
    ErrorSummary launch_gap;
    ErrorSummary roofline;
    std::vector<WrongPair> wrong_pairs;
    bool order_right = true; ///< of the region lengths of every chain; whole chains not counted
    std::vector<SingleResult> singles;
};

[[nodiscard]] double relativeError(double predictedUs, double measuredUs);
[[nodiscard]] std::size_t worstCase(const Validation& validation); ///< index of the largest error

/// Errors: as ChainPredictor, with the chain named; cancelled.
[[nodiscard]] Expected<Validation> validate(const ChainFile& file, const Setting& setting,
                                            Progress& progress);

} // namespace kerf::validation

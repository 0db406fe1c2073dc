// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/validation/validation.h"

#include "core/validation/naive.h"

#include <algorithm>
#include <cmath>

namespace kerf::validation {
namespace {

ErrorSummary summaryOf(const std::vector<CaseResult>& cases, double CaseResult::*predicted) {
    ErrorSummary summary;
    for (const CaseResult& one : cases) {
        const double error = std::abs(relativeError(one.*predicted, one.measured_us));
        summary.mean_abs += error / static_cast<double>(cases.size());
        summary.worst_abs = std::max(summary.worst_abs, error);
    }
    return summary;
}

/// Pairs of one chain's cases in the wrong order. Equal measurements have no order.
std::vector<WrongPair> wrongPairs(const std::vector<CaseResult>& cases) {
    std::vector<WrongPair> wrong;
    for (const CaseResult& faster : cases) {
        for (const CaseResult& slower : cases) {
            if (faster.chain == slower.chain && faster.measured_us < slower.measured_us &&
                faster.predicted_us >= slower.predicted_us) {
                wrong.push_back({faster.chain, faster.chain_case, slower.chain_case,
                                 relativeError(slower.measured_us, faster.measured_us)});
            }
        }
    }
    return wrong;
}

Error inChain(Error error, const MeasuredChain& chain) {
    error.what = fmt::format("chain \"{}\": {}", chain.name, error.what);
    return error;
}

} // namespace

double relativeError(double predictedUs, double measuredUs) {
    return predictedUs / measuredUs - 1;
}

std::size_t worstCase(const Validation& validation) {
    const auto& cases = validation.cases;
    const auto worst =
        std::max_element(cases.begin(), cases.end(), [](const CaseResult& a, const CaseResult& b) {
            return std::abs(relativeError(a.predicted_us, a.measured_us)) <
                   std::abs(relativeError(b.predicted_us, b.measured_us));
        });
    return static_cast<std::size_t>(worst - cases.begin());
}

Expected<Validation> validate(const ChainFile& file, const Setting& setting, Progress& progress) {
    auto predictor = ChainPredictor::make(file, setting);
    if (!predictor) {
        return tl::unexpected(predictor.error());
    }
    Validation made;
    for (std::size_t c = 0; c < file.chains.size(); ++c) {
        const MeasuredChain& chain = file.chains[c];
        for (std::size_t i = 0; i < chain.cases.size(); ++i) {
            const ChainCase& one = chain.cases[i];
            if (!progress.step(static_cast<double>(c) / static_cast<double>(file.chains.size()),
                               "predicting chains")) {
                return fail("the validation was cancelled");
            }
            const auto us = predictor->chainUs(chain, one.starts);
            if (!us) {
                return tl::unexpected(inChain(us.error(), chain));
            }
            made.cases.push_back(
                {c, i, *us, one.measured_us,
                 launchGapSubtractionUs(file, chain, one.starts.size(), setting.hardware),
                 rooflineUs(file, chain, setting.hardware)});
        }
    }
    made.engine = summaryOf(made.cases, &CaseResult::predicted_us);
    made.launch_gap = summaryOf(made.cases, &CaseResult::launch_gap_us);
    made.roofline = summaryOf(made.cases, &CaseResult::roofline_us);
    made.wrong_pairs = wrongPairs(made.cases);
    for (const WrongPair& pair : made.wrong_pairs) {
        const auto& cases = file.chains[pair.chain].cases;
        if (cases[pair.faster].kind == CaseKind::RegionsOf &&
            cases[pair.slower].kind == CaseKind::RegionsOf) {
            made.order_right = false;
        }
    }
    for (const SingleOp& single : file.singles) {
        if (single.persistent_us > 0) {
            const auto us = predictor->launchUs(std::span(&single.product, 1));
            if (!us) {
                return tl::unexpected(us.error());
            }
            made.singles.push_back({single.product, *us, single.persistent_us});
        }
    }
    return made;
}

} // namespace kerf::validation

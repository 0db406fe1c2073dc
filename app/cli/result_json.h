// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions and search results as JSON: the same on the command line, in the report and in the
// window's export. Field names are documented in docs/command-line.md.
#pragma once

#include "core/search/predictor.h"

#include <nlohmann/json.hpp>

namespace kerf::cli {

using Json = nlohmann::ordered_json;

/// {kind, ttfa_us, interval_us, coverage, launches, throughput_per_s, rtf, cuts, region_details,
/// …}. `rtf` is null where the audio of a pass is not known.
[[nodiscard]] Json toJson(const search::Case& theCase, const search::Prediction& prediction);
/// The same without region_details, with {regions: "c M M", p_best, ties_best}.
[[nodiscard]] Json toJson(const search::Case& theCase, const search::Candidate& candidate);
/// {model, batch, best, candidates, seconds, regions_evaluated, region_cache}.
[[nodiscard]] Json toJson(const search::Case& theCase, const search::SearchResult& result);

} // namespace kerf::cli

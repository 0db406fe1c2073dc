// SPDX-License-Identifier: GPL-3.0-or-later
// What-ifs of a composition beside those a reader compares it with, as a table and as JSON; and the
// line on the conventional path with programmatic launches.
#pragma once

#include "app/cli/output.h"
#include "app/cli/result_json.h"
#include "core/project/project.h"
#include "core/search/programmatic.h"
#include "core/search/what_if.h"

namespace kerf::cli {

struct NamedWhatIf {
    search::WhatIf what_if;
    std::vector<std::string> candidates; ///< names, in the order of WhatIf's indices
};

/// Candidates: the composition asked for, conventional, monolith, per-layer, and those saved in the
/// project of which this recording has every cut; each once. Errors: as search::whatIf.
[[nodiscard]] Expected<NamedWhatIf> predictWhatIf(const project::Project& project,
                                                  const search::Case& theCase,
                                                  const graph::Composition& asked,
                                                  Progress& progress);

[[nodiscard]] Table whatIfTable(); ///< columns only
void addRows(Table& table, const search::Case& theCase, const NamedWhatIf& whatIf);
/// {predicted_us, best, candidates, rows}; docs/command-line.md.
[[nodiscard]] Json toJson(const NamedWhatIf& whatIf);

inline constexpr const char* kWhatIfNote = "Whole engine runs, estimated. Only the machine "
                                           "changes, not the bytes and times of tiles, which "
                                           "were estimated from the recording.\n";

/// "llama-1b batch 1: conventional with programmatic launches est. 1.234 ms (…)\n".
[[nodiscard]] std::string programmaticLine(const search::Case& theCase,
                                           const search::ProgrammaticBaseline& baseline);

} // namespace kerf::cli

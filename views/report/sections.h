// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a report, in order.
#pragma once

#include "views/report/pages.h"
#include "views/report/report.h"

namespace kerf::views {

void drawAnswer(Pages& pages, const ReportData& data);
void drawEvidence(Pages& pages, const ReportData& data);    ///< timeline, critical path
void drawCategories(Pages& pages, const ReportData& data);  ///< map, coverage, every model
void drawAssumptions(Pages& pages, const ReportData& data); ///< provenance, health, replay

/// Shared by the sections.
[[nodiscard]] const ReportEntry& chosenEntry(const ReportData& data);
[[nodiscard]] const search::Candidate* candidateOf(const search::SearchResult& result,
                                                   graph::Kind kind);
/// "first audio" where the model makes audio, else "first output".
[[nodiscard]] QString outputName(const search::Case& theCase);
/// "13.9–14.6 ms"; "–" where there is no interval.
[[nodiscard]] QString intervalText(const search::Interval& interval);
/// "0.97", never rounded up to 1 or down to 0 ("> 0.99").
[[nodiscard]] QString probabilityText(double probability);
/// Best candidate's time against another's, drawn from paired replicas.
[[nodiscard]] search::Comparison bestAgainst(const ReportEntry& entry,
                                             const search::Candidate& other);

} // namespace kerf::views

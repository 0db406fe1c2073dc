// SPDX-License-Identifier: GPL-3.0-or-later
// The report as a PDF: answer first, then the evidence, then everything that it rests on.
#pragma once

#include "core/graph/fusion_rules.h"
#include "core/search/predictor.h"
#include "views/category_map_model.h"
#include "views/timeline_model.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kerf::views {

/// One model at one batch size.
struct ReportEntry {
    std::shared_ptr<const search::Case> the_case;
    search::SearchResult result; ///< candidates best first; may be empty: not searched
};

struct ReportData {
    std::string project;  ///< name
    std::string question; ///< empty: "Where should MODEL be cut at batch N?"
    std::string date;     ///< as it is to be read
    std::string version;  ///< of the program
    std::vector<ReportEntry> entries;
    std::size_t chosen = 0;                    ///< the entry that is reported in detail
    std::optional<TimelinePredicted> timeline; ///< of the chosen entry's best candidate
    std::vector<CategoryRow> categories;
    graph::FusionRules fusion_rules;                           ///< empty: the default rules
    std::vector<std::pair<std::string, std::string>> settings; ///< name, value
    std::string result_json; ///< attached as result.json; empty: nothing is attached
};

/// Writes the report as A4 landscape, text selectable, whole or not at all. Needs a QApplication,
/// no display. Errors: no font; no entry or no candidate for the chosen one; the file cannot be
/// written.
[[nodiscard]] Expected<void> writeReport(const ReportData& data, const std::filesystem::path& pdf);

} // namespace kerf::views

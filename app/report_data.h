// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a project, the same from the command line and from the window.
#pragma once

#include "app/session.h"
#include "views/report/report.h"

#include <QImage>

namespace kerf::app {

/// Everything but the timeline. `chosen`: the case reported in detail; cases without a result are
/// left out of the entries.
[[nodiscard]] views::ReportData reportData(const project::Project& project,
                                           const std::vector<CaseState>& cases, std::size_t chosen);

/// The timeline of the best candidate. Simulates its regions: takes a while.
[[nodiscard]] views::TimelinePredicted bestTimeline(const CaseState& state);

/// The widget at `size`, twice as many pixels, charts included.
[[nodiscard]] QImage sharpImage(QWidget& widget, QSize size);

/// PNG of every view of one case into `folder`, drawn without a window. Returns the files.
/// Errors: as views::writePng.
[[nodiscard]] Expected<std::vector<std::filesystem::path>>
writePictures(const std::vector<CaseState>& cases, std::size_t chosen,
              const views::TimelinePredicted& timeline, const std::filesystem::path& folder);

} // namespace kerf::app

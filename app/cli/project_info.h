// SPDX-License-Identifier: GPL-3.0-or-later
// What `kerf info P.kerf` tells of a project.
#pragma once

#include "app/cli/selection.h"
#include "app/cli/table.h"

#include <nlohmann/json.hpp>

namespace kerf::cli {

/// One row a stage: ops, streams, branches, layers, executions, time, tile ops.
[[nodiscard]] Table stageTable(const Cases& cases);
/// One row a site: its key and how often the path passes it.
[[nodiscard]] Table siteTable(const Cases& cases);
/// One row an op of the chain: what a tile costs inside a megakernel, its tier and source.
[[nodiscard]] Table opTable(const Cases& cases);
[[nodiscard]] nlohmann::ordered_json opsJson(const Cases& cases);
/// One line a case: path, replay, health.
[[nodiscard]] std::string pathLines(const Cases& cases);
/// {project, hardware, recordings: [{model, batch, path, stages, sites, health, …}]}.
[[nodiscard]] nlohmann::ordered_json projectJson(const project::Project& project,
                                                 const Cases& cases);

} // namespace kerf::cli

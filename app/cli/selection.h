// SPDX-License-Identifier: GPL-3.0-or-later
// Which recordings of a project a verb works on.
#pragma once

#include "core/project/project.h"

#include <string>

namespace CLI {
class App;
}

namespace kerf::cli {

struct Selection {
    std::string project; ///< file
    std::string model;   ///< empty: every model
    int batch = 0;       ///< 0: every batch size
    std::string policy;  ///< how tiles are given to workers; empty: as the project says
    bool programmatic_boundaries = false; ///< false: as the project says
};

using Cases = std::vector<std::shared_ptr<const search::Case>>;

struct Loaded {
    project::Project project; ///< with every recording, selected or not
    Cases cases;              ///< the selected ones, in the project's order
};

/// Adds PROJECT, --model and --batch to a verb; and --policy with --programmatic-boundaries.
void addSelection(CLI::App& verb, Selection& selection);
void addPolicy(CLI::App& verb, Selection& selection);

/// Reads the project and prepares the selected cases. All batch sizes of a selected model are read:
/// weight bytes are estimated from its smallest one (graph::buildChain).
/// Errors: as readProject and loadCases; nothing selected (lists what there is).
[[nodiscard]] Expected<Loaded> load(const Selection& selection, Progress& progress);

} // namespace kerf::cli

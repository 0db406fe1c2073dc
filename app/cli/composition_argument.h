// SPDX-License-Identifier: GPL-3.0-or-later
// A composition given on the command line, or picked in a menu.
#pragma once

#include "core/project/project.h"

#include <string>
#include <vector>

namespace kerf::cli {

/// One megakernel a layer: cuts before, between and after the layers of every stage.
[[nodiscard]] graph::Composition perLayer(const graph::Chain& chain);

/// "conventional", "monolith", "per-layer", or the name of one saved in the project for this model.
/// Errors: another name (lists those that there are); a saved cut that this recording lacks.
[[nodiscard]] Expected<graph::Composition> compositionOfName(const project::Project& project,
                                                             const search::Case& theCase,
                                                             const std::string& name);

/// Cuts by site key, each the start of a megakernel; "KEY:c" starts a conventional region, and the
/// key "start" is the path's first region. Errors: an unknown key (says how to list them).
[[nodiscard]] Expected<graph::Composition> compositionOfCuts(const search::Case& theCase,
                                                             const std::vector<std::string>& cuts);

} // namespace kerf::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "core/validation/ablation.h"

#include <utility>

namespace kerf::cli {

/// The constants of the hardware file that a chain's prediction rests on, by their names there.
[[nodiscard]] std::vector<std::pair<const char*, const cost::Constant*>>
constantsUsed(const cost::Hardware& hardware);

/// The object that `kerf validate --json` prints (docs/command-line.md). Errors are fractions.
[[nodiscard]] nlohmann::ordered_json toJson(const validation::ChainFile& file,
                                            const cost::Hardware& hardware,
                                            const validation::Validation& made,
                                            const std::vector<validation::AblationRow>& ablation);

} // namespace kerf::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/composition.h"

namespace kerf::search {

/// `composition` of chain `from` on chain `to`, which is the same workload under other fusion
/// rules. A cut stays in front of the same recorded op, whatever tile op that op now belongs to
/// (keys do not say that: "before product.1" is in front of a norm as long as the norm is fused).
/// Keys of cuts that have no counterpart are listed in `missing` and left out.
[[nodiscard]] graph::Composition transferCuts(const graph::Chain& from, const graph::Chain& to,
                                              const graph::Composition& composition,
                                              std::vector<std::string>& missing);

} // namespace kerf::search

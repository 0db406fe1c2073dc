// SPDX-License-Identifier: GPL-3.0-or-later
// What if: a composition predicted again with one input changed at a time.
#pragma once

#include "core/search/predictor.h"

namespace kerf::search {

struct WhatIfRow {
    std::string group;       ///< "machine" or "fusion rules"
    std::string name;        ///< "event latencies × 0.5"
    double predicted_us = 0; ///< NaN: cannot run so, see `notes`
    double change_us = 0;    ///< predicted − as it is
    std::size_t best = 0;    ///< the candidate that is fastest then; index
    bool best_changes = false;
    bool order_changes = false;       ///< some two candidates change places
    std::vector<std::string> notes{}; ///< cuts that were lost, why it cannot run
    /// 0.01: 1 % slower. `as_it_is_us` is WhatIf::predicted_us.
    [[nodiscard]] double change(double as_it_is_us) const { return change_us / as_it_is_us; }
};

struct WhatIf {
    double predicted_us = 0; ///< as it is
    std::size_t best = 0;    ///< candidate that is fastest as it is; index
    std::vector<WhatIfRow> rows;
};

/// Whole engine runs, no derivatives; deterministic. What is changed:
/// - "machine": one constant of the hardware. Only the machine that the tiles
///   run on changes. Bytes and times of tiles were estimated from the recording with the hardware
///   as it is and stay; so do the recorded gaps and durations of conventional regions.
/// - "fusion rules": each rule by which the recording's ops are fused or dropped, changed to a tile
///   op of its own with all of its recorded work. Ops are grouped and costed again; cuts stay in
///   front of the same recorded op.
/// `candidates` are predicted under every change to see whether their order holds; one that cannot
/// run comes last. Errors: the composition cannot run as it is; cancelled.
[[nodiscard]] Expected<WhatIf> whatIf(const Case& theCase, const graph::Composition& composition,
                                      const std::vector<graph::Composition>& candidates,
                                      Progress& progress);

} // namespace kerf::search

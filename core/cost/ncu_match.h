// SPDX-License-Identifier: GPL-3.0-or-later
// Which recorded kernel each launch of an ncu file was (tier 2; docs/cost-model.md).
#pragma once

#include "core/cost/hardware.h"
#include "core/cost/ncu_csv.h"
#include "core/workload/workload.h"

namespace kerf::cost {

/// Counters of a recorded kernel: means over the launches that were it.
struct KernelCounters {
    double read_bytes = 0; ///< from device memory; with ncu's default cold caches all that it reads
    std::optional<double> dram_share; ///< of the memory's peak, 0 … 1
    std::optional<double> sm_share;   ///< of the SMs' peak, 0 … 1
};

struct MatchedCounters {
    std::vector<std::vector<std::optional<KernelCounters>>> by_op; ///< [stage][op]
    std::vector<std::string> notes; ///< launches and kernels that found no partner, for the user
};

/// Matches by kernel name, grid and block; where a name is written otherwise (the two tools spell
/// templates differently), by the function's own name. Launches with the same three are dealt to
/// the recorded kernels in order: within the stage where all of them are in one, else along the
/// path, and again from the start for further passes. Where the launches are no whole number of
/// passes they are used only if all recorded ones are the same op in different layers.
/// Errors: a launch that read more than device memory gives in its time (without a time in the
/// file: in the recorded time, beyond what L2 may have held); no launch has bytes; none matches.
[[nodiscard]] Expected<MatchedCounters>
matchCounters(const NcuFile& file, const workload::Workload& workload, const Hardware& hardware);

} // namespace kerf::cost

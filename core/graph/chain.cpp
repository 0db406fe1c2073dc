// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/chain.h"

namespace kerf::graph {

std::string_view toString(Tier tier) {
    switch (tier) {
    case Tier::Estimated:
        return "est.";
    case Tier::Counters:
        return "counters";
    case Tier::Benchmarked:
        return "benchmarked";
    }
    return "est.";
}

} // namespace kerf::graph

// SPDX-License-Identifier: GPL-3.0-or-later
// Small cases written down by hand.
#pragma once

#include "core/search/predictor.h"
#include "tests/graph/workload_maker.h"

#include <QtGlobal>

namespace kerf::test {

/// `workload` on an H200 with the default fusion rules.
inline std::shared_ptr<search::Case> caseOf(workload::Workload workload) {
    auto made = std::make_shared<search::Case>();
    made->traced = std::move(workload);
    made->corrected = made->traced;
    made->hardware = cost::shippedHardware("NVIDIA H200").value();
    made->tree = workload::foldPath(made->traced.path);
    made->chain = graph::buildChain(made->corrected, made->corrected, made->tree,
                                    graph::defaultFusionRules(), made->hardware)
                      .value();
    made->errors.fill(0.1);
    return made;
}

/// Cut at the site of that key, which must exist.
inline graph::SiteIndex siteOf(const graph::Chain& chain, const std::string& key) {
    for (std::size_t i = 0; i < chain.sites.size(); ++i) {
        if (chain.sites[i].key == key) {
            return static_cast<graph::SiteIndex>(i);
        }
    }
    qFatal("no site is called %s", key.c_str());
}

} // namespace kerf::test

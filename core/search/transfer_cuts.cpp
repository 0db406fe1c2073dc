// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/transfer_cuts.h"

#include <algorithm>
#include <fmt/format.h>

namespace kerf::search {

namespace {

/// Key of a site between two groups of a stage (graph::buildChain): "STAGE/before SECTION/ROLE.N",
/// where the op behind it is called "STAGE/SECTION/ROLE.N".
std::string keyBefore(const graph::ChainOp& op) {
    const auto role = op.key.rfind('/');
    const auto section = role == std::string::npos ? role : op.key.rfind('/', role - 1);
    return section == std::string::npos
               ? std::string()
               : op.key.substr(0, section) + "/before " + op.key.substr(section + 1);
}

/// What stays of a site when ops are grouped otherwise: between two groups the recorded op behind
/// it, else its key; and how many sites before it have the same.
using Identity = std::pair<std::string, int>;

std::vector<Identity> identities(const graph::Chain& chain) {
    std::map<std::string, int> seen;
    std::vector<Identity> found;
    for (const auto& site : chain.sites) {
        std::string name = site.key;
        if (site.before_op < chain.ops.size()) {
            const auto& op = chain.ops[site.before_op];
            if (site.key == keyBefore(op)) {
                name = fmt::format("stage {}, op {}", op.stage, op.members.front());
            }
        }
        const int before = seen[name]++;
        found.emplace_back(std::move(name), before);
    }
    return found;
}

} // namespace

graph::Composition transferCuts(const graph::Chain& from, const graph::Chain& to,
                                const graph::Composition& composition,
                                std::vector<std::string>& missing) {
    const auto before = identities(from);
    const auto after = identities(to);
    graph::Composition result{composition.first_mode, {}};
    for (const auto& [site, mode] : composition.cuts) {
        const auto index = static_cast<std::size_t>(site);
        const auto found = std::find(after.begin(), after.end(), before[index]);
        if (found == after.end()) {
            missing.push_back(from.sites[index].key);
        } else {
            result.cuts.emplace(static_cast<graph::SiteIndex>(found - after.begin()), mode);
        }
    }
    return result;
}

} // namespace kerf::search

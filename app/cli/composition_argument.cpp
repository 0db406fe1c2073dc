// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/composition_argument.h"

#include <algorithm>

namespace kerf::cli {

namespace {

using graph::Item;
using graph::Mode;

std::string nameOf(const search::Case& theCase) {
    return fmt::format("{} batch {}", theCase.traced.model, theCase.traced.batch);
}

void cutAroundLayers(const std::vector<Item>& items, graph::Composition& composition) {
    const auto cutAt = [&](const Item& item) {
        if (item.kind == Item::Kind::Site) {
            composition.cuts[static_cast<graph::SiteIndex>(item.index)] = Mode::Megakernel;
        }
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = items[i];
        if (item.kind != Item::Kind::Loop) {
            continue;
        }
        if (item.label != "layer") {
            cutAroundLayers(item.body, composition);
            continue;
        }
        if (item.back_site != graph::kPathStart) {
            composition.cuts[item.back_site] = Mode::Megakernel;
        }
        if (i > 0) {
            cutAt(items[i - 1]);
        }
        if (i + 1 < items.size()) {
            cutAt(items[i + 1]);
        }
    }
}

} // namespace

graph::Composition perLayer(const graph::Chain& chain) {
    graph::Composition composition = graph::monolith();
    cutAroundLayers(chain.items, composition);
    return composition;
}

Expected<graph::Composition> compositionOfName(const project::Project& project,
                                               const search::Case& theCase,
                                               const std::string& name) {
    if (name == "conventional") {
        return graph::fullyConventional();
    }
    if (name == "monolith") {
        return graph::monolith();
    }
    if (name == "per-layer") {
        return perLayer(theCase.chain);
    }
    std::string known = "conventional, monolith, per-layer";
    if (const auto settings = project.models.find(theCase.traced.model);
        settings != project.models.end()) {
        for (const auto& saved : settings->second.compositions) {
            if (!saved.name.empty() && saved.name == name) {
                std::vector<std::string> missing;
                auto composition = graph::resolved(theCase.chain, saved, &missing);
                if (!missing.empty()) {
                    return fail(
                        fmt::format("composition \"{}\" cuts at \"{}\", which this recording lacks",
                                    name, missing.front()),
                        nameOf(theCase), "Choose another composition for it.");
                }
                return composition;
            }
            known += saved.name.empty() ? "" : ", " + saved.name;
        }
    }
    return fail(fmt::format("no composition is called \"{}\"", name), nameOf(theCase),
                fmt::format("There are: {}.", known));
}

Expected<graph::Composition> compositionOfCuts(const search::Case& theCase,
                                               const std::vector<std::string>& cuts) {
    const auto& sites = theCase.chain.sites;
    graph::Composition composition = graph::monolith();
    for (std::string key : cuts) {
        Mode mode = Mode::Megakernel;
        if (key.ends_with(":c")) {
            mode = Mode::Conventional;
            key.resize(key.size() - 2);
        }
        if (key == "start") {
            composition.first_mode = mode;
            continue;
        }
        const auto site =
            std::find_if(sites.begin(), sites.end(), [&](const auto& s) { return s.key == key; });
        if (site == sites.end()) {
            return fail(fmt::format("no cut is called \"{}\"", key), nameOf(theCase),
                        "List them with kerf info PROJECT --sites.");
        }
        composition.cuts[static_cast<graph::SiteIndex>(site - sites.begin())] = mode;
    }
    return composition;
}

} // namespace kerf::cli

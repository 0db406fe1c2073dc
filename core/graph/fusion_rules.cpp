// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/fusion_rules.h"

#include <algorithm>

namespace kerf::graph {

using workload::OpRole;

std::string_view toString(Fusion fusion) {
    switch (fusion) {
    case Fusion::Anchor:
        return "anchor";
    case Fusion::Prologue:
        return "prologue";
    case Fusion::Epilogue:
        return "epilogue";
    case Fusion::Dropped:
        return "dropped";
    }
    return "anchor";
}

const FusionRules& defaultFusionRules() {
    // Factors are estimates until a benchmark file names a fused role: 1 keeps all of the recorded
    // work beyond an empty kernel.
    static const FusionRules rules{
        {OpRole::Product, Fusion::Anchor, 1, "matrix products run as tiles of their own"},
        {OpRole::Attention, Fusion::Anchor, 1, "attention runs as tiles of its own"},
        {OpRole::Convolution, Fusion::Anchor, 1, "convolutions run as tiles of their own"},
        {OpRole::Embedding, Fusion::Anchor, 1, "gathers run as tiles of their own"},
        {OpRole::Sample, Fusion::Anchor, 1, "sampling needs all logits"},
        {OpRole::Copy, Fusion::Anchor, 1, "copies are kept"},
        {OpRole::Norm, Fusion::Prologue, 1, "each worker of the next product recomputes the norm"},
        {OpRole::Rotary, Fusion::Prologue, 1, "rotation is applied where attention reads q and k"},
        {OpRole::CacheAppend, Fusion::Prologue, 1,
         "k and v are appended before attention reads them"},
        {OpRole::Mask, Fusion::Prologue, 1, "the mask is computed in the attention tile"},
        {OpRole::Layout, Fusion::Prologue, 1, "kept as work: a layout that fits is not assumed"},
        {OpRole::Elementwise, Fusion::Prologue, 1,
         "pointwise work is done where its result is read"},
        {OpRole::Activation, Fusion::Epilogue, 1, "applied to the product's result on chip"},
        {OpRole::Residual, Fusion::Epilogue, 1, "added to the product's result on chip"},
        {OpRole::Reduction, Fusion::Dropped, 0, "tiles cover the whole inner dimension: no split"},
        {OpRole::Memset, Fusion::Dropped, 0, "counters are reset by the region's own events"},
    };
    return rules;
}

FusionRule ruleFor(const FusionRules& rules, OpRole role) {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [role](const FusionRule& rule) { return rule.role == role; });
    if (found != rules.end()) {
        return *found;
    }
    return {role, Fusion::Anchor, 1, "no rule: kept as tiles of its own"};
}

std::vector<Group> fuse(const std::vector<workload::Op>& ops, std::size_t begin, std::size_t end,
                        const FusionRules& rules) {
    std::vector<Group> groups;
    std::vector<std::size_t> waiting; // prologues in search of their anchor
    for (std::size_t i = begin; i < end; ++i) {
        switch (ruleFor(rules, ops[i].role).fusion) {
        case Fusion::Anchor: {
            Group group{std::move(waiting), i};
            waiting.clear();
            group.members.push_back(i);
            groups.push_back(std::move(group));
            break;
        }
        case Fusion::Prologue:
            waiting.push_back(i);
            break;
        case Fusion::Epilogue:
        case Fusion::Dropped:
            // What stands between an anchor and its epilogue stays in order: it waits with it.
            if (waiting.empty() && !groups.empty()) {
                groups.back().members.push_back(i);
            } else {
                waiting.push_back(i);
            }
            break;
        }
    }
    if (!waiting.empty()) {
        if (groups.empty()) {
            const auto longest = *std::max_element(
                waiting.begin(), waiting.end(), [&ops](std::size_t a, std::size_t b) {
                    return ops[a].duration_us < ops[b].duration_us;
                });
            groups.push_back({std::move(waiting), longest});
        } else {
            auto& last = groups.back().members;
            last.insert(last.end(), waiting.begin(), waiting.end());
        }
    }
    return groups;
}

} // namespace kerf::graph

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/build_chain.h"

#include "core/graph/stage_groups.h"
#include "core/graph/tile_estimate.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace kerf::graph {

using workload::Op;
using workload::OpRole;
using workload::PathNode;
using workload::Stage;
using workload::Workload;

namespace {

RecordedKernel recordedKernel(const Op& op, double durationUs) {
    RecordedKernel kernel;
    kernel.role = op.role;
    kernel.name = op.kernel;
    const auto product = [](const std::array<std::uint32_t, 3>& d) {
        return std::max<std::uint64_t>(std::uint64_t{d[0]} * d[1] * d[2], 1);
    };
    kernel.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(product(op.grid), 1U << 30));
    kernel.footprint = {static_cast<int>(std::min<std::uint64_t>(product(op.block), 1024)),
                        static_cast<int>(std::max(op.registers_per_thread, 16U)),
                        static_cast<int>(op.shared_bytes)};
    kernel.duration_us = durationUs;
    return kernel;
}

/// Duration of a kernel that does next to nothing: the 2nd percentile of all kernels of the
/// workload.
double emptyKernelUs(const Workload& workload) {
    std::vector<double> durations;
    for (const auto& stage : workload.stages) {
        for (const auto& op : stage.ops) {
            if (op.duration_us > 0 && op.role != OpRole::Memset && op.role != OpRole::Copy) {
                durations.push_back(op.duration_us);
            }
        }
    }
    if (durations.empty()) {
        return 0;
    }
    const auto nth = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 50);
    std::nth_element(durations.begin(), nth, durations.end());
    return *nth;
}

/// Counters of an op of a stage; of an op in folded layers the mean over them.
std::optional<cost::KernelCounters> countersOf(const cost::MatchedCounters* matched,
                                               const Workload& workload, const Stage& stage,
                                               std::size_t op) {
    if (matched == nullptr) {
        return std::nullopt;
    }
    const auto& counted = matched->by_op[static_cast<std::size_t>(&stage - workload.stages.data())];
    const auto& fold = stage.fold;
    const bool inLayer = fold.count > 0 && op >= fold.prefix && op < fold.prefix + fold.period;
    cost::KernelCounters sum;
    double dram = 0;
    double sm = 0;
    int layers = 0;
    bool shares = true;
    for (std::size_t layer = 0; layer < (inLayer ? fold.count : 1); ++layer) {
        if (const auto& one = counted[op + layer * fold.period]) {
            sum.read_bytes += one->read_bytes;
            dram += one->dram_share.value_or(0);
            sm += one->sm_share.value_or(0);
            shares = shares && one->dram_share && one->sm_share;
            ++layers;
        }
    }
    if (layers == 0) {
        return std::nullopt;
    }
    sum.read_bytes /= layers;
    if (shares) {
        sum.dram_share = dram / layers;
        sum.sm_share = sm / layers;
    }
    return sum;
}

class Builder {
public:
    Builder(const Workload& workload, const Workload& reference, const FusionRules& rules,
            const cost::Hardware& hardware, const MeasuredCosts& measured)
        : workload_(workload), reference_(reference), rules_(rules), hardware_(hardware),
          measured_(measured), empty_us_(emptyKernelUs(workload)) {}

    Expected<Chain> build(const workload::PathTree& tree) {
        noteEnds(tree);
        for (const auto& node : tree) {
            if (!chain_.items.empty()) {
                addSite(chain_.items, startKey(node), startLabel(node));
            }
            addNode(chain_.items, node);
        }
        if (error_) {
            return tl::unexpected(*error_);
        }
        finish();
        return std::move(chain_);
    }

private:
    /// Wherever a stage's branches end, the stage after it waits for all of them. Which stage comes
    /// before which differs along the path; waiting for the ends of every stage of the path is the
    /// same, as what lies further back is done by then.
    void noteEnds(const workload::PathTree& tree) {
        for (const auto& node : tree) {
            noteEnds(node.children);
            if (!node.isLoop()) {
                const auto ends = groupsOf(workload_.stages[node.stage], rules_).ends;
                ends_.insert(ends.begin(), ends.end());
            }
        }
    }

    [[nodiscard]] const Stage& firstStage(const PathNode& node) const {
        return node.isLoop() ? firstStage(node.children.front()) : workload_.stages[node.stage];
    }
    [[nodiscard]] std::string loopName(const PathNode& node) const {
        return node.children.size() == 1 ? firstStage(node).name : firstStage(node).name + " loop";
    }
    [[nodiscard]] std::string startKey(const PathNode& node) const {
        return node.isLoop() ? loopName(node) + "/enter" : firstStage(node).name + "/start";
    }
    [[nodiscard]] std::string startLabel(const PathNode& node) const {
        return node.isLoop() ? fmt::format("before the first {}", loopName(node))
                             : fmt::format("before {}", firstStage(node).name);
    }

    SiteIndex newSite(std::string key, std::string label) {
        chain_.sites.push_back({std::move(key), std::move(label),
                                chain_.ops.empty() ? 0 : chain_.ops.size() - 1, chain_.ops.size(),
                                1});
        return static_cast<SiteIndex>(chain_.sites.size() - 1);
    }

    void addSite(std::vector<Item>& items, std::string key, std::string label) {
        Item item;
        item.kind = Item::Kind::Site;
        item.index = static_cast<std::size_t>(newSite(std::move(key), std::move(label)));
        items.push_back(std::move(item));
    }

    void addNode(std::vector<Item>& items, const PathNode& node) {
        if (!node.isLoop()) {
            addStage(items, node.stage);
            return;
        }
        Item loop;
        loop.kind = Item::Kind::Loop;
        loop.count = node.count;
        loop.label = loopName(node);
        loop.back_site =
            newSite(loop.label + "/again", fmt::format("between two passes of {}", loop.label));
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            if (i > 0) {
                addSite(loop.body, startKey(node.children[i]), startLabel(node.children[i]));
            }
            if (i == node.entry) {
                loop.entry = loop.body.size();
            }
            addNode(loop.body, node.children[i]);
        }
        items.push_back(std::move(loop));
    }

    void addStage(std::vector<Item>& items, std::size_t stageIndex) {
        const auto& stage = workload_.stages[stageIndex];
        const auto groups = groupsOf(stage, rules_);
        const auto referenceGroups = referenceOf(stage.name);
        bool first = true;
        const auto addGroups = [&](std::vector<Item>& into, const std::vector<KeyedGroup>& list,
                                   bool siteFirst) {
            for (const auto& group : list) {
                if (siteFirst && group.separate) {
                    addSite(into, fmt::format("{}/before {}", stage.name, group.key),
                            fmt::format("{}, before {}", stage.name, group.key));
                }
                siteFirst = true;
                addOp(into, stageIndex, group, referenceGroups, first);
                first = false;
            }
        };
        addGroups(items, groups.prefix, false);
        if (!groups.layer.empty()) {
            const int layers = static_cast<int>(stage.fold.count);
            if (!groups.prefix.empty() && groups.before_layers) {
                addSite(items, stage.name + "/before layers",
                        stage.name + ", before the first layer");
            }
            Item loop;
            loop.kind = Item::Kind::Loop;
            loop.count = layers;
            loop.label = "layer";
            if (groups.each_layer) {
                loop.back_site =
                    newSite(stage.name + "/each layer", stage.name + ", between two layers");
            }
            addGroups(loop.body, groups.layer, false);
            items.push_back(std::move(loop));
            addGroups(items, groups.suffix, true);
        }
    }

    /// Groups of the same stage of the reference workload by key, with the stage they index.
    struct ReferenceGroups {
        const Stage* stage = nullptr;
        std::map<std::string, KeyedGroup> by_key;
    };
    [[nodiscard]] ReferenceGroups referenceOf(const std::string& stageName) const {
        ReferenceGroups found;
        for (const auto& stage : reference_.stages) {
            if (stage.name == stageName) {
                found.stage = &stage;
                auto groups = groupsOf(stage, rules_);
                for (auto* list : {&groups.prefix, &groups.layer, &groups.suffix}) {
                    for (auto& group : *list) {
                        found.by_key.emplace(group.key, std::move(group));
                    }
                }
            }
        }
        return found;
    }

    void addOp(std::vector<Item>& items, std::size_t stageIndex, const KeyedGroup& group,
               const ReferenceGroups& reference, bool firstOfStage) {
        const auto& stage = workload_.stages[stageIndex];
        ChainOp op;
        op.stage = stageIndex;
        op.members = group.group.members;
        op.role = stage.ops[group.group.anchor].role;
        op.key = fmt::format("{}/{}", stage.name, group.key);
        op.label = labelOf(group.key);

        EstimateInput input;
        input.batch = workload_.batch;
        input.empty_kernel_us = empty_us_;
        for (std::size_t i = 0; i < op.members.size(); ++i) {
            const auto& recorded = stage.ops[op.members[i]];
            input.members.push_back(recordedKernel(recorded, group.duration_us[i]));
            if (op.members[i] == group.group.anchor) {
                input.anchor = i;
            }
            op.conventional_us += group.path_duration_us[i] + group.path_gap_us[i];
        }
        op.conventional_first_gap_us = group.path_gap_us.front();
        if (firstOfStage) {
            // Where several ops start the stage, the first one has a gap of its own.
            const bool alone = !stage.ops[op.members.front()].follows.empty();
            const double gapUs = alone ? group.path_gap_us.front() : 0;
            op.conventional_us += stage.entry_gap_us - gapUs;
            op.conventional_first_gap_us =
                alone ? stage.entry_gap_us : op.conventional_first_gap_us + stage.entry_gap_us;
        }
        op.follows = followsOf(group);
        input.counters = countersOf(measured_.counters, workload_, stage, group.group.anchor);
        input.reference_anchor = input.members[input.anchor];
        input.reference_anchor_us = input.reference_anchor.duration_us;
        if (const auto found = reference.by_key.find(group.key); found != reference.by_key.end()) {
            const auto& other = found->second;
            for (std::size_t i = 0; i < other.group.members.size(); ++i) {
                if (other.group.members[i] == other.group.anchor) {
                    input.reference_anchor = recordedKernel(
                        reference.stage->ops[other.group.anchor], other.duration_us[i]);
                    input.reference_anchor_us = other.duration_us[i];
                    input.reference_counters = countersOf(measured_.reference_counters, reference_,
                                                          *reference.stage, other.group.anchor);
                }
            }
        }
        auto estimate = estimateTiles(input, rules_, hardware_);
        op.tile = std::move(estimate.tile);
        op.tile.label = op.label;
        op.tile.source = static_cast<std::uint32_t>(chain_.ops.size());
        op.footprint = estimate.footprint;
        op.tier = estimate.tier;
        op.relative_error = estimate.relative_error;
        op.source = std::move(estimate.source);
        useBenchmark(op, input);

        Item item;
        item.kind = Item::Kind::Op;
        item.index = chain_.ops.size();
        items.push_back(std::move(item));
        chain_.ops.push_back(std::move(op));
    }

    /// Distances to what a group waits for, in its stage and at the end of the stage before it.
    [[nodiscard]] std::vector<std::uint32_t> followsOf(const KeyedGroup& group) const {
        std::set<std::uint32_t> distances(group.follows.begin(), group.follows.end());
        for (const std::uint32_t inFront : group.starts) {
            for (const std::uint32_t end : ends_) {
                distances.insert(inFront + end);
            }
        }
        return {distances.begin(), distances.end()};
    }

    /// Puts what was benchmarked for the op in place of its estimate.
    void useBenchmark(ChainOp& op, const EstimateInput& input) {
        if (measured_.benchmarks == nullptr || error_) {
            return;
        }
        auto found = cost::benchCost(*measured_.benchmarks, op.key, op.role, workload_.batch);
        if (!found) {
            error_ = std::move(found.error());
            return;
        }
        if (!*found) {
            return;
        }
        auto& bench = **found;
        bench.tile.label = op.tile.label;
        bench.tile.source = op.tile.source;
        op.tile = std::move(bench.tile);
        if (bench.fused) { // helpers that the benchmarked tile leaves out stay as estimated
            addHelpers(op.tile, input, rules_, *bench.fused, hardware_.sm_count);
        }
        op.footprint = bench.footprint;
        op.tier = Tier::Benchmarked;
        op.relative_error = bench.relative_error;
        op.source = std::move(bench.source);
        if (bench.extrapolated_from > 0) {
            extrapolated_[bench.extrapolated_from].push_back(op.key);
        }
    }

    /// What the user must know about benchmarks: those stretched, and those that found no op.
    void noteBenchmarks() {
        for (const auto& [batch, keys] : extrapolated_) {
            chain_.notes.push_back(
                fmt::format("extrapolated: benchmarks of batch {} stand in for batch {}, with a "
                            "wider error: {}",
                            batch, workload_.batch, fmt::join(keys, ", ")));
        }
        if (measured_.benchmarks != nullptr) {
            std::set<std::string> keys;
            for (const auto& op : chain_.ops) {
                keys.insert(op.key);
            }
            for (const auto& unused : cost::unusedKeys(*measured_.benchmarks, keys)) {
                chain_.notes.push_back(
                    fmt::format("no op of {} at batch {} has the key of the benchmark {}",
                                workload_.model, workload_.batch, unused));
            }
        }
    }

    /// "layer/product.1" → "product 1".
    static std::string labelOf(const std::string& key) {
        auto label = key.substr(key.find('/') + 1);
        std::replace(label.begin(), label.end(), '.', ' ');
        return label;
    }

    /// Names the ops of transformer layers as people do, and counts how often each site is passed.
    void finish() {
        if (measured_.counters != nullptr) {
            chain_.notes = measured_.counters->notes;
        }
        noteBenchmarks();
        nameTransformerLayers();
        for (auto& site : chain_.sites) {
            site.passes = 0;
        }
        for (const auto& step : unroll(chain_)) {
            if (step.is_site) {
                ++chain_.sites[step.index].passes;
            }
        }
    }

    void nameTransformerLayers() {
        std::map<std::pair<std::size_t, bool>, std::vector<std::size_t>> layers;
        for (std::size_t i = 0; i < chain_.ops.size(); ++i) {
            if (chain_.ops[i].key.find("/layer/") != std::string::npos) {
                layers[{chain_.ops[i].stage, true}].push_back(i);
            }
        }
        for (const auto& [stage, ops] : layers) {
            std::vector<std::size_t> products;
            std::size_t beforeAttention = 0;
            int attentions = 0;
            for (const auto i : ops) {
                if (chain_.ops[i].role == OpRole::Product) {
                    products.push_back(i);
                } else if (chain_.ops[i].role == OpRole::Attention) {
                    ++attentions;
                    beforeAttention = products.size();
                    setLabel(i, "attn");
                }
            }
            if (products.size() == 4 && attentions == 1 && beforeAttention == 1) {
                const char* names[] = {"qkv", "o", "gate·up", "down"};
                for (std::size_t p = 0; p < 4; ++p) {
                    setLabel(products[p], names[p]);
                }
            }
        }
    }

    void setLabel(std::size_t op, const char* label) {
        chain_.ops[op].label = label;
        chain_.ops[op].tile.label = label;
    }

    const Workload& workload_;
    const Workload& reference_;
    const FusionRules& rules_;
    const cost::Hardware& hardware_;
    MeasuredCosts measured_;
    double empty_us_;
    Chain chain_;
    std::map<int, std::vector<std::string>> extrapolated_; ///< batch of the benchmark → op keys
    std::optional<Error> error_;                           ///< the first
    std::set<std::uint32_t> ends_; ///< of the path's stages, see StageGroups::ends
};

void collectOps(const std::vector<Item>& items, std::vector<bool>& used) {
    for (const auto& item : items) {
        if (item.kind == Item::Kind::Op) {
            used[item.index] = true;
        }
        collectOps(item.body, used);
    }
}

} // namespace

Expected<Chain> buildChain(const Workload& workload, const Workload& reference,
                           const workload::PathTree& tree, const FusionRules& rules,
                           const cost::Hardware& hardware, const MeasuredCosts& measured) {
    if (tree.empty()) {
        return fail(
            fmt::format("the path of {} at batch {} is empty", workload.model, workload.batch), {},
            "Set a path of at least one stage.");
    }
    return Builder(workload, reference, rules, hardware, measured).build(tree);
}

Chain steadyPart(const Chain& chain) {
    Chain part = chain;
    const auto loop = std::find_if(part.items.begin(), part.items.end(), [](const Item& item) {
        return item.kind == Item::Kind::Loop && item.label != "layer";
    });
    if (loop != part.items.end()) {
        part.items.erase(part.items.begin(), loop);
        part.items.front().entry = 0;
        return part;
    }
    // Without loops over stages: all but the first stage, or all where there is only one.
    const auto isFirstStage = [&](const Item& item) {
        std::vector<bool> used(chain.ops.size());
        collectOps({item}, used);
        for (std::size_t i = 0; i < used.size(); ++i) {
            if (used[i]) {
                return chain.ops[i].stage == chain.ops.front().stage;
            }
        }
        return true; // a site: goes with what stands before it
    };
    const auto rest = std::find_if_not(part.items.begin(), part.items.end(), isFirstStage);
    if (rest != part.items.end()) {
        part.items.erase(part.items.begin(), rest);
    }
    return part;
}

} // namespace kerf::graph

// SPDX-License-Identifier: GPL-3.0-or-later
// Stages with branches as chains of tile ops: order, dependencies, sites, times. Worked by hand.
#include "core/graph/build_chain.h"
#include "core/graph/lower.h"
#include "core/sim/engine.h"
#include "core/workload/replay.h"

#include "workload_maker.h"

#include <QTest>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace kerf;
using workload::OpRole;

namespace {

workload::Op op(OpRole role, double duration_us, std::vector<std::uint32_t> follows) {
    auto made = test::op(role, duration_us, 1);
    made.follows = std::move(follows);
    return made;
}

workload::Stage stageOf(std::string name, std::vector<workload::Op> ops) {
    workload::Stage stage;
    stage.name = std::move(name);
    stage.fold.prefix = ops.size();
    stage.ops = std::move(ops);
    stage.ops.front().gap_us = 0;
    return stage;
}

workload::Workload workloadOf(std::vector<workload::Stage> stages) {
    workload::Workload made;
    made.model = "m";
    for (std::size_t s = 0; s < stages.size(); ++s) {
        made.path.push_back({s, 1});
    }
    made.stages = std::move(stages);
    return made;
}

/// embedding; two products beside two attentions; sample; product.
workload::Workload forkJoin(double attention_us = 6) {
    return workloadOf(
        {stageOf("step", {op(OpRole::Embedding, 2, {1}), op(OpRole::Product, 10, {1}),
                          op(OpRole::Product, 10, {1}), op(OpRole::Attention, attention_us, {3}),
                          op(OpRole::Attention, attention_us, {1}), op(OpRole::Sample, 4, {1, 3}),
                          op(OpRole::Product, 8, {1})})});
}

/// embedding; 3 layers of attention, two products side by side, a product that joins them.
workload::Workload layers() {
    std::vector<workload::Op> ops{op(OpRole::Embedding, 3, {1})};
    for (int layer = 0; layer < 3; ++layer) {
        ops.push_back(op(OpRole::Attention, 2, {1}));
        ops.push_back(op(OpRole::Product, 5, {1}));
        ops.push_back(op(OpRole::Product, 3, {2}));
        ops.push_back(op(OpRole::Product, 4, {1, 2}));
    }
    auto stage = stageOf("step", std::move(ops));
    stage.fold = {1, 4, 3, 0};
    return workloadOf({std::move(stage)});
}

graph::Chain chainOf(const workload::Workload& workload) {
    return graph::buildChain(workload, workload, workload::foldPath(workload.path),
                             graph::defaultFusionRules(),
                             cost::shippedHardware("NVIDIA H200").value())
        .value();
}

/// "embedding.1<1 product.1<1 …": keys without stage and section, and distances.
std::string text(const graph::Chain& chain) {
    std::string text;
    for (const auto& one : chain.ops) {
        text += fmt::format("{}{}<{}", text.empty() ? "" : " ",
                            one.key.substr(one.key.rfind('/') + 1), fmt::join(one.follows, ","));
    }
    return text;
}

std::string sites(const graph::Chain& chain) {
    std::string text;
    for (const auto& site : chain.sites) {
        text += fmt::format("{}{} ×{}", text.empty() ? "" : "; ", site.key, site.passes);
    }
    return text;
}

double conventionalUs(const graph::Chain& chain) {
    return graph::conventionalUs(chain,
                                 graph::opsOf(chain, {graph::kPathStart, graph::pathEnd(chain)}));
}

/// 20,000 bytes/µs together, events seen after 1 µs; all else is free.
sim::Machine machine(sim::Policy policy) {
    sim::Machine made;
    made.workers = 16;
    made.policy = policy;
    made.ring_bytes = 1e6;
    made.worker_gbps = 10;
    made.memory_gbps = 20;
    made.l2_gbps_per_worker = 5;
    made.event_one_way_us = 1;
    return made;
}

double simulatedUs(const graph::Chain& chain, sim::Policy policy) {
    const auto shape =
        graph::shapeOf(graph::opsOf(chain, {graph::kPathStart, graph::pathEnd(chain)}));
    return sim::simulate(graph::lowerRegion(chain, shape), machine(policy)).value().makespan_us;
}

/// One tile an op, as long as its kernel.
graph::Chain oneTileEach(const workload::Workload& workload) {
    auto chain = chainOf(workload);
    for (auto& one : chain.ops) {
        const auto& recorded = workload.stages[one.stage].ops[one.members.front()];
        one.tile = {.label = one.key, .tiles = 1, .compute_us = recorded.duration_us};
    }
    return chain;
}

#define COMPARE_US(actual, expected)                                                               \
    QVERIFY2(std::abs((actual) - (expected)) < 1e-9,                                               \
             qPrintable(QString("%1, expected %2").arg(actual, 0, 'g', 12).arg(expected)))

} // namespace

class TestBranchesChain : public QObject {
    Q_OBJECT
private slots:
    void opsStandInTurnAndWaitForWhatTheyFollow();
    void cutsAreAllowedOnlyWhereOneOpSeparates();
    void onlyTheLongestPathTakesConventionalTime();
    void layersKeepTheirBranches();
    void aBranchAcrossALayersEndForbidsCutsThere();
    void helpersAreNotFusedOverAForkOrJoin();
    void theNextStageWaitsForEveryEnd();
    void severalStartsWaitForTheStageBefore();
    void equalBranchesTakeAsLongAsOne();
    void unevenBranchesTakeAsLongAsTheLonger();
    void branchesInLayersOverlapInEveryLayer();
    void branchesThatShareBandwidthTakeTheSum();
    void aChainIsLoweredAsItWas();
};

void TestBranchesChain::opsStandInTurnAndWaitForWhatTheyFollow() {
    // By durations: embedding 0, product 1 and attention 1 at 2, attention 2 at 8, product 2 at 12.
    QCOMPARE(text(chainOf(forkJoin())),
             std::string("embedding.1<1 product.1<1 attention.1<2 attention.2<1 product.2<3 "
                         "sample.1<1,2 product.3<1"));
}

void TestBranchesChain::cutsAreAllowedOnlyWhereOneOpSeparates() {
    QCOMPARE(sites(chainOf(forkJoin())),
             std::string("step/before ops/product.1 ×1; step/before ops/product.3 ×1"));
}

void TestBranchesChain::onlyTheLongestPathTakesConventionalTime() {
    // 2, two products of 1 + 10, sample 1 + 4, product 1 + 8
    const auto workload = forkJoin();
    const auto chain = chainOf(workload);
    QCOMPARE(conventionalUs(chain), 38.0);
    QCOMPARE(workload::replayUs(workload), 38.0);
    QCOMPARE(chain.ops[2].conventional_us, 0.0); // attention, in the products' shadow
}

void TestBranchesChain::layersKeepTheirBranches() {
    const auto chain = chainOf(layers());
    QCOMPARE(text(chain), std::string("embedding.1<1 attention.1<1 product.1<1 product.2<2 "
                                      "product.3<1,2"));
    QCOMPARE(sites(chain), std::string("step/before layers ×1; step/each layer ×2; "
                                       "step/before layer/product.1 ×3"));
    QCOMPARE(conventionalUs(chain), 3 + 3 * (3 + 6 + 5.0));
}

void TestBranchesChain::aBranchAcrossALayersEndForbidsCutsThere() {
    auto workload = layers();
    for (const std::size_t join : {4, 8}) { // joins in the next layer's attention
        workload.stages[0].ops[join].follows = {2};
        workload.stages[0].ops[join + 1].follows = {1, 2};
    }
    // Only in front of the first layer, and behind the attentions that join.
    QCOMPARE(sites(chainOf(workload)),
             std::string("step/before layers ×1; step/before layer/product.1 ×3"));
}

void TestBranchesChain::helpersAreNotFusedOverAForkOrJoin() {
    const auto chain = chainOf(workloadOf({stageOf(
        "step", {op(OpRole::Norm, 2, {1}), op(OpRole::Product, 5, {1}), op(OpRole::Norm, 2, {2}),
                 op(OpRole::Product, 5, {1}), op(OpRole::Residual, 1, {1, 3})})}));
    QCOMPARE(text(chain), std::string("norm.1<1 product.1<1 product.2<2 residual.1<1,2"));
}

void TestBranchesChain::theNextStageWaitsForEveryEnd() {
    const auto chain = chainOf(
        workloadOf({stageOf("first", {op(OpRole::Embedding, 2, {1}), op(OpRole::Product, 5, {1}),
                                      op(OpRole::Product, 9, {2})}),
                    stageOf("second", {op(OpRole::Sample, 1, {1}), op(OpRole::Product, 1, {1})})}));
    // The first stage waits for whatever ran before it, too.
    QCOMPARE(text(chain), std::string("embedding.1<1,2 product.1<1 product.2<2 sample.1<1,2 "
                                      "product.1<1"));
    QCOMPARE(sites(chain), std::string("first/before ops/product.1 ×1; second/start ×1; "
                                       "second/before ops/product.1 ×1"));
}

void TestBranchesChain::severalStartsWaitForTheStageBefore() {
    const auto chain = chainOf(
        workloadOf({stageOf("first", {op(OpRole::Embedding, 2, {1})}),
                    stageOf("second", {op(OpRole::Product, 5, {}), op(OpRole::Product, 5, {}),
                                       op(OpRole::Sample, 1, {1, 2})})}));
    QCOMPARE(text(chain), std::string("embedding.1<1 product.1<1 product.2<2 sample.1<1,2"));
    QCOMPARE(sites(chain), std::string("second/start ×1"));
}

void TestBranchesChain::equalBranchesTakeAsLongAsOne() {
    // 2, 10, 10, 4, 8 and an event between any two; one after another it would be 56 + 6.
    COMPARE_US(simulatedUs(oneTileEach(forkJoin(10)), sim::Policy::Balanced), 34 + 4.0);
}

void TestBranchesChain::unevenBranchesTakeAsLongAsTheLonger() {
    COMPARE_US(simulatedUs(oneTileEach(forkJoin(3)), sim::Policy::Balanced), 34 + 4.0);
    COMPARE_US(simulatedUs(oneTileEach(forkJoin(15)), sim::Policy::Balanced), 44 + 4.0);
}

void TestBranchesChain::branchesInLayersOverlapInEveryLayer() {
    // 3, then 3 layers of 2, the longer of 5 and 3, 4; 9 events
    COMPARE_US(simulatedUs(oneTileEach(layers()), sim::Policy::Balanced), 3 + 3 * 11 + 9.0);
}

void TestBranchesChain::branchesThatShareBandwidthTakeTheSum() {
    auto chain = oneTileEach(workloadOf(
        {stageOf("step", {op(OpRole::Embedding, 2, {1}), op(OpRole::Product, 10, {1}),
                          op(OpRole::Product, 10, {2}), op(OpRole::Sample, 4, {1, 2})})}));
    // 16 tiles of 12,500 bytes: 10 µs of the whole bandwidth each, read after the first op's event.
    for (const std::size_t product : {1, 2}) {
        chain.ops[product].tile = {.tiles = 16, .dependent_bytes = 12'500};
    }
    COMPARE_US(simulatedUs(chain, sim::Policy::RoundRobin), 2 + 1 + 10 + 10 + 1 + 4.0);
    // Weights need no event: they are there 20 µs after the start.
    for (const std::size_t product : {1, 2}) {
        chain.ops[product].tile = {.tiles = 16, .load_bytes = 12'500};
    }
    COMPARE_US(simulatedUs(chain, sim::Policy::RoundRobin), 10 + 10 + 1 + 4.0);
}

void TestBranchesChain::aChainIsLoweredAsItWas() {
    const auto chain = chainOf(test::speechLike());
    const auto shape =
        graph::shapeOf(graph::opsOf(chain, {graph::kPathStart, graph::pathEnd(chain)}));
    const auto region = graph::lowerRegion(chain, shape);
    for (std::size_t i = 0; i < shape.ops.size(); ++i) {
        QVERIFY(region.ops[i] == chain.ops[shape.ops[i]].tile);
    }
}

QTEST_APPLESS_MAIN(TestBranchesChain)
#include "tst_branches_chain.moc"

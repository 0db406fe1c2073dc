// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/machine.h"
#include "core/graph/build_chain.h"
#include "core/graph/lower.h"
#include "core/graph/tile_estimate.h"
#include "core/workload/replay.h"

#include "shared_data.h"
#include "workload_maker.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>

using namespace kerf;

namespace {

cost::Hardware hardware() {
    return cost::shippedHardware("NVIDIA H200").value();
}

graph::Chain chainOf(const workload::Workload& workload) {
    return graph::buildChain(workload, workload, workload::foldPath(workload.path),
                             graph::defaultFusionRules(), hardware())
        .value();
}

std::map<std::string, std::int64_t> passes(const graph::Chain& chain) {
    std::map<std::string, std::int64_t> byKey;
    for (const auto& site : chain.sites) {
        byKey[site.key] = site.passes;
    }
    return byKey;
}

} // namespace

class TestBuildChain : public QObject {
    Q_OBJECT
private slots:
    void theWalkTakesAsLongAsTheReplay();
    void aLayerOfFiveKernelsBecomesThreeTileOps();
    void sitesArePassedAsOftenAsTheirPlaceIsReached();
    void siteKeysAreUnique();
    void transformerLayersCarryTheNamesOfTheField();
    void theSteadyPartStartsWithTheLoop();
    void anEmptyPathIsRefused();
    void weightsComeFromTheReferenceBatch();
    void aStreamedTileAlwaysFitsItsRing();
    void arithmeticBoundProductsKeepTheirBlocks();
    void blockTileIsReadFromTheName_data();
    void blockTileIsReadFromTheName();
    void aRegionsFootprintHoldsEveryOp();
};

void TestBuildChain::theWalkTakesAsLongAsTheReplay() {
    // Two ways to the same sum: op by op along the unrolled walk, and stage by stage.
    const auto workload = test::speechLike();
    const auto chain = chainOf(workload);
    double sum = 0;
    for (const auto& step : graph::unroll(chain)) {
        if (!step.is_site) {
            sum += chain.ops[step.index].conventional_us;
        }
    }
    QVERIFY(std::abs(sum - workload::replayUs(workload)) < 1e-6 * sum);
}

void TestBuildChain::aLayerOfFiveKernelsBecomesThreeTileOps() {
    const auto chain = chainOf(test::speechLike());
    const auto inLayer = std::count_if(chain.ops.begin(), chain.ops.end(), [](const auto& op) {
        return op.key.starts_with("prefill/layer/");
    });
    QCOMPARE(inLayer, 3); // norm + product, attention, product + residual
}

void TestBuildChain::sitesArePassedAsOftenAsTheirPlaceIsReached() {
    // By hand: 3 layers of outer × 2 passes; 2 layers of inner × 12 passes; inner's 4 runs 3 times.
    const auto known = passes(chainOf(test::speechLike()));
    QCOMPARE(known.at("outer/before layer/attention.1"), 3 * 2);
    QCOMPARE(known.at("outer/each layer"), 2 * 2);
    QCOMPARE(known.at("outer/before layers"), 2);
    QCOMPARE(known.at("inner/before layer/attention.1"), 2 * 12);
    QCOMPARE(known.at("inner/again"), 3 * 3);
    QCOMPARE(known.at("inner/enter"), 2); // the first run is entered from prefill
    QCOMPARE(known.at("outer loop/enter"), 1);
    QCOMPARE(known.at("outer loop/again"), 2);
    QCOMPARE(known.at("tail/start"), 1);
}

void TestBuildChain::siteKeysAreUnique() {
    const auto chain = chainOf(test::speechLike());
    std::set<std::string> keys;
    for (const auto& site : chain.sites) {
        QVERIFY2(keys.insert(site.key).second, site.key.c_str());
    }
    std::set<std::string> opKeys;
    for (const auto& op : chain.ops) {
        QVERIFY2(opKeys.insert(op.key).second, op.key.c_str());
    }
}

void TestBuildChain::transformerLayersCarryTheNamesOfTheField() {
    using workload::OpRole;
    workload::Workload workload;
    workload.model = "m";
    workload::Stage stage;
    stage.name = "decode";
    for (int layer = 0; layer < 2; ++layer) {
        for (const auto role :
             {OpRole::Norm, OpRole::Product, OpRole::Attention, OpRole::Product, OpRole::Norm,
              OpRole::Product, OpRole::Activation, OpRole::Product}) {
            stage.ops.push_back(test::op(role, 5, 0.5));
        }
    }
    stage.fold = {0, 8, 2, 0};
    workload.stages = {stage};
    workload.path = {{0, 1}};
    std::vector<std::string> labels;
    for (const auto& op : chainOf(workload).ops) {
        labels.push_back(op.label);
    }
    QCOMPARE(labels, (std::vector<std::string>{"qkv", "attn", "o", "gate·up", "down"}));
}

void TestBuildChain::theSteadyPartStartsWithTheLoop() {
    const auto chain = chainOf(test::speechLike());
    const auto steady = graph::steadyPart(chain);
    // 3 full passes of (outer, 4 × inner) and the tail: 3 × (outer + 4 inner) + tail, op
    // executions.
    std::map<std::size_t, int> executions;
    for (const auto& step : graph::unroll(steady)) {
        if (!step.is_site) {
            ++executions[chain.ops[step.index].stage];
        }
    }
    const int opsAnOuter = 1 + 3 * 3 + 2; // embedding, 3 layers of 3, head and sample
    const int opsAnInner = 1 + 2 * 3 + 2;
    QCOMPARE(executions[0], 0);
    QCOMPARE(executions[1], 3 * 4 * opsAnInner);
    QCOMPARE(executions[2], 3 * opsAnOuter);
    QCOMPARE(executions[3], 1 + 2 * 3 + 2);
}

void TestBuildChain::anEmptyPathIsRefused() {
    auto workload = test::speechLike();
    workload.path.clear();
    const auto chain =
        graph::buildChain(workload, workload, {}, graph::defaultFusionRules(), hardware());
    QVERIFY(!chain);
    QVERIFY(chain.error().what.find("toy") != std::string::npos);
}

void TestBuildChain::weightsComeFromTheReferenceBatch() {
    // A product of 20 µs at batch 64 whose batch-1 kernel took 12 µs: weights are those of batch 1.
    graph::EstimateInput input;
    const cost::Footprint footprint{384, 168, 164'000};
    input.reference_anchor = {workload::OpRole::Product, "nvjet_sm90_tst_64x8_64x16", 132,
                              footprint, 12};
    input.reference_anchor_us = 12;
    input.members = {
        {workload::OpRole::Product, "nvjet_sm90_tst_64x64_64x16", 132, footprint, 12.5}};
    input.empty_kernel_us = 1;
    input.batch = 64;
    const auto h200 = hardware();
    const auto estimate = graph::estimateTiles(input, graph::defaultFusionRules(), h200);
    // By hand: (12 − 1 − ramp) µs at the device's bandwidth (132 blocks can draw more than all of
    // it).
    const double expected = (12 - 1 - h200.ramp_us.value) * h200.memory_gbps.value * 1e3;
    QVERIFY(std::abs(estimate.tile.tiles * estimate.tile.load_bytes / expected - 1) < 1e-9);
    QVERIFY(estimate.tile.load_bytes <= 32 * 1024);
    QVERIFY(estimate.source.starts_with("est."));
    QVERIFY(estimate.relative_error > 0);
}

void TestBuildChain::aStreamedTileAlwaysFitsItsRing() {
    // A vector product with a small footprint: six blocks of it fit an SM, six rings of tiles do
    // not.
    graph::EstimateInput input;
    const cost::Footprint footprint{128, 83, 13'824};
    input.members = {{workload::OpRole::Product, "gemmSN_TN_kernel", 257, footprint, 13}};
    input.reference_anchor = input.members.front();
    input.reference_anchor_us = 13;
    input.empty_kernel_us = 1;
    const auto h200 = hardware();
    const auto estimate = graph::estimateTiles(input, graph::defaultFusionRules(), h200);
    QVERIFY(estimate.tile.load_bytes > 0);
    const auto machine = cost::machineFor(h200, estimate.footprint);
    QVERIFY(machine);
    QVERIFY(machine->ring_bytes >= 2 * estimate.tile.load_bytes);
}

void TestBuildChain::arithmeticBoundProductsKeepTheirBlocks() {
    graph::EstimateInput input;
    const cost::Footprint footprint{384, 168, 164'000};
    input.reference_anchor = {workload::OpRole::Product, "nvjet_sm90_tst_64x8_64x16", 132,
                              footprint, 6};
    input.reference_anchor_us = 6;
    input.members = {
        {workload::OpRole::Product, "nvjet_sm90_tst_256x128_64x4", 264, footprint, 201}};
    input.empty_kernel_us = 1;
    const auto estimate = graph::estimateTiles(input, graph::defaultFusionRules(), hardware());
    QCOMPARE(estimate.tile.tiles, 264U);
    // 200 µs in two waves of 132: 100 µs a tile, and the library's advantage of 1.15
    // (docs/cost-model.md).
    QVERIFY(std::abs(estimate.tile.compute_us - 115) < 1e-9);
    QCOMPARE(estimate.tile.load_bytes, 0.0);
}

void TestBuildChain::blockTileIsReadFromTheName_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("a");
    QTest::addColumn<int>("b");
    QTest::newRow("nvjet") << "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT" << 64 << 8;
    QTest::newRow("nvjet large") << "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT" << 256 << 128;
    QTest::newRow("xmma") << "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
                             "tilesize128x64x64_warpgroupsize1x1x1_g1"
                          << 128 << 64;
    QTest::newRow("cutlass") << "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_"
                                "128x64_64x3_nn_align2>"
                             << 128 << 64;
    QTest::newRow("none") << "triton_red_fused__fused_rms_norm_0" << 0 << 0;
    QTest::newRow("empty") << "" << 0 << 0;
}

void TestBuildChain::blockTileIsReadFromTheName() {
    QFETCH(const QString, name);
    const auto text = name.toStdString();
    const auto tile = graph::blockTileOf(text);
    QTEST(tile.a, "a");
    QTEST(tile.b, "b");
}

void TestBuildChain::aRegionsFootprintHoldsEveryOp() {
    // 128 threads × 246 registers and 384 × 80: the greatest need of registers, 31 488, over 384
    // threads.
    graph::Chain chain;
    chain.ops.resize(2);
    chain.ops[0].footprint = {128, 246, 33'792};
    chain.ops[1].footprint = {384, 80, 8'192};
    graph::Item first;
    graph::Item second;
    second.index = 1;
    const auto footprint = graph::regionFootprint(chain, {first, second});
    QCOMPARE(footprint.threads, 384);
    QCOMPARE(footprint.shared_bytes, 33'792);
    QCOMPARE(footprint.registers, 82); // 31 488 / 384
}

QTEST_APPLESS_MAIN(TestBuildChain)
#include "tst_build_chain.moc"

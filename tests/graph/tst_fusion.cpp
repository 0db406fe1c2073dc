// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/fusion_rules.h"

#include "workload_maker.h"

#include <QTest>

using namespace kerf;
using workload::OpRole;

Q_DECLARE_METATYPE(std::vector<workload::OpRole>)
Q_DECLARE_METATYPE(std::vector<std::vector<std::size_t>>)

class TestFusion : public QObject {
    Q_OBJECT
private slots:
    void groupsFollowTheRules_data();
    void groupsFollowTheRules();
    void anEditedRuleChangesTheGroups();
    void aRangeNeverReachesOverItsEnds();
    void everyRoleHasARule();
};

void TestFusion::groupsFollowTheRules_data() {
    using Roles = std::vector<OpRole>;
    using Groups = std::vector<std::vector<std::size_t>>;
    QTest::addColumn<std::vector<workload::OpRole>>("roles");
    QTest::addColumn<std::vector<std::vector<std::size_t>>>("expected");
    // The 14 kernels of a recorded llama-1b decode layer, by hand: qkv, attention, o, gate·up,
    // down.
    QTest::newRow("decode layer") << Roles{OpRole::Norm,        OpRole::Product,    OpRole::Rotary,
                                           OpRole::CacheAppend, OpRole::Mask,       OpRole::Mask,
                                           OpRole::Attention,   OpRole::Product,    OpRole::Norm,
                                           OpRole::Product,     OpRole::Activation, OpRole::Product,
                                           OpRole::Reduction,   OpRole::Residual}
                                  << Groups{{0, 1}, {2, 3, 4, 5, 6}, {7}, {8, 9, 10}, {11, 12, 13}};
    QTest::newRow("a memset before a product stays in order")
        << Roles{OpRole::Product, OpRole::Norm, OpRole::Memset, OpRole::Product}
        << Groups{{0}, {1, 2, 3}};
    QTest::newRow("prologue without a following anchor joins the one before")
        << Roles{OpRole::Product, OpRole::Norm} << Groups{{0, 1}};
    QTest::newRow("no anchor at all is one group")
        << Roles{OpRole::Elementwise, OpRole::Elementwise, OpRole::Memset} << Groups{{0, 1, 2}};
    QTest::newRow("nothing") << Roles{} << Groups{};
}

void TestFusion::groupsFollowTheRules() {
    QFETCH(const std::vector<workload::OpRole>, roles);
    QFETCH(const std::vector<std::vector<std::size_t>>, expected);
    std::vector<workload::Op> ops;
    for (const auto role : roles) {
        ops.push_back(test::op(role, 1, 0.5));
    }
    const auto groups = graph::fuse(ops, 0, ops.size(), graph::defaultFusionRules());
    std::vector<std::vector<std::size_t>> members;
    for (const auto& group : groups) {
        members.push_back(group.members);
    }
    QCOMPARE(members, expected);
}

void TestFusion::anEditedRuleChangesTheGroups() {
    const std::vector<workload::Op> ops{test::op(OpRole::Norm, 1, 0),
                                        test::op(OpRole::Product, 9, 0)};
    auto rules = graph::defaultFusionRules();
    for (auto& rule : rules) {
        if (rule.role == OpRole::Norm) {
            rule.fusion = graph::Fusion::Anchor;
        }
    }
    QCOMPARE(graph::fuse(ops, 0, 2, graph::defaultFusionRules()).size(), std::size_t{1});
    QCOMPARE(graph::fuse(ops, 0, 2, rules).size(), std::size_t{2});
}

void TestFusion::aRangeNeverReachesOverItsEnds() {
    const auto stage = test::transformerStage("s", 2, 1, 0);
    for (const auto& group : graph::fuse(stage.ops, 1, 6, graph::defaultFusionRules())) {
        for (const auto member : group.members) {
            QVERIFY(member >= 1 && member < 6);
        }
    }
}

void TestFusion::everyRoleHasARule() {
    // `Other` has none on purpose: what is unknown is kept as an op of its own.
    for (int role = 0; role < static_cast<int>(OpRole::Other); ++role) {
        const auto rule = graph::ruleFor(graph::defaultFusionRules(), static_cast<OpRole>(role));
        QVERIFY2(rule.reason.find("no rule") == std::string::npos,
                 workload::toString(static_cast<OpRole>(role)).data());
    }
}

QTEST_APPLESS_MAIN(TestFusion)
#include "tst_fusion.moc"

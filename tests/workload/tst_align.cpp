// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of ops, and the pairing of ops between batch sizes.
#include "core/workload/align.h"
#include "real_runs.h"

#include <QTest>
#include <map>
#include <random>
#include <set>

using namespace kerf;
using namespace kerf::workload;

namespace {

Op op(OpRole role, const std::string& kernel = "k") {
    Op result;
    result.role = role;
    result.kernel = kernel;
    return result;
}

Stage stageOf(const std::vector<OpRole>& roles, Fold fold = {}) {
    Stage stage;
    for (const OpRole role : roles) {
        stage.ops.push_back(op(role));
    }
    stage.fold = fold.count == 0 ? Fold{.prefix = roles.size()} : fold;
    return stage;
}

/// All rising pairings of equal roles, tried one by one: the most anchors that can be paired.
std::size_t mostAnchorPairs(const std::vector<Op>& a, const std::vector<Op>& b, std::size_t i = 0,
                            std::size_t j = 0) {
    if (i == a.size() || j == b.size()) {
        return 0;
    }
    std::size_t best = std::max(mostAnchorPairs(a, b, i + 1, j), mostAnchorPairs(a, b, i, j + 1));
    if (a[i].role == b[j].role) {
        best =
            std::max(best, mostAnchorPairs(a, b, i + 1, j + 1) + (isAnchor(a[i].role) ? 1U : 0U));
    }
    return best;
}

} // namespace

class TestAlign : public QObject {
    Q_OBJECT

private slots:
    void keysCountAnchorsAndNameHelpersAfterThem();
    void keysStartAgainInEachSectionAndLayer();
    void extraHelpersAreLeftUnpaired();
    void productStandsForConvolution();
    void pairsTheMostAnchors();
    void keysAreUniqueWithinALayer_data() { test::addRealRuns(); }
    void keysAreUniqueWithinALayer();
    void anchorsInLayersAlignAtAllBatchSizes();
    void anchorsInLayersHaveTheSameKeysAtAllBatchSizes();
};

void TestAlign::keysCountAnchorsAndNameHelpersAfterThem() {
    using enum OpRole;
    const auto keys =
        opKeys(stageOf({Memset, Product, Residual, Residual, Product, Norm, Product}));
    const std::vector<std::string> expected{"prefix/+memset.1",
                                            "prefix/product.1",
                                            "prefix/product.1+residual.1",
                                            "prefix/product.1+residual.2",
                                            "prefix/product.2",
                                            "prefix/product.2+norm.1",
                                            "prefix/product.3"};
    QCOMPARE(keys, expected);
}

void TestAlign::keysStartAgainInEachSectionAndLayer() {
    using enum OpRole;
    const auto keys = opKeys(stageOf({Embedding, Norm, Product, Norm, Product, Product},
                                     {.prefix = 1, .period = 2, .count = 2, .suffix = 1}));
    const std::vector<std::string> expected{"prefix/embedding.1", "layer/+norm.1",
                                            "layer/product.1",    "layer/+norm.1",
                                            "layer/product.1",    "suffix/product.1"};
    QCOMPARE(keys, expected);
}

void TestAlign::extraHelpersAreLeftUnpaired() {
    using enum OpRole;
    const Stage a = stageOf({Norm, Product, Reduction, Residual});
    const Stage b = stageOf({Norm, Memset, Product, Residual});
    const OpPairs expected{{0, 0}, {1, 2}, {3, 3}};
    QCOMPARE(alignOps(a, b), expected);
}

void TestAlign::productStandsForConvolution() {
    using enum OpRole;
    const OpPairs expected{{0, 0}, {1, 1}};
    QCOMPARE(alignOps(stageOf({Convolution, Product}), stageOf({Convolution, Convolution})),
             expected);
}

void TestAlign::pairsTheMostAnchors() {
    const std::array<OpRole, 4> roles{OpRole::Product, OpRole::Attention, OpRole::Norm,
                                      OpRole::Embedding};
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<OpRole> a(1 + random() % 7);
        std::vector<OpRole> b(1 + random() % 7);
        for (auto* side : {&a, &b}) {
            for (OpRole& role : *side) {
                role = roles[random() % roles.size()];
            }
        }
        const Stage stageA = stageOf(a);
        const Stage stageB = stageOf(b);
        std::size_t anchors = 0;
        std::pair<std::size_t, std::size_t> last{0, 0};
        bool first = true;
        for (const auto& pair : alignOps(stageA, stageB)) {
            QVERIFY(stageA.ops[pair.first].role == stageB.ops[pair.second].role);
            QVERIFY(first || (pair.first > last.first && pair.second > last.second));
            anchors += isAnchor(stageA.ops[pair.first].role) ? 1 : 0;
            last = pair;
            first = false;
        }
        QCOMPARE(anchors, mostAnchorPairs(stageA.ops, stageB.ops));
    }
}

void TestAlign::keysAreUniqueWithinALayer() {
    QFETCH(int, run);
    for (const Stage& stage : test::load(test::realRuns()[static_cast<std::size_t>(run)]).stages) {
        const auto keys = opKeys(stage);
        std::set<std::pair<std::size_t, std::string>> seen;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            QVERIFY(seen.emplace(foldPosition(stage.fold, i).layer, keys[i]).second);
        }
    }
}

void TestAlign::anchorsInLayersAlignAtAllBatchSizes() {
    std::map<std::string, Workload> first; // of each model
    for (const auto& run : test::realRuns()) {
        const Workload workload = test::load(run);
        const auto [other, fresh] = first.try_emplace(run.model, workload);
        for (std::size_t s = 0; s < workload.stages.size(); ++s) {
            const Stage& a = other->second.stages[s];
            const Stage& b = workload.stages[s];
            QCOMPARE(a.name, b.name);
            std::map<std::size_t, std::size_t> partner;
            for (const auto& [i, j] : alignOps(a, b)) {
                partner.emplace(j, i);
            }
            for (std::size_t j = b.fold.prefix; j < b.ops.size() - b.fold.suffix; ++j) {
                if (isAnchor(b.ops[j].role)) {
                    QVERIFY2(partner.count(j) == 1, run.name.c_str());
                    QCOMPARE(foldPosition(a.fold, partner[j]).layer, foldPosition(b.fold, j).layer);
                }
            }
        }
    }
}

void TestAlign::anchorsInLayersHaveTheSameKeysAtAllBatchSizes() {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> first;
    for (const auto& run : test::realRuns()) {
        for (const Stage& stage : test::load(run).stages) {
            const auto keys = opKeys(stage);
            std::vector<std::string> anchors;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (isAnchor(stage.ops[i].role) &&
                    foldPosition(stage.fold, i).section == Section::Layer) {
                    anchors.push_back(keys[i]);
                }
            }
            QCOMPARE(anchors, first.try_emplace({run.model, stage.name}, anchors).first->second);
        }
    }
}

QTEST_APPLESS_MAIN(TestAlign)
#include "tst_align.moc"

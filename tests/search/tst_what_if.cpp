// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/project.h"
#include "core/search/transfer_cuts.h"
#include "core/search/what_if.h"

#include <QTest>
#include <tbb/global_control.h>

#include "search/toy_case.h"
#include "shared_data.h"

using namespace kerf;
using graph::Mode;
using workload::OpRole;

namespace {

search::WhatIf whatIfOf(const search::Case& theCase, const graph::Composition& composition,
                        const std::vector<graph::Composition>& candidates = {}) {
    Progress progress;
    return search::whatIf(theCase, composition, candidates, progress).value();
}

const search::WhatIfRow& rowOf(const search::WhatIf& whatIf, const std::string& name) {
    const auto found = std::find_if(whatIf.rows.begin(), whatIf.rows.end(),
                                    [&](const auto& row) { return row.name.starts_with(name); });
    if (found == whatIf.rows.end()) {
        qFatal("no row is called %s", name.c_str());
    }
    return *found;
}

/// Cut before every site of `keys`, megakernels throughout.
graph::Composition cutAt(const graph::Chain& chain, const std::vector<std::string>& keys) {
    auto composition = graph::monolith();
    for (const auto& key : keys) {
        composition.cuts[test::siteOf(chain, key)] = Mode::Megakernel;
    }
    return composition;
}

} // namespace

class TestWhatIf : public QObject {
    Q_OBJECT
private slots:
    void launchGapAndPrologueCountOnceALaunch();
    void aChangeEqualsAPredictionOnTheChangedCase();
    void betterConstantsAreNeverSlower_data();
    void betterConstantsAreNeverSlower();
    void conventionalPathsDependOnNoConstant();
    void everyFusingRuleOfThePathHasARow();
    void anUnfusedRuleEqualsAPredictionUnderThatRule();
    void benchmarksHoldUnderOtherRules_data();
    void benchmarksHoldUnderOtherRules();
    void cutsStayInFrontOfTheSameRecordedOp();
    void aLostCutIsNamed();
    void ordersAreThoseOfSinglePredictions();
    void changesThatSwapTheCandidatesAreMarked();
    void theSameBitsOnAnyNumberOfThreads();
    void cancelling();
    void aCompositionThatCannotRunIsAnError();
    void onARecordingNoGapIsNeverSlower();
};

void TestWhatIf::launchGapAndPrologueCountOnceALaunch() {
    const auto theCase = test::caseOf(test::speechLike());
    const auto composition = cutAt(theCase->chain, {"tail/start"}); // two launches
    const auto whatIf = whatIfOf(*theCase, composition);
    const auto& hardware = theCase->hardware;
    QVERIFY(std::abs(rowOf(whatIf, "launch gap 0").change_us + 2 * hardware.launch_gap_us.value) <
            1e-6);
    QVERIFY(std::abs(rowOf(whatIf, "prologue 0").change_us + 2 * hardware.prologue_us.value) <
            1e-6);
}

void TestWhatIf::aChangeEqualsAPredictionOnTheChangedCase() {
    const auto theCase = test::caseOf(test::speechLike());
    auto changed = std::make_shared<search::Case>(*theCase);
    changed->hardware.memory_gbps.value *= 1.1; // the chain, and so its bytes, stays
    search::Predictor predictor(changed);
    const double expected = predictor.predict(graph::monolith(), 0).value().ttfa_us;
    QCOMPARE(rowOf(whatIfOf(*theCase, graph::monolith()), "memory bandwidth + 10 %").predicted_us,
             expected);
}

void TestWhatIf::betterConstantsAreNeverSlower_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"event latencies × 0.5", "launch gap 0", "prologue 0", "dispatch 0",
                             "dependent latency 0", "L2 bandwidth + 50 %"}) {
        QTest::newRow(name) << name;
    }
}

void TestWhatIf::betterConstantsAreNeverSlower() {
    QFETCH(QString, name);
    const auto theCase = test::caseOf(test::speechLike());
    for (const auto& composition :
         {graph::monolith(), cutAt(theCase->chain, {"inner/enter", "inner/again"})}) {
        QVERIFY(rowOf(whatIfOf(*theCase, composition), name.toStdString()).change_us <= 0);
    }
}

void TestWhatIf::conventionalPathsDependOnNoConstant() {
    const auto whatIf = whatIfOf(*test::caseOf(test::speechLike()), graph::fullyConventional());
    QVERIFY(whatIf.rows.size() > 10);
    for (const auto& row : whatIf.rows) {
        QVERIFY2(std::abs(row.change_us) < 1e-6, row.name.c_str());
    }
}

void TestWhatIf::everyFusingRuleOfThePathHasARow() {
    const auto whatIf = whatIfOf(*test::caseOf(test::speechLike()), graph::monolith());
    std::vector<std::string> names;
    for (const auto& row : whatIf.rows) {
        if (row.group == "fusion rules") {
            names.push_back(row.name);
        }
    }
    // The stages hold norms (prologue) and residuals (epilogue); the rest are anchors.
    QCOMPARE(names, (std::vector<std::string>{"norm as tiles of its own, not a prologue",
                                              "residual as tiles of its own, not an epilogue"}));
}

void TestWhatIf::anUnfusedRuleEqualsAPredictionUnderThatRule() {
    const auto theCase = test::caseOf(test::speechLike());
    auto rules = graph::defaultFusionRules();
    for (auto& rule : rules) {
        if (rule.role == OpRole::Norm) {
            rule.fusion = graph::Fusion::Anchor;
            rule.compute_factor = 1;
        }
    }
    auto changed = std::make_shared<search::Case>(*theCase);
    changed->chain = graph::buildChain(changed->corrected, changed->corrected, changed->tree, rules,
                                       changed->hardware)
                         .value();
    search::Predictor predictor(changed);
    const double expected = predictor.predict(graph::monolith(), 0).value().ttfa_us;
    const auto whatIf = whatIfOf(*theCase, graph::monolith());
    QCOMPARE(rowOf(whatIf, "norm as tiles").predicted_us, expected);
    QVERIFY(expected != whatIf.predicted_us);
}

void TestWhatIf::benchmarksHoldUnderOtherRules_data() {
    QTest::addColumn<bool>("tileHoldsTheNorm");
    QTest::newRow("in the tile") << true;
    QTest::newRow("beside it") << false;
}

void TestWhatIf::benchmarksHoldUnderOtherRules() {
    QFETCH(bool, tileHoldsTheNorm);
    const auto theCase = test::caseOf(test::speechLike());
    cost::BenchTable table;
    cost::BenchEntry entry;
    entry.key = "tail/suffix/product.1"; // a norm is fused into it
    if (!tileHoldsTheNorm) {
        entry.fused = std::vector<OpRole>{};
    }
    entry.footprint = {256, 128, 160 * 1024};
    entry.tiles = 132;
    entry.compute_us = 500;
    table.by_key[entry.key][1] = {entry, "by hand"};
    theCase->benchmarks = std::make_shared<const cost::BenchTable>(table);
    const auto build = [&](const graph::FusionRules& rules) {
        return graph::buildChain(theCase->corrected, theCase->corrected, theCase->tree, rules,
                                 theCase->hardware, {.benchmarks = theCase->benchmarks.get()})
            .value();
    };
    theCase->chain = build(graph::defaultFusionRules());
    const auto whatIf = whatIfOf(*theCase, graph::monolith());
    QVERIFY(whatIf.predicted_us > 500);
    const auto& norm = rowOf(whatIf, "norm as tiles");

    auto rules = graph::defaultFusionRules();
    for (auto& rule : rules) {
        rule.fusion = rule.role == OpRole::Norm ? graph::Fusion::Anchor : rule.fusion;
    }
    auto changed = std::make_shared<search::Case>(*theCase);
    changed->chain = build(rules);
    search::Predictor predictor(changed);
    QCOMPARE(norm.predicted_us, predictor.predict(graph::monolith(), 0).value().ttfa_us);
    QVERIFY(norm.predicted_us > 500);
    QCOMPARE(norm.notes.size(), std::size_t(tileHoldsTheNorm ? 1 : 0));
    QVERIFY(rowOf(whatIf, "residual as tiles").notes.empty());
}

void TestWhatIf::cutsStayInFrontOfTheSameRecordedOp() {
    const auto theCase = test::caseOf(test::speechLike());
    auto rules = graph::defaultFusionRules();
    for (auto& rule : rules) {
        rule.fusion = rule.role == OpRole::Norm ? graph::Fusion::Anchor : rule.fusion;
    }
    const auto unfused = graph::buildChain(theCase->corrected, theCase->corrected, theCase->tree,
                                           rules, theCase->hardware)
                             .value();
    // The suffix is norm, product, sample: its product's group begins with the norm.
    const auto composition =
        cutAt(theCase->chain, {"tail/start", "tail/before suffix/product.1", "tail/each layer"});
    std::vector<std::string> missing;
    const auto moved = search::transferCuts(theCase->chain, unfused, composition, missing);
    QVERIFY(missing.empty());
    QCOMPARE(moved, cutAt(unfused, {"tail/start", "tail/before suffix/norm.1", "tail/each layer"}));
}

void TestWhatIf::aLostCutIsNamed() {
    const auto theCase = test::caseOf(test::speechLike());
    auto rules = graph::defaultFusionRules();
    for (auto& rule : rules) { // the sample joins the product before it: no site between them
        rule.fusion = rule.role == OpRole::Sample ? graph::Fusion::Epilogue : rule.fusion;
    }
    const auto fused = graph::buildChain(theCase->corrected, theCase->corrected, theCase->tree,
                                         rules, theCase->hardware)
                           .value();
    std::vector<std::string> missing;
    const auto moved = search::transferCuts(
        theCase->chain, fused, cutAt(theCase->chain, {"tail/before suffix/sample.1"}), missing);
    QCOMPARE(missing, (std::vector<std::string>{"tail/before suffix/sample.1"}));
    QVERIFY(moved.cuts.empty());
}

void TestWhatIf::ordersAreThoseOfSinglePredictions() {
    const auto theCase = test::caseOf(test::speechLike());
    const std::vector<graph::Composition> candidates{graph::fullyConventional(), graph::monolith(),
                                                     cutAt(theCase->chain, {"tail/start"})};
    const auto whatIf = whatIfOf(*theCase, graph::monolith(), candidates);
    search::Predictor predictor(theCase);
    std::size_t best = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (predictor.predict(candidates[i], 0).value().ttfa_us <
            predictor.predict(candidates[best], 0).value().ttfa_us) {
            best = i;
        }
    }
    QCOMPARE(whatIf.best, best);
}

void TestWhatIf::changesThatSwapTheCandidatesAreMarked() {
    // With a launch gap as long as what the monolith loses beside the conventional path the two are
    // level; without it the monolith wins.
    const auto theCase = test::caseOf(test::speechLike());
    search::Predictor predictor(theCase);
    const double monolithUs = predictor.predict(graph::monolith(), 0).value().ttfa_us;
    const double conventionalUs = predictor.predict(graph::fullyConventional(), 0).value().ttfa_us;
    QVERIFY(monolithUs < conventionalUs);
    theCase->hardware.launch_gap_us.value += conventionalUs - monolithUs + 1; // now 1 µs slower
    const auto whatIf =
        whatIfOf(*theCase, graph::monolith(), {graph::fullyConventional(), graph::monolith()});
    QCOMPARE(whatIf.best, std::size_t{0});
    const auto& gap = rowOf(whatIf, "launch gap 0");
    QVERIFY(gap.order_changes && gap.best_changes);
    QCOMPARE(gap.best, std::size_t{1});
    QVERIFY(!rowOf(whatIf, "memory bandwidth − 10 %").order_changes);
}

void TestWhatIf::theSameBitsOnAnyNumberOfThreads() {
    const auto theCase = test::caseOf(test::speechLike());
    std::vector<search::WhatIf> results;
    for (const std::size_t threads : {1U, 2U, 8U}) {
        const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
        results.push_back(whatIfOf(*theCase, graph::monolith(), {graph::fullyConventional()}));
    }
    for (const auto& other : results) {
        for (std::size_t i = 0; i < other.rows.size(); ++i) {
            QCOMPARE(other.rows[i].name, results[0].rows[i].name);
            QVERIFY(other.rows[i].predicted_us == results[0].rows[i].predicted_us);
        }
    }
}

void TestWhatIf::cancelling() {
    Progress progress;
    progress.cancelled = true;
    const auto result =
        search::whatIf(*test::caseOf(test::speechLike()), graph::monolith(), {}, progress);
    QVERIFY(!result);
    QVERIFY(result.error().what.find("cancelled") != std::string::npos);
}

void TestWhatIf::aCompositionThatCannotRunIsAnError() {
    const auto theCase = test::caseOf(test::speechLike());
    theCase->hardware.shared_bytes_per_block_max = 1024; // the products need 160 KiB
    Progress progress;
    QVERIFY(!search::whatIf(*theCase, graph::monolith(), {}, progress));
}

void TestWhatIf::onARecordingNoGapIsNeverSlower() {
    auto sample =
        project::readProject(test::sourceDir() / "resources" / "sample" / "sample.kerf").value();
    std::erase_if(sample.recordings,
                  [](const auto& entry) { return entry.model != "llama-1b" || entry.batch != 1; });
    Progress progress;
    const auto cases = project::loadCases(sample, progress).value();
    const auto whatIf = whatIfOf(*cases.front(), graph::monolith(), {graph::fullyConventional()});
    for (const char* name : {"launch gap 0", "prologue 0", "drain 0"}) {
        QVERIFY(rowOf(whatIf, name).change_us < 0); // a monolith is launched once
    }
    for (const char* name : {"event latencies × 0.5", "dispatch 0", "dependent latency 0"}) {
        QVERIFY(rowOf(whatIf, name).change_us <= 0);
    }
    QVERIFY(rowOf(whatIf, "memory bandwidth − 10 %").change_us >= 0);
}

QTEST_APPLESS_MAIN(TestWhatIf)
#include "tst_what_if.moc"

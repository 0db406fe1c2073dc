// SPDX-License-Identifier: GPL-3.0-or-later
// Layout, regions and edits of the strip, without a widget. Expected values are worked out by hand.
#include "sample_case.h"
#include "views/composition_strip_edit.h"
#include "views/composition_strip_painter.h"

#include <QTest>
#include <numeric>

using namespace kerf;
using namespace kerf::views;
using graph::Composition;
using graph::Mode;
using test::siteOf;

namespace {

StripLayout layoutOf(const search::Case& theCase, double width = 1000) {
    std::vector<std::string> names;
    for (const auto& stage : theCase.traced.stages) {
        names.push_back(stage.name);
    }
    return layOut(theCase.chain, names, 0, width);
}

QStringList titles(const std::vector<StripRegion>& regions) {
    QStringList all;
    for (const StripRegion& region : regions) {
        all += titleOf(region);
    }
    return all;
}

} // namespace

class TestCompositionStripModel : public QObject {
    Q_OBJECT

private slots:
    void executionsMultiplyAlongNestedLoops() {
        const auto sample = test::sampleCase();
        const auto executions = executionsOf(sample->chain);
        const auto of = [&](const char* key) {
            for (std::size_t i = 0; i < sample->chain.ops.size(); ++i) {
                if (sample->chain.ops[i].key == key) {
                    return executions[i];
                }
            }
            return std::int64_t{-1};
        };
        QCOMPARE(of("prefill/embed"), 1);
        QCOMPARE(of("prefill/attn"), 28);
        QCOMPARE(of("talker_step/attn"), 4 * 28);
        QCOMPARE(of("code_predictor_step/attn"), 4 * 15 * 5);
        QCOMPARE(of("codec_chunk/conv 1"), 1);
    }

    void executionsLeaveOutWhatALoopEntersBehind() {
        // 3 × (a, b) entered at b: b a b a b.
        graph::Chain chain;
        chain.ops.resize(2);
        graph::Item loop;
        loop.kind = graph::Item::Kind::Loop;
        loop.count = 3;
        loop.entry = 1;
        loop.body.resize(2);
        loop.body[1].index = 1;
        chain.items = {loop};
        QCOMPARE(executionsOf(chain), (std::vector<std::int64_t>{2, 3}));
    }

    void everyBlockIsVisibleAndTheyFillTheStrip() {
        const auto sample = test::sampleCase();
        const StripLayout layout = layoutOf(*sample);
        QCOMPARE(layout.blocks.size(), sample->chain.ops.size());
        for (const StripBlock& block : layout.blocks) {
            QVERIFY(block.right - block.left >= 3);
        }
        QCOMPARE(layout.blocks.front().left, 0.0);
        QVERIFY(std::abs(layout.blocks.back().right - 1000) < 1e-6);
    }

    void blocksFitEvenWhereThereAreMoreThanPixels() {
        const StripLayout layout = layoutOf(*test::flatCase(2000), 300);
        QVERIFY(layout.blocks.front().right > layout.blocks.front().left);
        QVERIFY(layout.blocks.back().right <= 300.001);
    }

    void widthsGrowWithTheRootOfTheTime() {
        // Two ops of 10 µs and one of 90 µs: beyond the floors the third is √9 = 3 times as wide.
        auto theCase = *test::flatCase(3);
        theCase.chain.ops[2].conventional_us = 90;
        const StripLayout layout = layoutOf(theCase);
        const auto spare = [&](std::size_t i) {
            return layout.blocks[i].right - layout.blocks[i].left - 3;
        };
        QVERIFY(std::abs(spare(2) / spare(0) - 3) < 1e-9);
    }

    void sitesAscendAndEachIsNearestToItself() {
        const StripLayout layout = layoutOf(*test::sampleCase());
        for (std::size_t i = 0; i < layout.sites.size(); ++i) {
            QCOMPARE(nearestSite(layout, layout.sites[i].x), static_cast<int>(i));
            QCOMPARE(orderOf(layout, layout.sites[i].site), static_cast<int>(i));
            QVERIFY(i == 0 || layout.sites[i].x > layout.sites[i - 1].x);
        }
    }

    void backSitesAreOnLoopsOnly() {
        const auto sample = test::sampleCase();
        const StripLayout layout = layoutOf(*sample);
        QCOMPARE(orderOf(layout, siteOf(sample->chain, "talker_step/each layer")), -1);
        QCOMPARE(layout.sites.size() + 5, sample->chain.sites.size()); // five loops
        QCOMPARE(layout.loops.size(), std::size_t{5});
        QCOMPARE(layout.loop_rows, 2);
    }

    void regions_data() {
        QTest::addColumn<int>("which");
        QTest::addColumn<QStringList>("expected");
        QTest::newRow("conventional") << 0 << QStringList{"conventional"};
        QTest::newRow("monolith") << 1 << QStringList{"megakernel 1"};
        QTest::newRow("conventional, then two megakernels")
            << 2 << QStringList{"conventional", "megakernel 1", "megakernel 2"};
        QTest::newRow("a cut inside a fused loop goes on round it")
            << 3 << QStringList{"conventional", "↻ megakernel 1", "megakernel 1 ↻"};
        QTest::newRow("the same loop cut each iteration")
            << 4 << QStringList{"conventional", "conventional", "megakernel 1"};
    }
    void regions() {
        QFETCH(int, which);
        const auto sample = test::sampleCase();
        const graph::Chain& chain = sample->chain;
        const auto talker = siteOf(chain, "talker_step loop/enter");
        const auto predictor = siteOf(chain, "code_predictor_step/enter");
        const auto codec = siteOf(chain, "codec_chunk/start");
        const auto again = siteOf(chain, "talker_step loop/again");
        const Mode m = Mode::Megakernel;
        const Mode c = Mode::Conventional;
        const std::vector<Composition> compositions{
            graph::fullyConventional(),
            graph::monolith(),
            {c, {{talker, m}, {codec, m}}},
            {c, {{talker, c}, {predictor, m}}},
            {c, {{talker, c}, {again, c}, {predictor, m}}},
        };
        const auto regions =
            regionsOnStrip(chain, layoutOf(*sample), compositions[static_cast<std::size_t>(which)]);
        QTEST(titles(regions), "expected");
    }

    void switchingALoopsModeSwitchesItsFirstIterationToo() {
        const auto sample = test::sampleCase();
        const graph::Chain& chain = sample->chain;
        const auto talker = siteOf(chain, "talker_step loop/enter");
        const auto again = siteOf(chain, "talker_step loop/again");
        const Composition before{Mode::Conventional,
                                 {{talker, Mode::Conventional}, {again, Mode::Conventional}}};
        const auto regions = regionsOnStrip(chain, layoutOf(*sample), before);
        QCOMPARE(regions.back().start, again);
        const Composition after = withModeToggled(before, regions.back());
        QCOMPARE(after.cuts.at(talker), Mode::Megakernel);
        QCOMPARE(after.cuts.at(again), Mode::Megakernel);
        QCOMPARE(after.first_mode, Mode::Conventional);
    }

    void dragTargetStopsAtTheNeighbour_data() {
        QTest::addColumn<double>("x");
        QTest::addColumn<int>("expected");
        QTest::newRow("far left: first free site") << -500.0 << 0;
        QTest::newRow("far right: last site before the neighbour at 6") << 2000.0 << 5;
    }
    void dragTargetStopsAtTheNeighbour() {
        QFETCH(double, x);
        const auto flat = test::flatCase(11);
        const Composition composition{Mode::Megakernel,
                                      {{3, Mode::Megakernel}, {6, Mode::Conventional}}};
        QTEST(static_cast<int>(dragTarget(layoutOf(*flat), composition, 3, x)), "expected");
    }

    void movingACutKeepsItsMode() {
        const Composition before{Mode::Megakernel, {{3, Mode::Conventional}}};
        const Composition after{Mode::Megakernel, {{4, Mode::Conventional}}};
        QVERIFY(withCutMoved(before, 3, 4) == after);
    }

    void painterDrawsWhatTheModelHolds() {
        const auto sample = test::sampleCase();
        const StripLayout layout = layoutOf(*sample);
        const StripRows rows = rowsOf(layout, {1000, 170});
        StripState state;
        const auto codec = siteOf(sample->chain, "codec_chunk/start");
        state.composition = {Mode::Conventional, {{codec, Mode::Megakernel}}};
        const auto regions = regionsOnStrip(sample->chain, layout, state.composition);
        std::map<StripPrimitive::Kind, int> counts;
        for (const auto& p : fixedPrimitives(sample->chain, layout, rows, Theme::light())) {
            ++counts[p.kind];
        }
        bool hatchedFirst = false;
        for (const auto& p : movingPrimitives(layout, regions, rows, state, Theme::light())) {
            ++counts[p.kind];
            hatchedFirst |= p.kind == StripPrimitive::Kind::Region && p.index == 0 && p.hatched;
        }
        QCOMPARE(counts[StripPrimitive::Kind::Block], static_cast<int>(sample->chain.ops.size()));
        QCOMPARE(counts[StripPrimitive::Kind::StageName], 4);
        QCOMPARE(counts[StripPrimitive::Kind::Bracket], 5);
        QCOMPARE(counts[StripPrimitive::Kind::Region], 2);
        QCOMPARE(counts[StripPrimitive::Kind::Handle], 1);
        QVERIFY(hatchedFirst);
    }

    void loopLabelsNeverLeaveTheirBracket() {
        const auto sample = test::sampleCase();
        for (const double width : {200.0, 500.0, 1200.0}) {
            const StripLayout layout = layoutOf(*sample, width);
            const StripRows rows = rowsOf(layout, {width, 170});
            const auto regions = regionsOnStrip(sample->chain, layout, graph::monolith());
            for (const auto& p : movingPrimitives(layout, regions, rows, {}, Theme::light())) {
                if (p.kind == StripPrimitive::Kind::LoopLabel) {
                    const StripLoop& loop = layout.loops[static_cast<std::size_t>(p.index)];
                    QVERIFY(p.rect.left() >= loop.left - 1e-6);
                    QVERIFY(p.rect.right() <= loop.right + 1e-6);
                }
            }
        }
    }
};

QTEST_MAIN(TestCompositionStripModel)
#include "tst_composition_strip_model.moc"

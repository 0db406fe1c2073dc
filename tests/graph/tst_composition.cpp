// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/composition.h"
#include "tests/graph/random_chain.h"

#include <QTest>

using namespace kerf;
using graph::Composition;
using graph::Item;
using graph::Mode;

namespace {

constexpr Mode C = Mode::Conventional;
constexpr Mode M = Mode::Megakernel;

Item op(std::size_t index) {
    return {Item::Kind::Op, index, {}, 1, 0, graph::kPathStart, {}};
}
Item site(std::size_t index) {
    return {Item::Kind::Site, index, {}, 1, 0, graph::kPathStart, {}};
}

/// a 0 4 × (b 1 c) 2 d, with site 3 between two iterations
graph::Chain loopChain() {
    graph::Chain chain;
    chain.ops.resize(4);
    chain.sites.resize(4);
    chain.sites[0].key = "before loop";
    chain.sites[1].key = "inside";
    chain.sites[2].key = "behind loop";
    chain.items = {op(0),
                   site(0),
                   {Item::Kind::Loop, 0, {op(1), site(1), op(2)}, 4, 0, 3, "loop"},
                   site(2),
                   op(3)};
    return chain;
}

} // namespace

Q_DECLARE_METATYPE(kerf::graph::Composition)

class TestComposition : public QObject {
    Q_OBJECT

private slots:
    void kindFollowsModes_data();
    void kindFollowsModes();
    void regionsCountLaunches();
    void regionsOfRandomChainsCountTheWalk();
    void stretchWithoutOpsIsNoLaunch();
    void normalisedDropsWhatChangesNothing_data();
    void normalisedDropsWhatChangesNothing();
    void namesComeBackOnAnotherChain();
    void missingNamesAreListed();
};

void TestComposition::kindFollowsModes_data() {
    QTest::addColumn<Composition>("composition");
    QTest::addColumn<QString>("kind");
    QTest::newRow("nothing") << graph::fullyConventional() << "conventional";
    QTest::newRow("one megakernel") << graph::monolith() << "monolith";
    QTest::newRow("megakernels") << Composition{M, {{1, M}}} << "pure";
    QTest::newRow("conventional start") << Composition{C, {{1, M}}} << "mixed";
    QTest::newRow("conventional end") << Composition{M, {{1, C}}} << "mixed";
    QTest::newRow("cuts that change nothing") << Composition{C, {{1, C}}} << "conventional";
}

void TestComposition::kindFollowsModes() {
    QFETCH(Composition, composition);
    QFETCH(QString, kind);
    const std::string_view found = toString(kindOf(composition));
    QCOMPARE(QString::fromLatin1(found.data(), static_cast<int>(found.size())), kind);
}

void TestComposition::regionsCountLaunches() {
    // Walk: a b|c b|c b|c b|c d
    const auto uses = regionsOf(loopChain(), {C, {{1, M}}});
    QCOMPARE(uses.size(), std::size_t{3});
    const std::array expected{graph::RegionUse{{-1, 1}, C, 1}, graph::RegionUse{{1, 1}, M, 3},
                              graph::RegionUse{{1, 4}, M, 1}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        QVERIFY(uses[i].region == expected[i].region);
        QCOMPARE(uses[i].mode, expected[i].mode);
        QCOMPARE(uses[i].count, expected[i].count);
    }
}

void TestComposition::regionsOfRandomChainsCountTheWalk() {
    for (unsigned seed = 0; seed < 500; ++seed) {
        test::ChainMaker maker(seed);
        const graph::Chain chain = maker.make(10);
        Composition composition{maker.upTo(1) ? M : C, {}};
        for (std::size_t index = 0; index < chain.sites.size(); ++index) {
            if (maker.upTo(2) == 0) {
                composition.cuts[static_cast<int>(index)] = maker.upTo(1) ? M : C;
            }
        }
        std::vector<graph::RegionUse> expected;
        for (const test::Stretch& stretch : test::SlowWalk::stretches(chain, composition)) {
            const auto same = [&](const auto& use) { return use.region == stretch.region; };
            const auto known = std::find_if(expected.begin(), expected.end(), same);
            if (known != expected.end()) {
                ++known->count;
            } else if (!stretch.ops.empty()) {
                expected.push_back({stretch.region, stretch.mode, 1});
            }
        }
        const auto uses = regionsOf(chain, composition);
        QCOMPARE(uses.size(), expected.size());
        for (std::size_t i = 0; i < uses.size(); ++i) {
            QVERIFY(uses[i].region == expected[i].region);
            QCOMPARE(uses[i].mode, expected[i].mode);
            QCOMPARE(uses[i].count, expected[i].count);
        }
    }
}

void TestComposition::stretchWithoutOpsIsNoLaunch() {
    graph::Chain chain;
    chain.ops.resize(1);
    chain.sites.resize(1);
    chain.items = {site(0), op(0)};
    const auto uses = regionsOf(chain, {C, {{0, M}}});
    QCOMPARE(uses.size(), std::size_t{1});
    QCOMPARE(uses[0].mode, M);
}

void TestComposition::normalisedDropsWhatChangesNothing_data() {
    QTest::addColumn<Composition>("composition");
    QTest::addColumn<Composition>("expected");
    QTest::newRow("conventional beside conventional")
        << Composition{C, {{0, C}}} << graph::fullyConventional();
    QTest::newRow("all conventional, also around the loop")
        << Composition{C, {{0, C}, {1, C}, {2, C}}} << graph::fullyConventional();
    QTest::newRow("megakernels stay apart") << Composition{M, {{0, M}}} << Composition{M, {{0, M}}};
    QTest::newRow("first after a megakernel stays")
        << Composition{M, {{0, C}, {1, C}, {2, C}}} << Composition{M, {{0, C}}};
    QTest::newRow("conventional into the loop, megakernel inside")
        << Composition{C, {{0, C}, {1, M}, {2, C}}} << Composition{C, {{1, M}, {2, C}}};
    // a b|c|b|c|b|c|b|c d: the first cut lies between conventional regions, the same cut in later
    // iterations ends the megakernel b.
    QTest::newRow("cut that only later iterations need stays")
        << Composition{C, {{1, C}, {3, M}}} << Composition{C, {{1, C}, {3, M}}};
}

void TestComposition::normalisedDropsWhatChangesNothing() {
    QFETCH(Composition, composition);
    QFETCH(Composition, expected);
    QVERIFY(normalised(loopChain(), composition) == expected);
}

void TestComposition::namesComeBackOnAnotherChain() {
    const Composition composition{C, {{0, M}, {2, C}}};
    graph::Chain other = loopChain();
    std::swap(other.sites[0].key, other.sites[2].key);
    const Composition found = resolved(other, named(loopChain(), composition));
    const Composition expected{C, {{2, M}, {0, C}}};
    QVERIFY(found == expected);
}

void TestComposition::missingNamesAreListed() {
    std::vector<std::string> missing;
    const graph::NamedComposition wanted{M, {{"inside", C}, {"elsewhere", M}}, ""};
    const Composition found = resolved(loopChain(), wanted, &missing);
    const Composition expected{M, {{1, C}}};
    QVERIFY(found == expected);
    QVERIFY(missing == std::vector<std::string>{"elsewhere"});
}

QTEST_APPLESS_MAIN(TestComposition)
#include "tst_composition.moc"

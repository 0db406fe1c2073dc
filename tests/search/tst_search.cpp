// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/search.h"
#include "tests/graph/random_chain.h"

#include <QTest>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

using namespace kerf;
using graph::Composition;
using graph::Mode;
using search::Constraints;
using search::Scored;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How a case's region costs are drawn, from the region's ops and mode alone.
enum class Costs { Real, Whole, SomeImpossible };

double costOf(const std::vector<std::size_t>& ops, Mode mode, unsigned seed, Costs kind) {
    std::vector<unsigned> words(ops.begin(), ops.end());
    words.push_back(seed);
    words.push_back(mode == Mode::Megakernel ? 1000 : 2000);
    std::seed_seq sequence(words.begin(), words.end());
    std::mt19937 random(sequence);
    if (kind == Costs::Whole) {
        return static_cast<double>(1 + random() % 3); // many ties, and exact sums
    }
    if (kind == Costs::SomeImpossible && random() % 3 == 0) {
        return kInfinity;
    }
    return std::uniform_real_distribution<double>(1, 10)(random);
}

bool hasEmptyStretchBetweenCuts(const graph::Chain& chain,
                                const std::vector<test::Stretch>& stretches) {
    return std::any_of(stretches.begin(), stretches.end(), [&](const test::Stretch& s) {
        return s.ops.empty() && s.region.from != graph::kPathStart &&
               s.region.to != static_cast<int>(chain.sites.size());
    });
}

/// The rule of graph::normalised, slowly: no cut that only conventional regions end at.
bool isNormal(const graph::Chain& chain, const Composition& composition,
              const std::vector<test::Stretch>& stretches, const Constraints& constraints) {
    std::set<graph::SiteIndex> needed = constraints.pinned;
    std::set<graph::SiteIndex> separates;
    for (const test::Stretch& s : stretches) {
        if (s.mode == Mode::Megakernel && !s.ops.empty()) {
            needed.insert(s.region.to);
        }
    }
    for (const auto& [site, mode] : composition.cuts) {
        // A cut that is only passed at the path's ends is none.
        const auto before = [&, site = site](const test::Stretch& s) {
            return s.region.to == site && (s.region.from != graph::kPathStart || !s.ops.empty());
        };
        const auto behind = [&, site = site](const test::Stretch& s) {
            return s.region.from == site &&
                   (s.region.to != static_cast<int>(chain.sites.size()) || !s.ops.empty());
        };
        if (std::none_of(stretches.begin(), stretches.end(), before) ||
            std::none_of(stretches.begin(), stretches.end(), behind)) {
            return false;
        }
        if (mode == Mode::Conventional && !needed.contains(site)) {
            return false;
        }
    }
    const bool empty_start = stretches.front().ops.empty() && stretches.size() > 1;
    return !empty_start || stretches[1].mode == composition.first_mode;
}

/// Order of search.h: cost, fewer cuts, the earlier site, conventional first.
bool before(const Scored& a, const Scored& b) {
    const auto sites = [](const Scored& s) {
        std::vector<graph::SiteIndex> result;
        for (const auto& cut : s.composition.cuts) {
            result.push_back(cut.first);
        }
        return result;
    };
    const auto modes = [](const Scored& s) {
        std::vector<Mode> result{s.composition.first_mode};
        for (const auto& cut : s.composition.cuts) {
            result.push_back(cut.second);
        }
        return result;
    };
    return std::tuple(a.cost_us, a.composition.cuts.size(), sites(a), modes(a)) <
           std::tuple(b.cost_us, b.composition.cuts.size(), sites(b), modes(b));
}

/// All compositions that `constraints` allow, by trying every set of cuts and modes.
std::vector<Scored> bruteForce(const graph::Chain& chain, unsigned seed, Costs kind,
                               const Constraints& constraints) {
    std::vector<Scored> all;
    std::size_t combinations = 2; // each site: no cut, conventional, megakernel
    for (std::size_t i = 0; i < chain.sites.size(); ++i) {
        combinations *= 3;
    }
    std::map<std::pair<std::vector<std::size_t>, Mode>, double> known;
    for (std::size_t code = 0; code < combinations; ++code) {
        Composition composition;
        composition.first_mode = code % 2 ? Mode::Megakernel : Mode::Conventional;
        bool allowed = true;
        std::size_t rest = code / 2;
        for (int site = 0; site < static_cast<int>(chain.sites.size()); ++site, rest /= 3) {
            if (rest % 3 > 0) {
                composition.cuts[site] = rest % 3 == 1 ? Mode::Conventional : Mode::Megakernel;
                allowed = allowed && !constraints.forbidden.contains(site);
            } else {
                allowed = allowed && !constraints.pinned.contains(site);
            }
        }
        if (!allowed || (!constraints.allow_mixed && kindOf(composition) == graph::Kind::Mixed)) {
            continue;
        }
        const auto stretches = test::SlowWalk::stretches(chain, composition);
        if (hasEmptyStretchBetweenCuts(chain, stretches) ||
            !isNormal(chain, composition, stretches, constraints)) {
            continue;
        }
        double cost_us = 0;
        std::set<graph::Region> megakernels;
        for (const test::Stretch& s : stretches) {
            if (s.ops.empty()) {
                continue;
            }
            const auto [entry, is_new] = known.try_emplace({s.ops, s.mode}, 0.0);
            if (is_new) {
                entry->second = costOf(s.ops, s.mode, seed, kind);
            }
            cost_us += entry->second;
            if (s.mode == Mode::Megakernel) {
                megakernels.insert(s.region);
            }
        }
        const bool few =
            constraints.max_megakernels == 0 ||
            megakernels.size() <= static_cast<std::size_t>(constraints.max_megakernels);
        if (few && std::isfinite(cost_us)) {
            all.push_back({composition, cost_us});
        }
    }
    std::sort(all.begin(), all.end(), before);
    return all;
}

/// Only pins that separate something: others are cut by the path's ends already.
void dropTrivialPins(const graph::Chain& chain, Constraints& constraints) {
    std::erase_if(constraints.pinned, [&](graph::SiteIndex site) {
        const auto stretches =
            test::SlowWalk::stretches(chain, {Mode::Megakernel, {{site, Mode::Megakernel}}});
        return !isNormal(chain, {Mode::Megakernel, {{site, Mode::Megakernel}}}, stretches, {});
    });
}

Constraints randomConstraints(test::ChainMaker& maker, const graph::Chain& chain) {
    Constraints constraints;
    constraints.allow_mixed = maker.upTo(2) > 0;
    constraints.max_megakernels = maker.upTo(1) == 0 ? static_cast<int>(1 + maker.upTo(3)) : 0;
    for (int site = 0; site < static_cast<int>(chain.sites.size()); ++site) {
        const std::size_t draw = maker.upTo(7);
        if (draw == 0) {
            constraints.forbidden.insert(site);
        } else if (draw == 1) {
            constraints.pinned.insert(site);
        }
    }
    return constraints;
}

search::RegionCost regionCost(const graph::Chain& chain, unsigned seed, Costs kind) {
    return [&chain, seed, kind](graph::Region region, Mode mode) {
        std::vector<std::size_t> ops;
        test::expand(opsOf(chain, region), ops);
        return costOf(ops, mode, seed, kind);
    };
}

std::string text(const Scored& scored) {
    std::string result = fmt::format("{:.6f} {}", scored.cost_us,
                                     scored.composition.first_mode == Mode::Megakernel ? "M" : "C");
    for (const auto& [site, mode] : scored.composition.cuts) {
        result += fmt::format(" {}{}", site, mode == Mode::Megakernel ? "M" : "C");
    }
    return result;
}

/// A row of `count` ops with a site between each two.
graph::Chain row(std::size_t count) {
    graph::Chain chain;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) {
            chain.sites.push_back(
                {fmt::format("key {}", i - 1), fmt::format("label {}", i - 1), i - 1, i, 1});
            chain.items.push_back(
                {graph::Item::Kind::Site, i - 1, {}, 1, 0, graph::kPathStart, {}});
        }
        chain.ops.emplace_back();
        chain.items.push_back({graph::Item::Kind::Op, i, {}, 1, 0, graph::kPathStart, {}});
    }
    return chain;
}

} // namespace

class TestSearch : public QObject {
    Q_OBJECT

private slots:
    void agreesWithBruteForce_data();
    void agreesWithBruteForce();
    void bestByMegakernelsAgreesWithBruteForce();
    void additiveCostIsTheSumOverTheWalk();
    void eachRegionIsAskedOnce();
    void contradictionIsRefused_data();
    void contradictionIsRefused();
    void notANumberIsRefused();
    void nothingThatCanRunIsAnError();
    void cancelledSearchSaysSo();
    void pinThatContradictsMegakernelCostStaysConventional();
};

void TestSearch::agreesWithBruteForce_data() {
    QTest::addColumn<int>("costs");
    QTest::addColumn<bool>("constrained");
    QTest::addColumn<int>("cases");
    QTest::newRow("real costs") << int(Costs::Real) << false << 400;
    QTest::newRow("whole costs: ties") << int(Costs::Whole) << false << 250;
    QTest::newRow("some regions impossible") << int(Costs::SomeImpossible) << false << 150;
    QTest::newRow("constraints") << int(Costs::Real) << true << 400;
    QTest::newRow("constraints, ties") << int(Costs::Whole) << true << 250;
    QTest::newRow("constraints, some impossible") << int(Costs::SomeImpossible) << true << 150;
}

void TestSearch::agreesWithBruteForce() {
    QFETCH(int, costs);
    QFETCH(bool, constrained);
    QFETCH(int, cases);
    const auto kind = static_cast<Costs>(costs);
    for (unsigned seed = 0; seed < static_cast<unsigned>(cases); ++seed) {
        test::ChainMaker maker(seed);
        // Eight sites only now and then: brute force tries 2 · 3^sites.
        const graph::Chain chain = maker.make(seed % 40 == 0 ? 8 : 5);
        Constraints constraints;
        if (constrained) {
            constraints = randomConstraints(maker, chain);
            dropTrivialPins(chain, constraints);
        }
        const std::size_t top = 1 + maker.upTo(20);
        std::vector<Scored> expected = bruteForce(chain, seed, kind, constraints);
        expected.resize(std::min(expected.size(), top));
        Progress progress;
        const auto found = search::bestCompositions(chain, regionCost(chain, seed, kind),
                                                    constraints, top, progress);
        const auto where = QString("case %1").arg(seed).toUtf8();
        if (expected.empty()) {
            QVERIFY2(!found, where);
            continue;
        }
        QVERIFY2(found, where);
        QVERIFY2(found->size() == expected.size(), where);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const bool same_cost =
                std::abs((*found)[i].cost_us - expected[i].cost_us) <= 1e-9 * expected[i].cost_us;
            const bool same = (*found)[i].composition == expected[i].composition;
            QVERIFY2(same_cost && same, fmt::format("case {}, rank {}: found {}, expected {}", seed,
                                                    i, text((*found)[i]), text(expected[i]))
                                            .c_str());
        }
    }
}

void TestSearch::bestByMegakernelsAgreesWithBruteForce() {
    std::size_t compared = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        test::ChainMaker maker(seed);
        const graph::Chain chain = maker.make(5);
        const auto kind = static_cast<Costs>(seed % 3);
        Constraints constraints;
        constraints.allow_mixed = seed % 4 > 0;
        std::vector<Scored> expected;
        for (constraints.max_megakernels = 1; constraints.max_megakernels <= 4;
             ++constraints.max_megakernels) {
            std::vector<Scored> all = bruteForce(chain, seed, kind, constraints);
            if (!constraints.allow_mixed) {
                std::erase_if(all, [](const Scored& scored) {
                    return kindOf(scored.composition) == graph::Kind::Conventional;
                });
            }
            if (!all.empty() &&
                (expected.empty() || all[0].composition != expected.back().composition)) {
                expected.push_back(all[0]);
            }
        }
        constraints.max_megakernels = 4;
        Progress progress;
        const auto found =
            search::bestByMegakernels(chain, regionCost(chain, seed, kind), constraints, progress);
        QVERIFY(found);
        QCOMPARE(found->size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i, ++compared) {
            QVERIFY2((*found)[i].composition == expected[i].composition,
                     fmt::format("case {}: found {}, expected {}", seed, text((*found)[i]),
                                 text(expected[i]))
                         .c_str());
        }
    }
    QVERIFY(compared > 150); // more than one entry a case, somewhere
}

void TestSearch::additiveCostIsTheSumOverTheWalk() {
    const graph::Chain chain = row(3);
    // Regions a, b·c: 2 µs and 5 µs.
    const auto cost = [](graph::Region region, Mode) { return region.from < 0 ? 2.0 : 5.0; };
    QCOMPARE(search::additiveCostUs(chain, {Mode::Megakernel, {{0, Mode::Megakernel}}}, cost), 7.0);
}

void TestSearch::eachRegionIsAskedOnce() {
    const graph::Chain chain = row(5);
    std::mutex mutex;
    std::map<std::pair<graph::Region, Mode>, int> asked;
    const auto cost = [&](graph::Region region, Mode mode) {
        const std::lock_guard lock(mutex);
        ++asked[{region, mode}];
        return 1.0;
    };
    Progress progress;
    QVERIFY(search::bestCompositions(chain, cost, {}, 4, progress));
    QCOMPARE(asked.size(), std::size_t{2 * 15}); // 5 · 6 / 2 stretches of a row of 5, two modes
    for (const auto& entry : asked) {
        QCOMPARE(entry.second, 1);
    }
}

void TestSearch::contradictionIsRefused_data() {
    QTest::addColumn<int>("forbidden");
    QTest::addColumn<int>("pinned");
    QTest::addColumn<QString>("named");
    QTest::newRow("both forbidden and pinned") << 1 << 1 << "label 1";
    QTest::newRow("forbidden site that does not exist") << 7 << 0 << "7";
    QTest::newRow("pinned site that does not exist") << 0 << -1 << "-1";
}

void TestSearch::contradictionIsRefused() {
    QFETCH(int, forbidden);
    QFETCH(int, pinned);
    QFETCH(QString, named);
    const graph::Chain chain = row(3);
    Constraints constraints;
    constraints.forbidden = {forbidden};
    constraints.pinned = {pinned};
    Progress progress;
    const auto found = search::bestCompositions(
        chain, [](graph::Region, Mode) { return 1.0; }, constraints, 1, progress);
    QVERIFY(!found);
    QVERIFY(QString::fromStdString(found.error().what).contains(named));
}

void TestSearch::notANumberIsRefused() {
    const graph::Chain chain = row(2);
    Progress progress;
    const auto found = search::bestCompositions(
        chain, [](graph::Region, Mode) { return std::nan(""); }, {}, 1, progress);
    QVERIFY(!found);
}

void TestSearch::nothingThatCanRunIsAnError() {
    const graph::Chain chain = row(2);
    Progress progress;
    const auto found = search::bestCompositions(
        chain, [](graph::Region, Mode) { return kInfinity; }, {}, 1, progress);
    QVERIFY(!found);
}

void TestSearch::cancelledSearchSaysSo() {
    const graph::Chain chain = row(4);
    Progress progress;
    progress.cancelled = true;
    const auto found = search::bestCompositions(
        chain, [](graph::Region, Mode) { return 1.0; }, {}, 1, progress);
    QVERIFY(!found);
    QCOMPARE(found.error().what, std::string("cancelled"));
}

void TestSearch::pinThatContradictsMegakernelCostStaysConventional() {
    const graph::Chain chain = row(2);
    Constraints constraints;
    constraints.pinned = {0};
    Progress progress;
    const auto found = search::bestCompositions(
        chain, [](graph::Region, Mode mode) { return mode == Mode::Megakernel ? 9.0 : 1.0; },
        constraints, 1, progress);
    QVERIFY(found);
    const Composition expected{Mode::Conventional, {{0, Mode::Conventional}}};
    QVERIFY(found->front().composition == expected);
}

QTEST_APPLESS_MAIN(TestSearch)
#include "tst_search.moc"

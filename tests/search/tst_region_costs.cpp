// SPDX-License-Identifier: GPL-3.0-or-later
// Regions that share a run cost what each costs alone: on the chains of the sample project.
#include "core/search/region_costs.h"

#include "core/project/project.h"
#include "core/search/search.h"

#include <QTest>

using namespace kerf;

class TestRegionCosts : public QObject {
    Q_OBJECT
private slots:
    void sharedRunsGiveTheCostsOfLoneOnes();
    void aCancelledPreparationEnds();
};

namespace {

std::vector<std::shared_ptr<const search::Case>> sample() {
    Progress progress;
    const auto project = project::readProject(KERF_SOURCE_DIR "/resources/sample/sample.kerf");
    return project::loadCases(project.value(), progress).value();
}

constexpr std::size_t kMostEntries = 200'000;

} // namespace

void TestRegionCosts::sharedRunsGiveTheCostsOfLoneOnes() {
    constexpr std::size_t kEvery = 5; // regions, so that the lone runs do not take too long
    std::size_t compared = 0;
    for (const auto& theCase : sample()) {
        const auto regions = search::usableRegions(theCase->chain, {}).value();
        search::RegionCosts shared(theCase->chain, *theCase, kMostEntries);
        Progress progress;
        shared.prepare(regions, progress);
        QCOMPARE(shared.stats().entries, regions.size());
        QCOMPARE(shared.stats().misses, static_cast<std::uint64_t>(regions.size()));
        search::RegionCosts lone(theCase->chain, *theCase, kMostEntries);
        for (std::size_t i = 0; i < regions.size(); i += kEvery, ++compared) {
            const auto expected = lone.of(regions[i], graph::Mode::Megakernel);
            const auto found = shared.of(regions[i], graph::Mode::Megakernel);
            QCOMPARE(found.has_value(), expected.has_value());
            if (expected) {
                QCOMPARE(found->us, expected->us);
                QVERIFY(found->us == expected->us); // QCOMPARE allows for rounding
                QVERIFY(found->blame == expected->blame);
                QVERIFY(found->parts == expected->parts);
                QCOMPARE(found->workers, expected->workers);
            }
        }
        QCOMPARE(shared.stats().misses, static_cast<std::uint64_t>(regions.size())); // all known
    }
    QVERIFY(compared > 1000);
}

void TestRegionCosts::aCancelledPreparationEnds() {
    const auto theCase = sample().front();
    search::RegionCosts costs(theCase->chain, *theCase, kMostEntries);
    Progress progress;
    progress.cancelled = true;
    costs.prepare(search::usableRegions(theCase->chain, {}).value(), progress);
    QCOMPARE(costs.stats().entries, std::size_t{0});
}

QTEST_APPLESS_MAIN(TestRegionCosts)
#include "tst_region_costs.moc"

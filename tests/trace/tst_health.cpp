// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/health.h"

#include <QTest>
#include <algorithm>
#include <random>

using namespace kerf::trace;

namespace {

Activity kernel(std::int64_t start_ns, std::int64_t duration_ns, std::int64_t stream = 7,
                std::int32_t device = 0) {
    return {.start_ns = start_ns, .duration_ns = duration_ns, .device = device, .stream = stream};
}

/// The definition, pair by pair.
std::int64_t overlapsByDefinition(const std::vector<Activity>& activities) {
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < activities.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const Activity& a = activities[i];
            const Activity& b = activities[j];
            const bool same_lane = a.kind == ActivityKind::Kernel &&
                                   b.kind == ActivityKind::Kernel && a.process == b.process &&
                                   a.device == b.device && a.stream == b.stream;
            pairs +=
                same_lane && std::max(a.start_ns, b.start_ns) <
                                 std::min(a.start_ns + a.duration_ns, b.start_ns + b.duration_ns);
        }
    }
    return pairs;
}

} // namespace

class TestHealth : public QObject {
    Q_OBJECT

private slots:
    void kernelsThatTouchDoNotOverlap();
    void kernelsOfOtherStreamsAndDevicesDoNotOverlap();
    void eachPairCountsOnce();
    void overlapsAgreeWithTheDefinition();
    void hostCallsOfAnotherProcessDoNotCount();
    void graphLaunchesAreKnownByName_data();
    void graphLaunchesAreKnownByName();
    void cleanHealthSaysSo();
    void findingsAreSentences();
};

void TestHealth::kernelsThatTouchDoNotOverlap() {
    QCOMPARE(sameStreamOverlaps(std::vector{kernel(0, 10), kernel(10, 5), kernel(12, 0)}), 0);
}

void TestHealth::kernelsOfOtherStreamsAndDevicesDoNotOverlap() {
    QCOMPARE(sameStreamOverlaps(std::vector{kernel(0, 10), kernel(0, 10, 8), kernel(0, 10, 7, 1)}),
             0);
}

void TestHealth::eachPairCountsOnce() {
    QCOMPARE(sameStreamOverlaps(std::vector{kernel(0, 10), kernel(2, 10), kernel(9, 1)}), 3);
}

void TestHealth::overlapsAgreeWithTheDefinition() {
    std::mt19937 random(1);
    const auto below = [&random](unsigned limit) { return static_cast<int>(random() % limit); };
    for (int round = 0; round < 300; ++round) {
        std::vector<Activity> activities;
        for (int i = below(60); i > 0; --i) {
            activities.push_back(kernel(below(100), below(12), below(3), below(2)));
            activities.back().kind = below(8) == 0 ? ActivityKind::Memset : ActivityKind::Kernel;
            activities.back().process = below(2);
        }
        QCOMPARE(sameStreamOverlaps(activities), overlapsByDefinition(activities));
    }
}

void TestHealth::hostCallsOfAnotherProcessDoNotCount() {
    Recording recording;
    recording.api_calls = {{.correlation = 5, .process = 1}, {.correlation = 6, .process = 2}};
    for (const auto& [correlation, process] : {std::pair{5, 1}, {5, 2}, {5, -1}, {7, -1}}) {
        Activity activity = kernel(0, 1);
        activity.correlation = static_cast<std::uint64_t>(correlation);
        activity.process = process;
        recording.activities.push_back(activity);
    }
    QCOMPARE(withoutHostCall(recording), (std::vector<bool>{false, true, false, true}));
}

void TestHealth::graphLaunchesAreKnownByName_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("expected");
    QTest::newRow("CUDA runtime") << "cudaGraphLaunch" << true;
    QTest::newRow("CUDA driver") << "cuGraphLaunch" << true;
    QTest::newRow("HIP") << "hipGraphLaunch" << true;
    QTest::newRow("version suffix") << "cudaGraphLaunch_v10000" << true;
    QTest::newRow("kernel launch") << "cudaLaunchKernel" << false;
    QTest::newRow("longer name") << "cudaGraphLaunchSomething" << false;
    QTest::newRow("instantiation") << "cudaGraphInstantiate" << false;
}

void TestHealth::graphLaunchesAreKnownByName() {
    QFETCH(QString, name);
    QFETCH(bool, expected);
    QCOMPARE(isGraphLaunch(name.toStdString()), expected);
}

void TestHealth::cleanHealthSaysSo() {
    QVERIFY(isClean(Health{}));
    QCOMPARE(describe(Health{}).size(), std::size_t{1});
}

void TestHealth::findingsAreSentences() {
    const Health health{
        .negative_durations = 1, .same_stream_overlaps = 2, .truncated = true, .notes = {"Odd."}};
    QVERIFY(!isClean(health));
    const std::vector<std::string> expected{
        "The file ends early: what follows its end is missing.",
        "1 GPU activity has a negative duration and is left out.",
        "2 pairs of kernels overlap on one stream.",
        "Odd.",
    };
    QCOMPARE(describe(health), expected);
}

QTEST_APPLESS_MAIN(TestHealth)
#include "tst_health.moc"

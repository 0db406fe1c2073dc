// SPDX-License-Identifier: GPL-3.0-or-later
// Branches: what waits for what, told from times; the longest path. Every case is worked by hand.
#include "core/workload/branches.h"
#include "core/workload/replay.h"

#include "recording_maker.h"

#include <QTest>
#include <algorithm>

using namespace kerf::workload;
using kerf::test::RecordingMaker;

namespace {

/// A kernel of one execution, µs from its start.
struct Ran {
    std::string kernel;
    std::int64_t stream = 0;
    std::int64_t start_us = 0;
    std::int64_t end_us = 0;
};
using Execution = std::vector<Ran>;

/// A recording of one stage; executions 1 ms apart.
Stage stageOf(const std::vector<Execution>& executions) {
    RecordingMaker maker;
    std::int64_t begin_ns = 1'000'000;
    for (const Execution& execution : executions) {
        maker.call("cudaGraphLaunch");
        for (const Ran& ran : execution) {
            maker.run(ran.kernel, maker.correlation);
            auto& activity = maker.recording.activities.back();
            activity.stream = ran.stream;
            activity.start_ns = begin_ns + 1000 * ran.start_us;
            activity.duration_ns = 1000 * (ran.end_us - ran.start_us);
        }
        begin_ns += 1'000'000;
    }
    std::stable_sort(maker.recording.activities.begin(), maker.recording.activities.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    return buildWorkload(maker.recording, "m", 1).value().stages.at(0);
}

/// "a b<a c<a d<b,c": each op and what it waits for, in the stage's order.
std::string text(const Stage& stage) {
    std::string text;
    for (std::size_t i = 0; i < stage.ops.size(); ++i) {
        text += (i == 0 ? "" : " ") + stage.ops[i].kernel;
        auto followedOps = followed(stage, i);
        std::sort(followedOps.begin(), followedOps.end());
        for (std::size_t k = 0; k < followedOps.size(); ++k) {
            text += (k == 0 ? "<" : ",") + stage.ops[followedOps[k]].kernel;
        }
    }
    return text;
}

const Op& opOf(const Stage& stage, const std::string& kernel) {
    return *std::find_if(stage.ops.begin(), stage.ops.end(),
                         [&](const Op& op) { return op.kernel == kernel; });
}

/// a, then b and c beside d, then e: b–c take 10 µs with their gaps, d 6.
const Execution kForkJoin{
    {"a", 7, 0, 4}, {"b", 7, 5, 9}, {"d", 8, 6, 12}, {"c", 7, 10, 15}, {"e", 7, 17, 19}};

Op op(double duration_us, double gap_us, std::vector<std::uint32_t> follows) {
    Op made;
    made.duration_us = duration_us;
    made.gap_us = gap_us;
    made.follows = std::move(follows);
    return made;
}

Stage handMade(std::vector<Op> ops) {
    Stage stage;
    stage.ops = std::move(ops);
    return stage;
}

std::string onLongestPath(const Stage& stage) {
    std::string marks;
    for (const Replayed& one : replayOps(stage)) {
        marks += one.longest ? 'x' : '.';
    }
    return marks;
}

std::string placesOf(const Stage& stage) {
    std::vector<std::vector<std::uint32_t>> follows;
    for (const Op& one : stage.ops) {
        follows.push_back(one.follows);
    }
    std::string places;
    for (const bool separates : separators(follows)) {
        places += separates ? '|' : '.';
    }
    return places;
}

} // namespace

class TestBranches : public QObject {
    Q_OBJECT
private slots:
    void whatWaitsForWhat_data();
    void whatWaitsForWhat();
    void gapsCountFromWhatAnOpWaitsFor();
    void aRecordedForkAndJoinIsReplayedAsRecorded();
    void streamsThatRaceAreOneStage();
    void renumberedStreamsAreOneStage();
    void anOrderHoldsOnlyWhereEveryExecutionShowsIt();
    void layersWhoseBranchesRaceFoldAllTheSame();
    void replayIsTheLongestPath_data();
    void replayIsTheLongestPath();
    void separatorsStandWhereOneOpHoldsEverything_data();
    void separatorsStandWhereOneOpHoldsEverything();
    void branchesAreCounted_data();
    void branchesAreCounted();
    void correctionComesOffAlongTheLongestPath();
};

void TestBranches::whatWaitsForWhat_data() {
    QTest::addColumn<Execution>("execution");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const Execution& execution, const char* expected) {
        QTest::newRow(name) << execution << QString(expected);
    };
    row("one stream", {{"a", 7, 0, 2}, {"b", 7, 3, 5}, {"c", 7, 6, 7}}, "a b<a c<b");
    row("two streams in turn", {{"a", 7, 0, 2}, {"b", 8, 3, 5}, {"c", 7, 6, 7}}, "a b<a c<b");
    row("fork and join", kForkJoin, "a b<a c<b d<a e<c,d");
    row("uneven: the short branch ends early",
        {{"a", 7, 0, 4}, {"b", 7, 5, 25}, {"c", 8, 6, 8}, {"d", 7, 26, 30}}, "a b<a c<a d<b,c");
    row("three streams",
        {{"a", 7, 0, 4}, {"b", 7, 5, 11}, {"c", 8, 5, 14}, {"d", 9, 6, 9}, {"e", 7, 15, 16}},
        "a b<a c<a d<a e<b,c,d");
    row("a fork of a fork",
        {{"a", 7, 0, 4},
         {"b", 7, 5, 20},
         {"c", 8, 6, 9},
         {"d", 9, 10, 14},
         {"e", 8, 10, 15},
         {"f", 7, 21, 22}},
        "a b<a c<a e<c d<c f<b,e,d");
    row("never joins", {{"a", 7, 0, 4}, {"b", 7, 5, 9}, {"d", 8, 6, 30}, {"c", 7, 10, 15}},
        "a b<a c<b d<a");
    row("two starts, one join", {{"a", 7, 0, 4}, {"b", 8, 1, 6}, {"c", 7, 7, 9}}, "a b c<a,b");
    row("side by side in step: no order between them",
        {{"a", 7, 0, 1},
         {"b", 7, 2, 12},
         {"d", 8, 3, 11},
         {"c", 7, 13, 22},
         {"e", 8, 12, 21},
         {"f", 7, 23, 24}},
        "a b<a c<b d<a e<d f<c,e");
    row("forks and joins twice",
        {{"a", 7, 0, 1},
         {"b", 7, 2, 9},
         {"c", 8, 3, 8},
         {"d", 7, 10, 11},
         {"e", 7, 12, 19},
         {"f", 8, 13, 18},
         {"g", 7, 20, 21}},
        "a b<a c<a d<b,c e<d f<d g<e,f");
    row("no duration, same time", {{"a", 7, 0, 1}, {"b", 7, 5, 5}, {"c", 8, 5, 5}, {"d", 7, 6, 7}},
        "a b<a c<b d<c");
}

void TestBranches::whatWaitsForWhat() {
    QFETCH(const Execution, execution);
    QFETCH(const QString, expected);
    QCOMPARE(QString::fromStdString(text(stageOf({execution, execution}))), expected);
}

void TestBranches::gapsCountFromWhatAnOpWaitsFor() {
    const Stage stage = stageOf({kForkJoin, kForkJoin});
    QCOMPARE(opOf(stage, "a").gap_us, 0.0);
    QCOMPARE(opOf(stage, "b").gap_us, 1.0);
    QCOMPARE(opOf(stage, "c").gap_us, 1.0); // after b, not after d
    QCOMPARE(opOf(stage, "d").gap_us, 2.0); // after a
    QCOMPARE(opOf(stage, "e").gap_us, 2.0); // after c, the later of the two
}

void TestBranches::aRecordedForkAndJoinIsReplayedAsRecorded() {
    QCOMPARE(stageUs(stageOf({kForkJoin, kForkJoin})), 19.0);
}

void TestBranches::streamsThatRaceAreOneStage() {
    Execution late = kForkJoin; // d begins after c
    late[2] = {"d", 8, 11, 14};
    const Stage stage = stageOf({kForkJoin, late, kForkJoin});
    QCOMPARE(text(stage), std::string("a b<a c<b d<a e<c,d"));
    QVERIFY(std::all_of(stage.instances.begin(), stage.instances.end(),
                        [](const Instance& one) { return one.counted; }));
    QCOMPARE(opOf(stage, "d").gap_samples_us, (std::vector<float>{2, 7, 2}));
}

void TestBranches::renumberedStreamsAreOneStage() {
    Execution renumbered = kForkJoin;
    for (Ran& ran : renumbered) {
        ran.stream = ran.stream == 7 ? 31 : 7;
    }
    const Stage stage = stageOf({kForkJoin, renumbered});
    QCOMPARE(text(stage), std::string("a b<a c<b d<a e<c,d"));
    QCOMPARE(stage.ops[0].duration_samples_us.size(), std::size_t{2});
}

void TestBranches::anOrderHoldsOnlyWhereEveryExecutionShowsIt() {
    // c looks as if it waited for d in the first execution; the second one shows that it does not.
    const Execution first{
        {"a", 7, 0, 4}, {"b", 7, 5, 9}, {"d", 8, 5, 8}, {"c", 7, 10, 15}, {"e", 7, 17, 19}};
    QCOMPARE(text(stageOf({first, first})), std::string("a b<a d<a c<b,d e<c"));
    QCOMPARE(text(stageOf({first, kForkJoin})), std::string("a b<a c<b d<a e<c,d"));
}

void TestBranches::layersWhoseBranchesRaceFoldAllTheSame() {
    // Three layers of a product, two beside each other, and one that joins them. In the middle
    // layer the side stream begins first.
    Execution execution;
    for (const std::int64_t at : {0, 100, 200}) {
        const std::int64_t late = at == 100 ? 0 : 5;
        execution.push_back({"nvjet_a", 7, at, at + 4});
        execution.push_back({"nvjet_b", 7, at + 10, at + 20});
        execution.push_back({"nvjet_c", 8, at + 6 + late, at + 30});
        execution.push_back({"nvjet_d", 7, at + 40, at + 44});
    }
    const Stage stage = stageOf({execution, execution});
    QCOMPARE(stage.fold.period, std::size_t{4});
    QCOMPARE(stage.fold.count, std::size_t{3});
    QCOMPARE(stage.ops[6].kernel, std::string("nvjet_c"));
    QCOMPARE(stage.ops[6].follows, (std::vector<std::uint32_t>{2}));
    QCOMPARE(stage.ops[7].follows, (std::vector<std::uint32_t>{1, 2}));
}

void TestBranches::replayIsTheLongestPath_data() {
    QTest::addColumn<Stage>("stage");
    QTest::addColumn<double>("us");
    QTest::addColumn<QString>("longest");
    QTest::newRow("chain") << handMade({op(2, 0, {1}), op(3, 1, {1}), op(4, 0.5, {1})}) << 10.5
                           << "xxx";
    // a 2; b 1 + 3, c 1 + 8; d 1 + 2 after both: 2 + 9 + 3
    QTest::newRow("fork and join")
        << handMade({op(2, 0, {1}), op(3, 1, {1}), op(8, 1, {2}), op(2, 1, {1, 2})}) << 14.0
        << "x.xx";
    // the first branch longer: two ops of 1 + 5
    QTest::newRow("uneven branches")
        << handMade({op(2, 0, {1}), op(5, 1, {1}), op(5, 1, {1}), op(8, 1, {3}), op(2, 1, {1, 2})})
        << 17.0 << "xxx.x";
    QTest::newRow("three streams") << handMade({op(2, 0, {1}), op(3, 1, {1}), op(4, 1, {2}),
                                                op(5, 1, {3}), op(2, 1, {1, 2, 3})})
                                   << 11.0 << "x..xx";
    QTest::newRow("never joins") << handMade({op(2, 0, {1}), op(3, 1, {1}), op(9, 1, {2})}) << 12.0
                                 << "x.x";
    QTest::newRow("two starts") << handMade({op(2, 0, {}), op(5, 1, {}), op(3, 1, {1, 2})}) << 10.0
                                << ".xx";
    QTest::newRow("short beside long on one stream")
        << handMade({op(10, 0, {1}), op(1, -8, {1}), op(1, 2, {1})}) << 13.0 << "x.x";
    QTest::newRow("empty") << handMade({}) << 0.0 << "";
}

void TestBranches::replayIsTheLongestPath() {
    QFETCH(const Stage, stage);
    QFETCH(const double, us);
    QFETCH(const QString, longest);
    QCOMPARE(stageUs(stage), us);
    QCOMPARE(QString::fromStdString(onLongestPath(stage)), longest);
}

void TestBranches::separatorsStandWhereOneOpHoldsEverything_data() {
    QTest::addColumn<Stage>("stage");
    QTest::addColumn<QString>("places");
    QTest::newRow("chain") << handMade({op(1, 0, {1}), op(1, 0, {1}), op(1, 0, {1})}) << "|||";
    QTest::newRow("fork and join")
        << handMade({op(1, 0, {1}), op(1, 0, {1}), op(1, 0, {2}), op(1, 0, {1, 2}), op(1, 0, {1})})
        << "||..|";
    QTest::newRow("a join that forks again")
        << handMade({op(1, 0, {1}), op(1, 0, {2}), op(1, 0, {1, 2}), op(1, 0, {1}), op(1, 0, {2})})
        << "|..|.";
    QTest::newRow("never joins") << handMade({op(1, 0, {1}), op(1, 0, {1}), op(1, 0, {2}),
                                              op(1, 0, {2})})
                                 << "||..";
    QTest::newRow("two starts") << handMade({op(1, 0, {}), op(1, 0, {}), op(1, 0, {1, 2}),
                                             op(1, 0, {1})})
                                << "|..|";
    QTest::newRow("a start in the middle")
        << handMade({op(1, 0, {}), op(1, 0, {1}), op(1, 0, {}), op(1, 0, {1, 2}), op(1, 0, {1})})
        << "|...|";
}

void TestBranches::separatorsStandWhereOneOpHoldsEverything() {
    QFETCH(const Stage, stage);
    QFETCH(const QString, places);
    QCOMPARE(QString::fromStdString(placesOf(stage)), places);
}

void TestBranches::branchesAreCounted_data() {
    QTest::addColumn<Execution>("execution");
    QTest::addColumn<int>("streams");
    QTest::addColumn<int>("branches");
    QTest::newRow("one stream") << Execution{{"a", 7, 0, 2}, {"b", 7, 3, 5}} << 1 << 1;
    QTest::newRow("streams in turn")
        << Execution{{"a", 7, 0, 2}, {"b", 8, 3, 5}, {"c", 9, 6, 7}} << 3 << 1;
    QTest::newRow("fork and join") << kForkJoin << 2 << 2;
    QTest::newRow("two pairs on three streams")
        << Execution{{"a", 7, 0, 1},   {"b", 7, 2, 9},   {"c", 8, 3, 8},  {"d", 7, 10, 11},
                     {"e", 7, 12, 19}, {"f", 9, 13, 18}, {"g", 7, 20, 21}}
        << 3 << 2;
}

void TestBranches::branchesAreCounted() {
    QFETCH(const Execution, execution);
    QFETCH(const int, streams);
    QFETCH(const int, branches);
    const BranchCount count = countBranches(stageOf({execution, execution}));
    QCOMPARE(static_cast<int>(count.streams), streams);
    QCOMPARE(static_cast<int>(count.branches), branches);
}

void TestBranches::correctionComesOffAlongTheLongestPath() {
    Workload workload;
    workload.stages = {stageOf({kForkJoin, kForkJoin})};
    workload.path = {{0, 1}};
    // a, b, c, e are on the longest path of 19 µs; a has no gap, so its duration gives way.
    QCOMPARE(replayUs(corrected(workload, {0.5, ""})), 17.0);
}

QTEST_APPLESS_MAIN(TestBranches)
#include "tst_branches.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Paths folded into loops, and their text.
#include "core/workload/path_tree.h"

#include <QTest>
#include <fmt/format.h>
#include <random>

using namespace kerf;
using namespace kerf::workload;

namespace {

/// "a 4(b 15(c))@1 d": loops with their entry where it is not 0.
std::string textOf(const PathTree& tree) {
    std::string text;
    for (const PathNode& node : tree) {
        text += text.empty() ? "" : " ";
        if (node.isLoop()) {
            text += fmt::format("{}({})", node.count, textOf(node.children));
            text += node.entry == 0 ? "" : fmt::format("@{}", node.entry);
        } else {
            text += static_cast<char>('a' + node.stage);
        }
    }
    return text;
}

/// "a 15c b" → path.
Path pathOf(const std::string& text) {
    Path path;
    int repeats = 0;
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            repeats = repeats * 10 + (c - '0');
        } else if (c != ' ') {
            path.push_back({static_cast<std::size_t>(c - 'a'), std::max(repeats, 1)});
            repeats = 0;
        }
    }
    return path;
}

Workload threeStages() {
    Workload workload;
    for (const char* name : {"prefill", "talker_step", "graph 1"}) {
        workload.stages.emplace_back().name = name;
    }
    return workload;
}

} // namespace

class TestPath : public QObject {
    Q_OBJECT

private slots:
    void foldsIntoLoops_data();
    void foldsIntoLoops();
    void foldingKeepsTheExecutions();
    void longPathFoldsQuickly();
    void formatsRepeats();
    void parses_data();
    void parses();
    void textComesBack();
    void refusesAndNamesThePlace_data();
    void refusesAndNamesThePlace();
};

void TestPath::foldsIntoLoops_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("tree");
    const auto row = [](const char* name, const char* path, const char* tree) {
        QTest::newRow(name) << path << tree;
    };
    row("llama", "a b", "a b");
    row("qwen3-tts", "a 15c b 15c b 15c b 15c d", "a 4(b 15(c))@1 d");
    row("csm", "a 31c b 31c d", "a 2(b 31(c))@1 d");
    row("loop entered at its start", "a b c b c d", "a 2(b c) d");
    row("equal neighbours are merged", "a 2b 3b", "a 5(b)");
    row("loop in a loop", "a 2b c 2b c d", "a 2(2(b) c) d");
    row("loop of a loop of stages", "a b c b c d a b c b c d", "2(a 2(b c) d)");
    row("entered in the middle", "a 2b a 3c", "2(2(b) a)@1 3(c)");
    row("empty", "", "");
}

void TestPath::foldsIntoLoops() {
    QFETCH(QString, path);
    QFETCH(QString, tree);
    QCOMPARE(QString::fromStdString(textOf(foldPath(pathOf(path.toStdString())))), tree);
}

void TestPath::foldingKeepsTheExecutions() {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        Path path(random() % 14);
        for (PathStep& step : path) {
            step = {random() % (2 + round % 3), 1 + static_cast<int>(random() % 3)};
        }
        QCOMPARE(expand(foldPath(path)), expand(path));
    }
}

void TestPath::longPathFoldsQuickly() {
    Path path{{0, 1}};
    for (int i = 0; i < 5000; ++i) {
        path.push_back({1, 1});
        path.push_back({2, 15});
    }
    const PathTree tree = foldPath(path);
    QCOMPARE(textOf(tree), std::string("a 5000(b 15(c))"));
}

void TestPath::formatsRepeats() {
    const Workload workload = threeStages();
    QCOMPARE(formatPath(workload, {{0, 1}, {1, 15}, {2, 2}}),
             std::string("prefill, 15 × talker_step, 2 × graph 1"));
}

void TestPath::parses_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("path");
    QTest::newRow("plain") << "prefill, talker_step"
                           << "a b";
    QTest::newRow("times sign") << "prefill, 15 × talker_step"
                                << "a 15b";
    QTest::newRow("x without spaces") << "3xtalker_step"
                                      << "3b";
    QTest::newRow("star") << "3 * graph 1"
                          << "3c";
    QTest::newRow("spaces") << "  prefill ,\t2 x  graph 1 "
                            << "a 2c";
    QTest::newRow("loop") << "prefill, 2 × (talker_step, 3 × graph 1)"
                          << "a b 3c b 3c";
    QTest::newRow("neighbours merge") << "prefill, prefill"
                                      << "2a";
    QTest::newRow("nested") << "2 x (2 x (prefill))"
                            << "4a";
}

void TestPath::parses() {
    QFETCH(QString, text);
    QFETCH(QString, path);
    const auto parsed = parsePath(threeStages(), text.toStdString());
    QVERIFY2(parsed.has_value(), parsed ? "" : toString(parsed.error()).c_str());
    QVERIFY(*parsed == pathOf(path.toStdString()));
}

void TestPath::textComesBack() {
    const Workload workload = threeStages();
    const Path path{{0, 1}, {1, 15}, {2, 1}, {1, 2}};
    const auto parsed = parsePath(workload, formatPath(workload, path));
    QVERIFY(parsed && *parsed == path);
}

void TestPath::refusesAndNamesThePlace_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("where");
    QTest::newRow("empty") << ""
                           << "unknown stage at the end"
                           << "path, byte 0";
    QTest::newRow("unknown") << "prefill, decode"
                             << "unknown stage at \"decode\""
                             << "path, byte 9";
    QTest::newRow("zero") << "0 × prefill"
                          << "repeats must be"
                          << "path, byte 0";
    QTest::newRow("huge") << "99999999999999999999 × prefill"
                          << "repeats must be"
                          << "path, byte 0";
    QTest::newRow("many") << "1000 × (1000 × (2 x prefill))"
                          << "million"
                          << "path, byte";
    QTest::newRow("no sign") << "3 prefill"
                             << "expected ×"
                             << "path, byte 2";
    QTest::newRow("trailing comma") << "prefill,"
                                    << "at the end"
                                    << "path, byte 8";
    QTest::newRow("open") << "2 × (prefill"
                          << "expected , or )"
                          << "path, byte 13";
    QTest::newRow("closed twice") << "prefill)"
                                  << "unexpected text"
                                  << "path, byte 7";
    QTest::newRow("deep") << QString(500, '(') << "unknown stage"
                          << "path, byte 64";
}

void TestPath::refusesAndNamesThePlace() {
    QFETCH(QString, text);
    QFETCH(QString, what);
    QFETCH(QString, where);
    const auto parsed = parsePath(threeStages(), text.toStdString());
    QVERIFY(!parsed.has_value());
    QVERIFY2(QString::fromStdString(parsed.error().what).contains(what),
             parsed.error().what.c_str());
    QVERIFY2(QString::fromStdString(parsed.error().where).startsWith(where),
             parsed.error().where.c_str());
    QVERIFY(!parsed.error().advice.empty());
}

QTEST_APPLESS_MAIN(TestPath)
#include "tst_path.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/chain.h"
#include "tests/graph/random_chain.h"

#include <QTest>
#include <fmt/format.h>

using namespace kerf;
using graph::Chain;
using graph::Item;
using graph::Region;

namespace {

/// "a" … "z" are ops, "0" … "9" sites; "3(…)" a loop of 3; "3(a|b)" one that starts at b; "3(…)4"
/// one with back site 4, where the digit follows the bracket.
struct Text {
    const char* at;
    Chain chain;

    std::vector<Item> items(std::size_t* entry = nullptr) {
        std::vector<Item> result;
        for (; *at != '\0' && *at != ')'; ++at) {
            if (*at == '|') {
                *entry = result.size();
            } else if (*at >= 'a' && *at <= 'z') {
                const auto index = static_cast<std::size_t>(*at - 'a');
                chain.ops.resize(std::max(chain.ops.size(), index + 1));
                result.push_back({Item::Kind::Op, index, {}, 1, 0, graph::kPathStart, {}});
            } else if (at[1] == '(') {
                result.push_back(loop());
            } else {
                result.push_back({Item::Kind::Site, site(*at), {}, 1, 0, graph::kPathStart, {}});
            }
        }
        return result;
    }
    Item loop() {
        Item item;
        item.kind = Item::Kind::Loop;
        item.count = *at - '0';
        at += 2;
        item.body = items(&item.entry);
        if (at[1] >= '0' && at[1] <= '9' && at[2] != '(') {
            item.back_site = static_cast<graph::SiteIndex>(site(*++at));
        }
        return item;
    }
    std::size_t site(char name) {
        const auto index = static_cast<std::size_t>(name - '0');
        chain.sites.resize(std::max(chain.sites.size(), index + 1));
        return index;
    }
};

Chain chainOf(const char* text) {
    Text reader{text, {}};
    reader.chain.items = reader.items();
    return std::move(reader.chain);
}

std::string textOf(const std::vector<Item>& items) {
    std::string text;
    for (const Item& item : items) {
        if (item.kind == Item::Kind::Op) {
            text += static_cast<char>('a' + item.index);
        } else if (item.kind == Item::Kind::Loop) {
            text += std::to_string(item.count) + "(" + textOf(item.body) + ")";
        } else {
            text += "site";
        }
    }
    return text;
}

} // namespace

class TestWalk : public QObject {
    Q_OBJECT

private slots:
    void unrollsLoops_data();
    void unrollsLoops();
    void regionHoldsItsOps_data();
    void regionHoldsItsOps();
    void regionsOfRandomChainsAreSlicesOfTheWalk();
};

void TestWalk::unrollsLoops_data() {
    QTest::addColumn<QString>("chain");
    QTest::addColumn<QString>("walk");
    QTest::newRow("no loop") << "a0b"
                             << "a0b";
    QTest::newRow("loop") << "a2(b0)c"
                          << "ab0b0c";
    QTest::newRow("back site between iterations only") << "a3(b)0c"
                                                       << "ab0b0bc";
    QTest::newRow("entered in the middle") << "3(a0|b)1"
                                           << "b1a0b1a0b";
    QTest::newRow("nested") << "2(a2(b0)1)2c"
                            << "ab01b02ab01b0c";
}

void TestWalk::unrollsLoops() {
    QFETCH(QString, chain);
    QFETCH(QString, walk);
    QString found;
    for (const graph::WalkStep& step : unroll(chainOf(chain.toLatin1().constData()))) {
        found += QChar(static_cast<char>((step.is_site ? '0' : 'a') + step.index));
    }
    QCOMPARE(found, walk);
}

void TestWalk::regionHoldsItsOps_data() {
    QTest::addColumn<QString>("chain");
    QTest::addColumn<int>("from"); // −1: the start
    QTest::addColumn<int>("to");   // −1: the end
    QTest::addColumn<int>("loopsLeft");
    QTest::addColumn<QString>("ops");
    QTest::newRow("whole path") << "a0b" << -1 << -1 << 0 << "ab";
    QTest::newRow("whole loop is kept") << "a4(b0c)d" << -1 << -1 << 0 << "a4(bc)d";
    QTest::newRow("entered loop: partial iteration, then the rest")
        << "4(a|b)c" << -1 << -1 << 0 << "b3(ab)c";
    QTest::newRow("one iteration left is no loop") << "2(a|b)c" << -1 << -1 << 0 << "babc";
    QTest::newRow("entered at ops only after sites is a whole iteration")
        << "3(0|a)b" << -1 << -1 << 0 << "3(a)b";
    QTest::newRow("start into a loop") << "a3(b0c)d" << -1 << 0 << 0 << "ab";
    QTest::newRow("start to a part that the first iteration skips")
        << "3(a0b|c)d" << -1 << 0 << 0 << "ca";
    QTest::newRow("around a loop") << "a3(b0c)d" << 0 << 0 << 0 << "cb";
    QTest::newRow("out of a loop") << "a3(b0c)d" << 0 << -1 << 0 << "cd";
    QTest::newRow("forward inside an iteration") << "3(a0b1c)" << 0 << 1 << 0 << "b";
    QTest::newRow("backward is around") << "3(a0b1c)" << 1 << 0 << 0 << "ca";
    QTest::newRow("back site to itself") << "4(ab)0" << 0 << 0 << 0 << "ab";
    QTest::newRow("start to back site") << "4(a|b)0" << -1 << 0 << 0 << "b";
    QTest::newRow("back site to the end") << "4(ab)0c" << 0 << -1 << 0 << "abc";
    QTest::newRow("from a back site into the iteration") << "4(a1b)0" << 0 << 1 << 0 << "a";
    QTest::newRow("to a back site") << "4(a1b)0" << 1 << 0 << 0 << "b";
    QTest::newRow("inner loop passed whole") << "3(a0b5(c)d)" << 0 << 0 << 0 << "b5(c)da";
    QTest::newRow("around the inner loop") << "3(a2(b0c)d)" << 0 << 0 << 0 << "cb";
    QTest::newRow("around the outer loop") << "3(a2(b0c)d)" << 0 << 0 << 1 << "cdab";
    QTest::newRow("around the outermost of three") << "3(a2(b2(c0d)e)f)" << 0 << 0 << 2 << "defabc";
    QTest::newRow("between two inner loops") << "2(2(a0b)c2(d1e)f)" << 0 << 1 << 0 << "bcd";
    QTest::newRow("between two inner loops, around") << "2(2(a0b)c2(d1e)f)" << 1 << 0 << 0 << "efa";
    QTest::newRow("backward on the path is no region") << "a0b1c" << 1 << 0 << 0 << "";
    QTest::newRow("no such loop to leave") << "3(a0b)" << 0 << 0 << 1 << "";
}

void TestWalk::regionHoldsItsOps() {
    QFETCH(QString, chain);
    QFETCH(int, from);
    QFETCH(int, to);
    QFETCH(int, loopsLeft);
    QFETCH(QString, ops);
    const Chain built = chainOf(chain.toLatin1().constData());
    const Region region{from, to < 0 ? pathEnd(built) : to, loopsLeft};
    QCOMPARE(QString::fromStdString(textOf(opsOf(built, region))), ops);
}

void TestWalk::regionsOfRandomChainsAreSlicesOfTheWalk() {
    int compared = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        test::ChainMaker maker(seed);
        const Chain chain = maker.make(12);
        graph::Composition composition;
        for (std::size_t site = 0; site < chain.sites.size(); ++site) {
            if (maker.upTo(2) == 0) {
                composition.cuts[static_cast<int>(site)] = graph::Mode::Megakernel;
            }
        }
        for (const test::Stretch& stretch : test::SlowWalk::stretches(chain, composition)) {
            std::vector<std::size_t> ops;
            test::expand(opsOf(chain, stretch.region), ops);
            QVERIFY2(ops == stretch.ops,
                     fmt::format("case {}: region {} → {}, {} loops left", seed,
                                 stretch.region.from, stretch.region.to, stretch.region.loops_left)
                         .c_str());
            ++compared;
        }
    }
    QVERIFY(compared > 2000);
}

QTEST_APPLESS_MAIN(TestWalk)
#include "tst_walk.moc"

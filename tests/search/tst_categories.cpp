// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/categories.h"

#include <QTest>

using namespace kerf;
using namespace kerf::search;

namespace {

/// Candidates of one batch size as text, best first: a letter names the composition ("c": fully
/// conventional), the number its coverage in %, "=" that it ties with the best: "a95 c0= b40".
BatchCandidates batchOf(int batch, const QString& text) {
    BatchCandidates result{batch, {}};
    for (QString part : text.split(' ', Qt::SkipEmptyParts)) {
        CategoryCandidate candidate;
        candidate.ties_best = part.endsWith('=');
        part.remove('=');
        candidate.coverage = part.mid(1).toDouble() / 100;
        candidate.kind = part[0] == 'c' ? graph::Kind::Conventional : graph::Kind::Pure;
        candidate.composition.first_mode =
            part[0] == 'c' ? graph::Mode::Conventional : graph::Mode::Megakernel;
        if (part[0] != 'c') {
            candidate.composition.cuts[part.left(1).toStdString()] = graph::Mode::Megakernel;
        }
        candidate.composition.name = text.toStdString(); // names must not matter
        result.candidates.push_back(candidate);
    }
    return result;
}

std::vector<BatchCandidates> batchesOf(const QStringList& texts) {
    std::vector<BatchCandidates> result;
    int batch = 1;
    for (const QString& text : texts) {
        result.push_back(batchOf(batch, text));
        batch *= 2;
    }
    return result;
}

} // namespace

class TestCategories : public QObject {
    Q_OBJECT

private slots:
    void category_data();
    void category();
    void evidenceNamesTheCoverages();
    void chosenCandidatesAreTheOnesThatDecided();
    void nothingIsMixedAndSaysWhy();
};

void TestCategories::category_data() {
    QTest::addColumn<QStringList>("batches");
    QTest::addColumn<QString>("expected");
    QTest::newRow("same composition") << QStringList{"a90 c0", "a95 b50", "a80"} << "stable";
    QTest::newRow("always conventional") << QStringList{"c0 a90", "c0", "c0 b10"} << "averse";
    QTest::newRow("coverage shrinks") << QStringList{"a90", "b60", "c0"} << "receding";
    QTest::newRow("coverage shrinks once") << QStringList{"a90", "b90", "d40"} << "receding";
    QTest::newRow("coverage grows") << QStringList{"c0", "b60", "a90"} << "advancing";
    QTest::newRow("up and down") << QStringList{"b60", "a90", "c0"} << "mixed";
    QTest::newRow("other cuts, equal coverage") << QStringList{"a90", "b90"} << "mixed";
    QTest::newRow("coverage grows by noise, then shrinks")
        << QStringList{"a90", "b90.5", "d40"} << "receding";
    QTest::newRow("one batch, megakernels") << QStringList{"a90 c0"} << "stable";
    QTest::newRow("one batch, conventional") << QStringList{"c0 a90"} << "averse";
    QTest::newRow("tie with conventional everywhere")
        << QStringList{"a90 c0=", "b40 c0=", "c0"} << "averse";
    QTest::newRow("averse before stable") << QStringList{"a90 c0=", "a90 c0="} << "averse";
    QTest::newRow("tie makes it stable") << QStringList{"a90 b40=", "b40"} << "stable";
    QTest::newRow("no tie, not stable") << QStringList{"a90 b40", "b40"} << "receding";
    QTest::newRow("tie makes it receding") << QStringList{"b60 d95=", "a90", "c0"} << "receding";
    QTest::newRow("receding before advancing") << QStringList{"a50", "b20 d80="} << "receding";
}

void TestCategories::category() {
    QFETCH(QStringList, batches);
    QFETCH(QString, expected);
    const auto found = toString(categorise(batchesOf(batches)).category);
    QCOMPARE(QString::fromUtf8(found.data(), static_cast<int>(found.size())), expected);
}

void TestCategories::evidenceNamesTheCoverages() {
    const CategoryResult result = categorise(batchesOf({"a90", "b60"}));
    QCOMPARE(QString::fromStdString(result.evidence),
             QString("Coverage 90 % at batch 1, 60 % at batch 2: megakernel coverage never grows "
                     "with batch size and shrinks somewhere."));
}

void TestCategories::chosenCandidatesAreTheOnesThatDecided() {
    const CategoryResult result = categorise(batchesOf({"b60 d95= e99=", "a90", "c0"}));
    const std::vector<std::size_t> expected{1, 0, 0};
    QVERIFY(result.chosen == expected);
    QCOMPARE(result.coverages.front(), 0.95);
}

void TestCategories::nothingIsMixedAndSaysWhy() {
    QVERIFY(categorise({}).category == Category::Mixed);
    const CategoryResult result = categorise({BatchCandidates{8, {}}});
    QVERIFY(result.category == Category::Mixed);
    QVERIFY(result.evidence.find("batch 8") != std::string::npos);
}

QTEST_APPLESS_MAIN(TestCategories)
#include "tst_categories.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/category_map.h"
#include "views/category_map_chart.h"
#include "views/category_map_grid.h"

#include <QSignalSpy>
#include <QTest>

using namespace kerf::views;
using Kind = CategoryPrimitive::Kind;

namespace {

CategoryCell cell(int batch, std::vector<std::pair<double, bool>> strip, bool tie = false) {
    CategoryCell c;
    c.batch = batch;
    c.available = true;
    c.tie = tie;
    c.strip = std::move(strip);
    for (const auto& [share, megakernel] : c.strip) {
        c.coverage += megakernel ? share : 0;
    }
    return c;
}

/// a: batches 1 and 8; b: batches 8 and 32, of which 32 was not recorded.
std::vector<CategoryRow> sample() {
    CategoryCell missing;
    missing.batch = 32;
    return {{"a",
             "receding",
             "coverage 1.00, 0.60",
             {cell(1, {{0.4, true}, {0.6, true}}), cell(8, {{0.25, false}, {0.75, true}}, true)}},
            {"b", "averse", "coverage 0", {cell(8, {{1, false}}), missing}}};
}

int count(const std::vector<CategoryPrimitive>& all, Kind kind) {
    return static_cast<int>(
        std::count_if(all.begin(), all.end(), [&](const auto& p) { return p.kind == kind; }));
}

QPointF middleOf(const CategoryGrid& grid, int row, int batch) {
    for (const CategoryPrimitive& p : grid.primitives()) {
        if (p.kind == Kind::Cell && p.row == row && p.batch == batch) {
            return p.rect.center();
        }
    }
    return {};
}

} // namespace

class TestCategoryMap : public QObject {
    Q_OBJECT

private slots:
    void columnsAreTheBatchSizesOfAllRows() {
        QCOMPARE(batchesOf(sample()), (std::vector<int>{1, 8, 32}));
    }

    void stretchesAreSharesOfTheStrip() {
        const auto stretches = megakernelStretches(cell(1, {{1, false}, {3, true}, {4, true}}));
        QCOMPARE(stretches, (std::vector<std::pair<double, double>>{{0.125, 0.5}, {0.5, 1}}));
    }

    void everyCellIsDrawnAndTiesAreHatched() {
        const auto all = categoryPrimitives(sample(), {"a", 8, -1, 0}, 300, Theme::light());
        QCOMPARE(count(all, Kind::Cell), 6);
        QCOMPARE(count(all, Kind::Stretch), 3);
        QCOMPARE(count(all, Kind::Tie), 1);
        QCOMPARE(count(all, Kind::Outline), 1);
        QCOMPARE(count(all, Kind::Category), 2);
    }

    void nothingLeavesTheWidth() {
        for (const auto& p : categoryPrimitives(sample(), {}, 200, Theme::light())) {
            QVERIFY(p.rect.left() >= 0 && p.rect.right() <= 200.001);
        }
    }

    void aClickOpensItsCell() {
        CategoryMap map;
        map.resize(320, 300);
        map.setRows(sample());
        map.show();
        QSignalSpy activated(&map, &CategoryMap::cellActivated);
        QTest::mouseClick(&map.grid(), Qt::LeftButton, {}, middleOf(map.grid(), 0, 8).toPoint());
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0], (QVariantList{QStringLiteral("a"), 8}));
    }

    void theKeyboardWalksAndOpens() {
        CategoryMap map;
        map.resize(320, 300);
        map.setRows(sample());
        QSignalSpy activated(&map, &CategoryMap::cellActivated);
        for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Right, Qt::Key_Return}) {
            QTest::keyClick(&map.grid(), key);
        }
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0], (QVariantList{QStringLiteral("b"), 8}));
    }

    void toolTipsGiveTheEvidence() {
        CategoryGrid grid;
        grid.resize(300, 140);
        grid.setRows(sample());
        QVERIFY(grid.toolTipAt(middleOf(grid, 0, 1)).contains(QStringLiteral("100 %")));
        QVERIFY(grid.toolTipAt(middleOf(grid, 1, 32)).contains(QStringLiteral("not recorded")));
        QVERIFY(grid.toolTipAt({5, kCategoryHeader + 8})
                    .contains(QStringLiteral("coverage 1.00, 0.60")));
    }

    void curvesLeaveOutMissingCells() {
        CoverageChart chart;
        chart.setRows(sample());
        QCOMPARE(chart.graphCount(), 2);
        QCOMPARE(chart.graph(0)->dataCount(), 2);
        QCOMPARE(chart.graph(1)->dataCount(), 1);
    }

    void anEmptyMapSaysWhatToDo() {
        CategoryMap map;
        map.resize(300, 200);
        map.setRows({});
        QVERIFY(!map.grab().isNull());
        QVERIFY(map.chart().isHidden());
    }
};

QTEST_MAIN(TestCategoryMap)
#include "tst_category_map.moc"

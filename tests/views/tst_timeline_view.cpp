// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_timeline.h"
#include "views/render.h"
#include "views/timeline_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>

using namespace kerf;
using namespace kerf::views;

class TestTimelineView : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup() { view_.reset(); }

    void showsTheWholeRequestAtFirst();
    void wheelZoomsAboutTheCursor();
    void shiftAndWheelPan();
    void draggingALanePans();
    void escapeTakesAPanBack();
    void draggingTheOverviewMovesTheWindow();
    void draggingTheRulerSelectsAndMZoomsToIt();
    void keysZoomPanAndFit();
    void doubleClickFits();
    void pointingAtAnOpTellsAboutIt();
    void pointingAtATileTellsWorkerAndBound();
    void aNewPredictionKeepsTheVisibleRange();
    void rowsNeitherOverlapNorLeaveTheWidget_data();
    void rowsNeitherOverlapNorLeaveTheWidget();
    void emptyViewDraws();
    void picturesAreWrittenWholeOrNotAtAll();

private:
    QPointF pointIn(RowKind kind, double time_us) const;
    std::unique_ptr<TimelineView> view_;
};

void TestTimelineView::init() {
    view_ = std::make_unique<TimelineView>();
    view_->resize(1000, 400);
    view_->setRecorded(test::smallCase());
    view_->setPredicted(timelineOf(*test::smallCase(), test::smallPrediction(), [](graph::Region) {
        return Expected<sim::RegionResult>(test::smallRegion());
    }));
    view_->show();
}

QPointF TestTimelineView::pointIn(RowKind kind, double time_us) const {
    const auto at = view_->currentLayout();
    const auto row = std::ranges::find(at.rows, kind, &TimelineRow::kind);
    return {at.axis.xOf(time_us), row->lane.center().y()};
}

void TestTimelineView::showsTheWholeRequestAtFirst() {
    QCOMPARE(view_->visibleRange().start_us, 0.0);
    QVERIFY(view_->visibleRange().end_us >= 31);
}

void TestTimelineView::wheelZoomsAboutTheCursor() {
    const QPointF at = pointIn(RowKind::Stream, 20);
    QWheelEvent wheel(at, view_->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    const double before = view_->visibleRange().span_us();
    QApplication::sendEvent(view_.get(), &wheel);
    QVERIFY(view_->visibleRange().span_us() < before);
    QVERIFY(std::abs(view_->currentLayout().axis.timeAt(at.x()) - 20) < 1e-6);
}

void TestTimelineView::shiftAndWheelPan() {
    view_->setVisibleRange({10, 20});
    const QPointF at = pointIn(RowKind::Stream, 15);
    QWheelEvent wheel(at, view_->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::ShiftModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(view_.get(), &wheel);
    QCOMPARE(view_->visibleRange().span_us(), 10.0);
    QVERIFY(view_->visibleRange().start_us > 10);
}

void TestTimelineView::draggingALanePans() {
    view_->setVisibleRange({10, 20});
    const QPoint from = pointIn(RowKind::Stream, 16).toPoint();
    const double time = view_->currentLayout().axis.timeAt(from.x());
    QTest::mousePress(view_.get(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view_.get(), from + QPoint(-100, 0));
    QTest::mouseRelease(view_.get(), Qt::LeftButton, {}, from + QPoint(-100, 0));
    QVERIFY(std::abs(view_->currentLayout().axis.timeAt(from.x() - 100) - time) < 1e-6);
}

void TestTimelineView::escapeTakesAPanBack() {
    view_->setVisibleRange({10, 20});
    const QPoint from = pointIn(RowKind::Stream, 16).toPoint();
    QTest::mousePress(view_.get(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view_.get(), from + QPoint(-100, 0));
    QTest::keyClick(view_.get(), Qt::Key_Escape);
    QCOMPARE(view_->visibleRange(), (TimeRange{10, 20}));
}

void TestTimelineView::draggingTheOverviewMovesTheWindow() {
    view_->setVisibleRange({10, 20});
    const auto at = view_->currentLayout();
    const QPoint from = QPointF(at.overview_axis.xOf(15), at.overview.center().y()).toPoint();
    const int by_px = static_cast<int>(5 / at.overview_axis.us_per_px());
    QTest::mousePress(view_.get(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view_.get(), from + QPoint(by_px, 0));
    QTest::mouseRelease(view_.get(), Qt::LeftButton, {}, from + QPoint(by_px, 0));
    QVERIFY(std::abs(view_->visibleRange().start_us - 15) < 0.1);
}

void TestTimelineView::draggingTheRulerSelectsAndMZoomsToIt() {
    const auto at = view_->currentLayout();
    const QPoint from(static_cast<int>(at.axis.xOf(10)), static_cast<int>(at.ruler.center().y()));
    const QPoint to(static_cast<int>(at.axis.xOf(20)), from.y());
    QTest::mousePress(view_.get(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view_.get(), to);
    QTest::mouseRelease(view_.get(), Qt::LeftButton, {}, to);
    QVERIFY(view_->selection().has_value());
    QTest::keyClick(view_.get(), Qt::Key_M);
    QCOMPARE(view_->visibleRange(), *view_->selection());
    QVERIFY(std::abs(view_->visibleRange().span_us() - 10) < 0.1);
}

void TestTimelineView::keysZoomPanAndFit() {
    const TimeRange all = view_->visibleRange();
    QTest::keyClick(view_.get(), Qt::Key_W);
    QVERIFY(view_->visibleRange().span_us() < all.span_us());
    const double start = view_->visibleRange().start_us;
    QTest::keyClick(view_.get(), Qt::Key_D);
    QVERIFY(view_->visibleRange().start_us > start);
    QTest::keyClick(view_.get(), Qt::Key_F);
    QCOMPARE(view_->visibleRange(), all);
}

void TestTimelineView::doubleClickFits() {
    const TimeRange all = view_->visibleRange();
    view_->setVisibleRange({10, 20});
    QTest::mouseDClick(view_.get(), Qt::LeftButton, {}, pointIn(RowKind::Stream, 15).toPoint());
    QCOMPARE(view_->visibleRange(), all);
}

void TestTimelineView::pointingAtAnOpTellsAboutIt() {
    const QString text =
        view_->describeAt(pointIn(RowKind::Stream, 17)); // product of the first step
    QVERIFY2(text.contains("gemm_step"), qPrintable(text));
    QVERIFY2(text.contains("64,2,1 × 256"), qPrintable(text));
    QVERIFY2(text.contains("registers: 96"), qPrintable(text));
    QVERIFY2(text.contains("shared memory: 2.0 KiB"), qPrintable(text));
    QVERIFY2(text.contains("duration: 5.00 µs"), qPrintable(text));
}

void TestTimelineView::pointingAtATileTellsWorkerAndBound() {
    const QString text =
        view_->describeAt(pointIn(RowKind::Workers, 20)); // product, workers 0 and 1
    QVERIFY2(text.startsWith("down"), qPrintable(text));
    QVERIFY2(text.contains("2 of 2 in this group"), qPrintable(text));
    const auto bound = toString(sim::Bound::Event);
    QVERIFY2(text.contains(QString::fromStdString("bound by: " + std::string(bound))),
             qPrintable(text));
}

void TestTimelineView::aNewPredictionKeepsTheVisibleRange() {
    view_->setVisibleRange({10, 20});
    auto slower = test::smallPrediction();
    slower.regions[0].us = 18;
    view_->setPredicted(timelineOf(*test::smallCase(), slower, [](graph::Region) {
        return Expected<sim::RegionResult>(test::smallRegion());
    }));
    QCOMPARE(view_->visibleRange(), (TimeRange{10, 20}));
}

void TestTimelineView::rowsNeitherOverlapNorLeaveTheWidget_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("default") << QSize(1000, 320);
    QTest::newRow("tall") << QSize(1000, 900);
    QTest::newRow("low") << QSize(600, 220);
    QTest::newRow("narrow") << QSize(320, 320);
}

void TestTimelineView::rowsNeitherOverlapNorLeaveTheWidget() {
    QFETCH(QSize, size);
    view_->resize(size);
    const auto rows = view_->currentLayout().rows;
    QCOMPARE(rows.size(),
             11U); // two headers, stages, stream, copies, regions, kernels, workers × 4
    for (std::size_t i = 1; i < rows.size(); ++i) {
        QVERIFY(rows[i].lane.top() >= rows[i - 1].lane.bottom());
    }
    QVERIFY(rows.back().lane.bottom() <= size.height());
}

void TestTimelineView::emptyViewDraws() {
    TimelineView empty;
    const QImage image = renderToImage(empty, {600, 300}, 1.25);
    QCOMPARE(image.size(), QSize(750, 375));
    QVERIFY(empty.describeAt({300, 150}).isEmpty());
}

void TestTimelineView::picturesAreWrittenWholeOrNotAtAll() {
    QTemporaryDir folder;
    const auto file = std::filesystem::path(folder.path().toStdString()) / "timeline.png";
    QVERIFY(writePng(renderToImage(*view_, {800, 300}, 2), file).has_value());
    QCOMPARE(QImage(QString::fromStdString(file.string())).size(), QSize(1600, 600));
    const auto missing = std::filesystem::path(folder.path().toStdString()) / "no" / "timeline.png";
    const auto result = writePng(renderToImage(*view_, {80, 30}, 1), missing);
    QVERIFY(!result.has_value());
    QVERIFY(toString(result.error()).find("timeline.png") != std::string::npos);
}

QTEST_MAIN(TestTimelineView)
#include "tst_timeline_view.moc"

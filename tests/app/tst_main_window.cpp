// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a person uses it: open, drag, undo, search, a bad file.
#include "app/main_window.h"
#include "app/message_bar.h"
#include "app/panel_dock.h"
#include "tests/app/sample.h"
#include "views/candidates_view.h"
#include "views/category_map.h"
#include "views/composition_strip.h"
#include "views/prediction_panel.h"
#include "views/theme.h"

#include <QApplication>
#include <QDropEvent>
#include <QLabel>
#include <QMimeData>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>

using namespace kerf;
using namespace kerf::test;

class TestMainWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void emptyWindowSaysWhatToDo();
    void openingShowsPanelsAndANumber();
    void openingKeepsTheWindowsSizeAndGivesRoomToTheTimeline();
    void draggingAHandleChangesTheNumberAndUndoRestoresIt();
    void escapeCancelsADrag();
    void searchFillsTheTable();
    void aCandidateCanBeChosen();
    void batchButtonsSwitchTheCase();
    void badFileLeavesTheWindowUsable();
    void droppedRecordingsAreImported();
    void picturesOfEveryPanelAreWritten();
    void shortcutsAreUnique();

private:
    void open();
    template <class View> View& view() const { return *window_->findChild<View*>(); }
    [[nodiscard]] double ttfa() const {
        return view<views::PredictionPanel>().state().current->ttfa_us;
    }
    [[nodiscard]] bool settled() const {
        const auto& state = view<views::PredictionPanel>().state();
        return state.current && state.busyText.isEmpty() && !window_->session().predicting();
    }
    [[nodiscard]] QPoint handleOf(graph::SiteIndex site) const;

    std::unique_ptr<app::MainWindow> window_;
    QTemporaryDir dir_;
};

void TestMainWindow::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, dir_.path());
    QCoreApplication::setOrganizationName("KerfTest");
    QSettings().clear();
    QSettings().setValue("searchOnOpening", false);
    views::applyTheme(*qApp, views::ThemeChoice::Light);
}

void TestMainWindow::init() {
    window_ = std::make_unique<app::MainWindow>();
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void TestMainWindow::cleanup() {
    window_.reset();
}

/// llama-1b at batch 1 and 8 with one cut between two megakernels.
void TestMainWindow::open() {
    QSignalSpy changed(&window_->session(), &app::Session::projectChanged);
    window_->openFiles({qt(llama(1)), qt(llama(8))});
    QVERIFY(changed.wait(60'000));
    auto composition = graph::monolith();
    const auto& layout = view<views::CompositionStrip>().stripLayout();
    composition.cuts[layout.sites[layout.sites.size() / 2].site] = graph::Mode::Megakernel;
    window_->session().commit(composition, "one cut");
    QTRY_VERIFY_WITH_TIMEOUT(settled(), 60'000);
}

QPoint TestMainWindow::handleOf(graph::SiteIndex site) const {
    const auto primitives = view<views::CompositionStrip>().primitives();
    for (const auto& primitive : primitives) {
        if (primitive.kind == views::StripPrimitive::Kind::Handle && primitive.index == site) {
            return primitive.rect.center().toPoint();
        }
    }
    return {};
}

void TestMainWindow::emptyWindowSaysWhatToDo() {
    const auto* empty = window_->findChild<QLabel*>("emptyState");
    QVERIFY(empty->isVisible());
    QVERIFY(empty->text().contains("import"));
}

void TestMainWindow::openingShowsPanelsAndANumber() {
    open();
    QVERIFY(!window_->findChild<QLabel*>("emptyState")->isVisible());
    for (const auto* dock : window_->findChildren<app::PanelDock*>()) {
        QVERIFY2(dock->isVisible(), qPrintable(dock->objectName()));
    }
    QVERIFY(ttfa() > 0);
    QCOMPARE(view<views::PredictionPanel>().state().batch, 1);
}

void TestMainWindow::openingKeepsTheWindowsSizeAndGivesRoomToTheTimeline() {
    window_->resize(1600, 1000);
    open();
    QTest::qWait(50);
    QCOMPARE(window_->size(), QSize(1600, 1000));
    const auto height = [&](const char* name) {
        return window_->findChild<app::PanelDock*>(name)->height();
    };
    QVERIFY2(height("composition") < 300, qPrintable(QString::number(height("composition"))));
    QVERIFY2(height("timeline") > 550, qPrintable(QString::number(height("timeline"))));
    QVERIFY2(height("categories") > 200, qPrintable(QString::number(height("categories"))));
}

void TestMainWindow::draggingAHandleChangesTheNumberAndUndoRestoresIt() {
    open();
    auto& strip = view<views::CompositionStrip>();
    const double before = ttfa();
    const auto composition = strip.composition();
    const QPoint from = handleOf(composition.cuts.begin()->first);
    QVERIFY(!from.isNull());
    QTest::mousePress(&strip, Qt::LeftButton, {}, from);
    for (int dx = 10; dx <= 150; dx += 10) {
        QTest::mouseMove(&strip, from + QPoint(dx, 0));
    }
    QTRY_VERIFY_WITH_TIMEOUT(settled() && ttfa() != before, 60'000); // while the button is down
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, from + QPoint(150, 0));
    QVERIFY(strip.composition() != composition);
    QTRY_VERIFY_WITH_TIMEOUT(settled(), 60'000);
    search::Predictor fresh(window_->session().current()->data);
    QCOMPARE(ttfa(), fresh.predict(strip.composition(), 0)->ttfa_us);
    QCOMPARE(window_->session().undoStack().count(), 2);

    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(settled() && ttfa() == before, 60'000);
    QVERIFY(strip.composition() == composition);
}

void TestMainWindow::escapeCancelsADrag() {
    open();
    auto& strip = view<views::CompositionStrip>();
    const auto composition = strip.composition();
    const double before = ttfa();
    const QPoint from = handleOf(composition.cuts.begin()->first);
    QTest::mousePress(&strip, Qt::LeftButton, {}, from);
    QTest::mouseMove(&strip, from + QPoint(120, 0));
    QTest::keyClick(&strip, Qt::Key_Escape);
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, from + QPoint(120, 0));
    QTRY_VERIFY_WITH_TIMEOUT(settled() && ttfa() == before, 60'000);
    QVERIFY(strip.composition() == composition);
    QCOMPARE(window_->session().undoStack().count(), 1);
}

void TestMainWindow::searchFillsTheTable() {
    open();
    auto& table = view<views::CandidatesView>().table();
    QCOMPARE(table.model()->rowCount(), 0);
    QTest::keyClick(window_.get(), Qt::Key_B, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(table.model()->rowCount() >= 4, 120'000);
}

void TestMainWindow::aCandidateCanBeChosen() {
    open();
    window_->session().searchCurrent();
    QTRY_VERIFY_WITH_TIMEOUT(window_->session().current()->result.has_value(), 120'000);
    const auto& best = window_->session().current()->result->candidates.front().prediction;
    emit view<views::CandidatesView>().candidateActivated(best.composition);
    QTRY_VERIFY_WITH_TIMEOUT(settled() && ttfa() == best.ttfa_us, 60'000);
}

void TestMainWindow::batchButtonsSwitchTheCase() {
    open();
    QTest::mouseClick(window_->findChild<QToolButton*>("batch8"), Qt::LeftButton);
    QCOMPARE(window_->session().current()->data->traced.batch, 8);
    QTRY_VERIFY_WITH_TIMEOUT(settled() && view<views::PredictionPanel>().state().batch == 8,
                             60'000);
}

void TestMainWindow::badFileLeavesTheWindowUsable() {
    open();
    const QString bad = dir_.filePath("bad_b1.json");
    QFile file(bad);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("no trace");
    file.close();
    window_->openFiles({bad});
    auto& messages = view<app::MessageBar>();
    QTRY_VERIFY_WITH_TIMEOUT(messages.isVisible(), 60'000);
    QVERIFY(messages.text().contains("bad_b1.json"));
    QCOMPARE(window_->session().cases().size(), std::size_t{2});
    window_->session().commit(graph::monolith(), "monolith");
    QTRY_VERIFY_WITH_TIMEOUT(settled(), 60'000);
}

void TestMainWindow::droppedRecordingsAreImported() {
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(qt(llama(32)))});
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window_.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window_.get(), &drop);
    QTRY_COMPARE_WITH_TIMEOUT(window_->session().cases().size(), std::size_t{1}, 60'000);
}

void TestMainWindow::picturesOfEveryPanelAreWritten() {
    open();
    const auto files = window_->exportPictures(dir_.path());
    QVERIFY(files);
    QCOMPARE(files->size(), 5);
    for (const QString& file : *files) {
        QVERIFY2(!QImage(file).isNull(), qPrintable(file));
    }
}

void TestMainWindow::shortcutsAreUnique() {
    QSet<QString> seen;
    for (const QAction* action : window_->findChildren<QAction*>()) {
        for (const auto& shortcut : action->shortcuts()) {
            QVERIFY2(!seen.contains(shortcut.toString()), qPrintable(shortcut.toString()));
            seen << shortcut.toString();
        }
    }
}

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"

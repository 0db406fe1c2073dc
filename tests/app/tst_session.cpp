// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session.h"
#include "tests/app/sample.h"

#include <QSignalSpy>
#include <QTemporaryDir>

using namespace kerf;
using namespace kerf::test;

class TestSession : public QObject {
    Q_OBJECT
private slots:
    void init();
    void importShowsTheFirstRecording();
    void importedProjectIsModifiedUntilSaved();
    void importOfAKnownRecordingKeepsTheProject();
    void openingABadFileKeepsTheProject();
    void lastPreviewOfADragWins();
    void commitIsOneUndoStep();
    void undoRestoresPredictionToo();
    void aCompositionHoldsAtEveryBatchSize();
    void searchShowsTheBestWhereNothingWasChosen();
    void searchKeepsWhatWasChosen();
    void cancelledSearchLeavesNoResult();
    void savedProjectHasTheComposition();

private:
    void importLlama(const std::vector<int>& batches);
    [[nodiscard]] graph::Composition cutInTheMiddle() const;
    [[nodiscard]] bool predicted() const {
        return session_->prediction() && !session_->predicting();
    }

    std::unique_ptr<app::Session> session_;
    QTemporaryDir dir_;
};

void TestSession::init() {
    session_ = std::make_unique<app::Session>();
}

void TestSession::importLlama(const std::vector<int>& batches) {
    std::vector<std::filesystem::path> files;
    for (const int batch : batches) {
        files.push_back(llama(batch));
    }
    QSignalSpy changed(session_.get(), &app::Session::projectChanged);
    session_->import(files);
    QVERIFY(changed.wait(60'000));
}

graph::Composition TestSession::cutInTheMiddle() const {
    auto composition = graph::monolith();
    const auto& sites = session_->current()->data->chain.sites;
    composition.cuts[static_cast<graph::SiteIndex>(sites.size() / 2)] = graph::Mode::Conventional;
    return composition;
}

void TestSession::importShowsTheFirstRecording() {
    importLlama({8, 1});
    QVERIFY(session_->current());
    QCOMPARE(session_->current()->data->traced.batch, 1);
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    QVERIFY(session_->prediction()->ttfa_us > 0);
}

void TestSession::importedProjectIsModifiedUntilSaved() {
    importLlama({1});
    QVERIFY(session_->isModified());
    QVERIFY(session_->save((dir_.path() + "/saved.kerf").toStdString()));
    QVERIFY(!session_->isModified());
}

void TestSession::importOfAKnownRecordingKeepsTheProject() {
    importLlama({1, 8});
    QSignalSpy failed(session_.get(), &app::Session::failed);
    session_->import({llama(8)});
    QVERIFY(failed.wait(60'000));
    QCOMPARE(session_->cases().size(), std::size_t{2});
}

void TestSession::openingABadFileKeepsTheProject() {
    importLlama({1});
    QSignalSpy failed(session_.get(), &app::Session::failed);
    session_->open((dir_.path() + "/none.kerf").toStdString());
    QVERIFY(failed.wait(60'000));
    QCOMPARE(session_->cases().size(), std::size_t{1});
    QVERIFY(session_->current());
}

void TestSession::lastPreviewOfADragWins() {
    importLlama({1});
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    const auto sites = static_cast<graph::SiteIndex>(session_->current()->data->chain.sites.size());
    graph::Composition last;
    for (graph::SiteIndex site = 0; site < sites; ++site) {
        last = graph::monolith();
        last.cuts[site] = graph::Mode::Megakernel;
        session_->preview(last);
    }
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    QVERIFY(session_->prediction()->composition == last);
    search::Predictor fresh(session_->current()->data);
    QCOMPARE(session_->prediction()->ttfa_us, fresh.predict(last, 0)->ttfa_us);
}

void TestSession::commitIsOneUndoStep() {
    importLlama({1});
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    const auto before = session_->composition();
    session_->preview(cutInTheMiddle());
    session_->commit(cutInTheMiddle(), "drag");
    QCOMPARE(session_->undoStack().count(), 1);
    session_->undoStack().undo();
    QVERIFY(session_->composition() == before);
    session_->undoStack().redo();
    QVERIFY(session_->composition() == cutInTheMiddle());
}

void TestSession::undoRestoresPredictionToo() {
    importLlama({1});
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    const double before = session_->prediction()->ttfa_us;
    session_->commit(cutInTheMiddle(), "cut");
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    QVERIFY(session_->prediction()->ttfa_us != before);
    session_->undoStack().undo();
    QTRY_VERIFY_WITH_TIMEOUT(predicted(), 60'000);
    QCOMPARE(session_->prediction()->ttfa_us, before);
}

void TestSession::aCompositionHoldsAtEveryBatchSize() {
    importLlama({1, 8});
    session_->commit(cutInTheMiddle(), "cut");
    const auto named = graph::named(session_->current()->data->chain, session_->composition());
    session_->setCurrent("llama-1b", 8);
    QCOMPARE(session_->current()->data->traced.batch, 8);
    QVERIFY(graph::named(session_->current()->data->chain, session_->composition()) == named);
}

void TestSession::searchShowsTheBestWhereNothingWasChosen() {
    importLlama({1});
    session_->searchCurrent();
    QTRY_VERIFY_WITH_TIMEOUT(session_->current()->result.has_value(), 120'000);
    const auto& best = session_->current()->result->candidates.front().prediction;
    QVERIFY(session_->composition() == best.composition);
    QCOMPARE(session_->undoStack().count(), 0);
}

void TestSession::searchKeepsWhatWasChosen() {
    importLlama({1});
    session_->commit(cutInTheMiddle(), "cut");
    session_->searchCurrent();
    QTRY_VERIFY_WITH_TIMEOUT(session_->current()->result.has_value(), 120'000);
    QVERIFY(session_->composition() == cutInTheMiddle());
}

void TestSession::cancelledSearchLeavesNoResult() {
    importLlama({1});
    QSignalSpy notice(session_.get(), &app::Session::notice);
    session_->searchCurrent();
    session_->job().cancel();
    QTRY_COMPARE_WITH_TIMEOUT(notice.count(), 1, 60'000);
    QVERIFY(!session_->current()->result);
}

void TestSession::savedProjectHasTheComposition() {
    const std::filesystem::path file = (dir_.path() + "/kept.kerf").toStdString();
    importLlama({1});
    session_->commit(cutInTheMiddle(), "cut");
    const auto composition = session_->composition();
    QVERIFY(session_->save(file));
    app::Session other;
    QSignalSpy changed(&other, &app::Session::projectChanged);
    other.open(file);
    QVERIFY(changed.wait(60'000));
    QVERIFY(other.composition() == composition);
    QVERIFY(!other.isModified());
}

QTEST_GUILESS_MAIN(TestSession)
#include "tst_session.moc"

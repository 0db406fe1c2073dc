// SPDX-License-Identifier: GPL-3.0-or-later
// The strip as a person uses it: mouse and keyboard.
#include "sample_case.h"
#include "views/composition_strip.h"

#include <QElapsedTimer>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>

using namespace kerf;
using namespace kerf::views;
using graph::Composition;
using graph::Mode;

Q_DECLARE_METATYPE(kerf::graph::Composition)

namespace {

/// QTest::mouseMove sends no button on this Qt version, so events are sent whole.
void send(QWidget& widget, QEvent::Type type, QPointF at, Qt::MouseButton button,
          Qt::MouseButtons buttons) {
    QMouseEvent event(type, at, widget.mapToGlobal(at), button, buttons, Qt::NoModifier);
    QApplication::sendEvent(&widget, &event);
}
void press(QWidget& w, QPointF at) {
    send(w, QEvent::MouseButtonPress, at, Qt::LeftButton, Qt::LeftButton);
}
void drag(QWidget& w, QPointF at) {
    send(w, QEvent::MouseMove, at, Qt::NoButton, Qt::LeftButton);
}
void hover(QWidget& w, QPointF at) {
    send(w, QEvent::MouseMove, at, Qt::NoButton, Qt::NoButton);
}
void release(QWidget& w, QPointF at) {
    send(w, QEvent::MouseButtonRelease, at, Qt::LeftButton, Qt::NoButton);
}

/// A strip of 11 equal ops (sites 0…9) with handles at 3 and 6.
struct Flat {
    CompositionStrip strip;
    Composition start{Mode::Conventional, {{3, Mode::Megakernel}, {6, Mode::Conventional}}};
    QSignalSpy edited{&strip, &CompositionStrip::compositionEdited};
    QSignalSpy committed{&strip, &CompositionStrip::compositionCommitted};

    Flat() {
        strip.resize(1100, 180);
        strip.setCase(test::flatCase(11));
        strip.setComposition(start);
        strip.show();
        strip.setFocus();
    }
    [[nodiscard]] QPointF at(graph::SiteIndex site) const {
        return {xOf(strip.stripLayout(), site), 40};
    }
    [[nodiscard]] std::vector<graph::SiteIndex> cuts() const {
        return handlesOf(strip.stripLayout(), strip.composition());
    }
    void select(graph::SiteIndex site) {
        press(strip, at(site));
        release(strip, at(site));
    }
};
using Cuts = std::vector<graph::SiteIndex>;

const StripPrimitive* find(const std::vector<StripPrimitive>& all, StripPrimitive::Kind kind) {
    for (const StripPrimitive& p : all) {
        if (p.kind == kind) {
            return &p;
        }
    }
    return nullptr;
}

} // namespace

class TestCompositionStrip : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { qRegisterMetaType<graph::Composition>(); }

    void draggingSnapsAndTheLastPlaceWins() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(5) + QPointF(20, 0));
        drag(f.strip, f.at(1) - QPointF(15, 0));
        release(f.strip, f.at(1) - QPointF(15, 0));
        QVERIFY(f.strip.composition() == withCutMoved(f.start, 3, 1));
    }

    void draggingReportsEachSnapAndCommitsOnce() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(4));
        drag(f.strip, f.at(4) + QPointF(3, 0));
        drag(f.strip, f.at(5));
        QCOMPARE(f.edited.count(), 2);
        QCOMPARE(f.committed.count(), 0);
        release(f.strip, f.at(5));
        QCOMPARE(f.committed.count(), 1);
        QVERIFY(f.committed[0][0].value<Composition>() == f.start);
        QVERIFY(f.committed[0][1].value<Composition>() == f.strip.composition());
    }

    void draggingPastTheNextHandleStopsThere() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(9));
        release(f.strip, f.at(9));
        QCOMPARE(f.cuts(), (Cuts{5, 6}));
    }

    void escapeRestoresWhatWasThere() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(1));
        QTest::keyClick(&f.strip, Qt::Key_Escape);
        QVERIFY(f.strip.composition() == f.start);
        drag(f.strip, f.at(0)); // the button is still down
        release(f.strip, f.at(0));
        QVERIFY(f.strip.composition() == f.start);
        QCOMPARE(f.committed.count(), 0);
        QVERIFY(f.edited.last()[0].value<Composition>() == f.start);
    }

    void releasingWhereItWasCommitsNothing() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(4));
        drag(f.strip, f.at(3));
        release(f.strip, f.at(3));
        QCOMPARE(f.committed.count(), 0);
    }

    void grabZoneIsEightPixels_data() {
        QTest::addColumn<double>("offset");
        QTest::addColumn<bool>("grabbed");
        QTest::newRow("7 px left") << -7.0 << true;
        QTest::newRow("7.9 px right") << 7.9 << true;
        QTest::newRow("9 px right") << 9.0 << false;
    }
    void grabZoneIsEightPixels() {
        QFETCH(double, offset);
        Flat f;
        press(f.strip, f.at(3) + QPointF(offset, 0));
        QTEST(f.strip.state().dragged.has_value(), "grabbed");
    }

    void theGhostShowsWhereTheHandleWas() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(5));
        const auto all = f.strip.primitives();
        const StripPrimitive* ghost = find(all, StripPrimitive::Kind::Ghost);
        QVERIFY(ghost != nullptr);
        QCOMPARE(ghost->rect.center().x(), f.at(3).x());
        release(f.strip, f.at(5));
        QVERIFY(find(f.strip.primitives(), StripPrimitive::Kind::Ghost) == nullptr);
    }

    void anAnswerDuringADragDoesNotEndIt() {
        Flat f;
        press(f.strip, f.at(3));
        drag(f.strip, f.at(4));
        f.strip.setComposition(f.strip.composition());
        drag(f.strip, f.at(5));
        release(f.strip, f.at(5));
        QCOMPARE(f.cuts(), (Cuts{5, 6}));
    }

    void arrowsMoveTheSelectedHandleByOneSite() {
        Flat f;
        f.select(3);
        QTest::keyClick(&f.strip, Qt::Key_Left);
        QTest::keyClick(&f.strip, Qt::Key_Left, Qt::ControlModifier);
        QCOMPARE(f.cuts(), (Cuts{1, 6}));
        QCOMPARE(f.committed.count(), 2);
    }

    void arrowsStopAtTheNeighbour() {
        Flat f;
        f.select(3);
        for (int i = 0; i < 5; ++i) {
            QTest::keyClick(&f.strip, Qt::Key_Right);
        }
        QCOMPARE(f.cuts(), (Cuts{5, 6}));
        QCOMPARE(f.committed.count(), 2);
    }

    void tabWalksThroughRegionsAndHandles() {
        Flat f;
        using Kind = StripSelection::Kind;
        const std::vector<Kind> expected{Kind::Region, Kind::Handle, Kind::Region, Kind::Handle,
                                         Kind::Region};
        for (const Kind kind : expected) {
            QTest::keyClick(&f.strip, Qt::Key_Tab);
            QCOMPARE(f.strip.state().selection.kind, kind);
        }
    }

    void splitAddsACutInTheSelectedRegion() {
        Flat f;
        QTest::keyClick(&f.strip, Qt::Key_Home); // the first region: sites 0 to 2
        QTest::keyClick(&f.strip, Qt::Key_S);
        QCOMPARE(f.cuts(), (Cuts{1, 3, 6}));
        QCOMPARE(f.strip.composition().cuts.at(1), Mode::Conventional);
        QCOMPARE(f.committed.count(), 1);
    }

    void splitUsesTheFreeSiteUnderThePointer() {
        Flat f;
        hover(f.strip, f.at(8) + QPointF(10, 60));
        QTest::keyClick(&f.strip, Qt::Key_S);
        QCOMPARE(f.cuts(), (Cuts{3, 6, 8}));
    }

    void mergeRemovesTheSelectedCut() {
        Flat f;
        f.select(6);
        QTest::keyClick(&f.strip, Qt::Key_M);
        QCOMPARE(f.cuts(), (Cuts{3}));
        QCOMPARE(f.committed.count(), 1);
    }

    void modeKeySwitchesTheRegion() {
        Flat f;
        QTest::keyClick(&f.strip, Qt::Key_Home);
        QTest::keyClick(&f.strip, Qt::Key_C);
        QCOMPARE(f.strip.composition().first_mode, Mode::Megakernel);
        QCOMPARE(f.committed.count(), 1);
    }

    void doubleClickOnABracketSwitchesItsMode() {
        Flat f;
        const QPointF middle = (f.at(4) + f.at(5)) / 2 - QPointF(0, 5);
        send(f.strip, QEvent::MouseButtonDblClick, middle, Qt::LeftButton, Qt::LeftButton);
        QCOMPARE(f.strip.composition().cuts.at(3), Mode::Conventional);
    }

    void doubleClickOnTheBlocksSplits() {
        Flat f;
        const QPointF block = f.at(8) + QPointF(4, 35);
        send(f.strip, QEvent::MouseButtonDblClick, block, Qt::LeftButton, Qt::LeftButton);
        QCOMPARE(f.cuts(), (Cuts{3, 6, 8}));
    }

    void aClickOnALoopCutsEachIteration() {
        CompositionStrip strip;
        strip.resize(1100, 190);
        const auto sample = test::sampleCase();
        strip.setCase(sample);
        strip.setComposition(graph::monolith());
        const auto again = test::siteOf(sample->chain, "talker_step loop/again");
        for (const StripPrimitive& p : strip.primitives()) {
            if (p.kind == StripPrimitive::Kind::LoopLabel &&
                strip.stripLayout().loops[static_cast<std::size_t>(p.index)].back_site == again) {
                press(strip, p.rect.center());
                release(strip, p.rect.center());
                break;
            }
        }
        QVERIFY(strip.composition() ==
                (Composition{Mode::Megakernel, {{again, Mode::Megakernel}}}));
    }

    void theKeyboardReachesLoops() {
        CompositionStrip strip;
        strip.resize(1100, 190);
        const auto sample = test::sampleCase();
        strip.setCase(sample);
        strip.setComposition(graph::monolith());
        QTest::keyClick(&strip, Qt::Key_Home);
        QTest::keyClick(&strip, Qt::Key_Down); // the prefill's layers
        QTest::keyClick(&strip, Qt::Key_C);
        const auto layers = test::siteOf(sample->chain, "prefill/each layer");
        QVERIFY(strip.composition().cuts.contains(layers));
        QTest::keyClick(&strip, Qt::Key_C);
        QVERIFY(strip.composition() == graph::monolith());
    }

    void opToolTipSaysKernelsTimeAndSource() {
        CompositionStrip strip;
        strip.resize(1100, 190);
        strip.setCase(test::sampleCase());
        const StripBlock& attention = strip.stripLayout().blocks[3]; // embed, norm, qkv, attn
        const QString text = strip.toolTipAt({(attention.left + attention.right) / 2, 70});
        for (const char* part : {"attn", "prefill", "12.8 µs × 28", "est.", "recorded duration"}) {
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
        }
    }

    void anotherCaseDropsCutsThatItLacks() {
        Flat f;
        f.strip.setCase(test::flatCase(5)); // sites 0…3
        QCOMPARE(f.cuts(), (Cuts{3}));
    }

    void nothingBreaksWithoutACase() {
        CompositionStrip strip;
        strip.resize(400, 150);
        QVERIFY(!strip.grab().isNull());
        strip.splitAtSelection();
        strip.mergeAtSelection();
        strip.toggleModeAtSelection();
        QTest::keyClick(&strip, Qt::Key_S);
        QVERIFY(strip.accessibleDescription().contains(QStringLiteral("Open a recording")));
    }

    void draggingOver200SitesRepaintsInUnder8Milliseconds() {
        CompositionStrip strip;
        strip.resize(1180, 180);
        strip.setCase(test::flatCase(201));
        strip.setComposition({Mode::Conventional, {{100, Mode::Megakernel}}});
        QImage image(strip.size(), QImage::Format_ARGB32_Premultiplied);
        strip.render(&image);
        press(strip, {xOf(strip.stripLayout(), 100), 40});
        std::vector<double> times;
        for (int site = 1; site < 200; ++site) {
            QElapsedTimer timer;
            timer.start();
            drag(strip, {xOf(strip.stripLayout(), site), 40});
            strip.render(&image);
            times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        std::nth_element(times.begin(), times.begin() + 99, times.end());
        qInfo("median %.2f ms a snap and repaint", times[99]);
        QVERIFY(times[99] < 8);
    }
};

QTEST_MAIN(TestCompositionStrip)
#include "tst_composition_strip.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_case.h"
#include "views/prediction_panel.h"

#include <QTest>
#include <limits>

using namespace kerf;
using namespace kerf::views;

class TestPredictionPanel : public QObject {
    Q_OBJECT

private slots:
    void numbers_data() {
        QTest::addColumn<double>("us");
        QTest::addColumn<double>("half");
        QTest::addColumn<QString>("number");
        QTest::addColumn<QString>("unit");
        QTest::addColumn<QString>("spread");
        QTest::newRow("ms") << 14'200.0 << 300.0 << "14.2"
                            << "ms TTFA"
                            << "± 0.3";
        QTest::newRow("µs") << 845.3 << 12.0 << "845"
                            << "µs TTFA"
                            << "± 12";
        QTest::newRow("s") << 1'234'000.0 << 50'000.0 << "1.23"
                           << "s TTFA"
                           << "± 0.05";
        QTest::newRow("no interval") << 2'000.0 << 0.0 << "2.00"
                                     << "ms TTFA"
                                     << "";
        QTest::newRow("narrow interval") << 14'200.0 << 10.0 << "14.2"
                                         << "ms TTFA"
                                         << "± < 0.1";
    }
    void numbers() {
        QFETCH(double, us);
        QFETCH(double, half);
        PredictionPanelState state;
        state.metric = QStringLiteral("TTFA");
        state.current = test::samplePrediction(graph::monolith(), us, 1, 1);
        state.current->ttfa_interval_us = {us - half, us + half};
        const PredictionTexts texts = textsOf(state);
        QTEST(texts.number, "number");
        QTEST(texts.unit, "unit");
        QTEST(texts.spread, "spread");
    }

    void rows_data() {
        QTest::addColumn<double>("difference");
        QTest::addColumn<bool>("tie");
        QTest::addColumn<double>("probability");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("note");
        QTest::addColumn<int>("tone");
        QTest::newRow("shorter is better") << -0.029 << false << 0.97 << "−2.9 %"
                                           << "P 0.97" << int(Tone::Better);
        QTest::newRow("longer is worse") << 0.2 << false << -1.0 << "+20.0 %"
                                         << "" << int(Tone::Worse);
        QTest::newRow("a tie is plain") << 0.008 << true << 0.4 << "+0.8 %"
                                        << "tie" << int(Tone::Plain);
        QTest::newRow("near certainty") << -0.5 << false << 0.9999 << "−50.0 %"
                                        << "P > 0.99" << int(Tone::Better);
    }
    void rows() {
        QFETCH(double, difference);
        QFETCH(bool, tie);
        QFETCH(double, probability);
        PredictionPanelState state;
        state.rows = {{QStringLiteral("x"), difference, tie,
                       probability < 0 ? std::nullopt : std::optional(probability)}};
        const PredictionTexts::Row row = textsOf(state).rows.at(0);
        QTEST(row.difference, "text");
        QTEST(row.note, "note");
        QTEST(int(row.tone), "tone");
    }

    void aRegionThatCannotRunIsSaid() {
        PredictionPanelState state;
        state.current = test::samplePrediction(graph::monolith(),
                                               std::numeric_limits<double>::infinity(), 1, 1);
        QVERIFY(textsOf(state).number.isEmpty());
        QVERIFY(textsOf(state).summary.contains(QStringLiteral("cannot run")));
    }

    void screenReadersHearItAll() {
        PredictionPanel panel;
        PredictionPanelState state;
        state.batch = 32;
        state.metric = QStringLiteral("TTFA");
        state.estimated = true;
        state.provenance = QStringLiteral("simulated");
        state.current = test::samplePrediction(graph::monolith(), 14'200, 1, 1);
        state.rows = {{QStringLiteral("conventional"), -0.48, false, {}}};
        panel.setState(state);
        for (const char* part : {"14.2 ms TTFA", "batch 32", "estimated", "conventional −48.0 %"}) {
            QVERIFY(panel.accessibleDescription().contains(QString::fromUtf8(part)));
        }
        QVERIFY(panel.toolTip().contains(QStringLiteral("simulated")));
        panel.resize(300, 140);
        QVERIFY(!panel.grab().isNull());
    }
};

QTEST_MAIN(TestPredictionPanel)
#include "tst_prediction_panel.moc"

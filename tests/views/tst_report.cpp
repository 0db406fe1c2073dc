// SPDX-License-Identifier: GPL-3.0-or-later
// The PDF is read back with poppler's tools; where they are missing only the file itself is
// checked.
#include "sample_timeline.h"
#include "views/report/report.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace kerf;
using namespace kerf::views;

class TestReport : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void isAPdf();
    void hasAtLeastThreePages();
    void saysTheWords_data();
    void saysTheWords();
    void pagesAreNumbered();
    void resultIsAttached();
    void withoutAResultNothingIsWritten();
    void unwritableFolderIsNamed();

private:
    QString output(const QString& program, const QStringList& arguments) const;
    QTemporaryDir folder_;
    QString pdf_;
};

namespace {

search::Candidate candidate(const search::Prediction& prediction, const char* regions,
                            double p_best) {
    search::Candidate result;
    result.prediction = prediction;
    result.regions = regions;
    result.uncertain = {prediction.ttfa_us, prediction.ttfa_interval_us, p_best};
    return result;
}

ReportData sampleReport() {
    auto theCase = test::smallCase();
    theCase->errors.fill(0.1);
    theCase->health = {"3 records were dropped"};
    ReportEntry entry;
    entry.the_case = theCase;
    entry.result.model = "small";
    entry.result.batch = 1;
    search::Prediction conventional = test::smallPrediction();
    conventional.composition = graph::fullyConventional();
    conventional.kind = graph::Kind::Conventional;
    conventional.ttfa_us = 62;
    conventional.parts = {62, 0, 0, 0, 0, 0, 0, 0, 0};
    entry.result.candidates = {candidate(test::smallPrediction(), "c M M", 0.98),
                               candidate(conventional, "c", 0.02)};
    ReportData data;
    data.project = "voice agent";
    data.date = "2026-12-01";
    data.version = "0.1.0";
    data.entries = {entry};
    data.timeline = timelineOf(*theCase, test::smallPrediction(), [](graph::Region) {
        return Expected<sim::RegionResult>(test::smallRegion());
    });
    data.categories = {
        {"small", "stable", "coverage 57 % at every batch size", {{1, true, 0.57, false, {}, {}}}}};
    data.settings = {{"objective", "first output"}};
    data.result_json = R"({"model": "small"})";
    return data;
}

} // namespace

QString TestReport::output(const QString& program, const QStringList& arguments) const {
    QProcess process;
    process.start(program, arguments);
    return process.waitForFinished() ? QString::fromUtf8(process.readAllStandardOutput())
                                     : QString();
}

void TestReport::initTestCase() {
    pdf_ = folder_.filePath("report.pdf");
    const auto written = writeReport(sampleReport(), pdf_.toStdString());
    QVERIFY2(written.has_value(), written ? "" : toString(written.error()).c_str());
}

void TestReport::isAPdf() {
    QFile file(pdf_);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.read(5) == "%PDF-");
}

void TestReport::hasAtLeastThreePages() {
    if (QStandardPaths::findExecutable("pdfinfo").isEmpty()) {
        QSKIP("skipped: pdfinfo (poppler-utils) is not installed");
    }
    const auto match = QRegularExpression("Pages:\\s+(\\d+)").match(output("pdfinfo", {pdf_}));
    QVERIFY(match.captured(1).toInt() >= 3);
}

void TestReport::saysTheWords_data() {
    QTest::addColumn<QString>("words");
    for (const char* words :
         {"Where should small be cut at batch 1?", "31.0 µs", "before each step",
          "−50.0 % against fully conventional", "first output", "Critical path", "stable",
          "launch gap", "measured for this test", "estimated for this test", "Fusion rules",
          "3 records were dropped", "Replay", "voice agent"}) {
        QTest::newRow(words) << QString::fromUtf8(words);
    }
}

void TestReport::saysTheWords() {
    if (QStandardPaths::findExecutable("pdftotext").isEmpty()) {
        QSKIP("skipped: pdftotext (poppler-utils) is not installed");
    }
    QFETCH(QString, words);
    const QString text = output("pdftotext", {"-layout", "-enc", "UTF-8", pdf_, "-"}).simplified();
    QVERIFY2(text.contains(words), qPrintable(text));
}

void TestReport::pagesAreNumbered() {
    if (QStandardPaths::findExecutable("pdftotext").isEmpty()) {
        QSKIP("skipped: pdftotext (poppler-utils) is not installed");
    }
    const QString text = output("pdftotext", {"-enc", "UTF-8", pdf_, "-"});
    const auto match = QRegularExpression("page 1 of (\\d+)").match(text);
    QVERIFY(match.hasMatch());
    QVERIFY(text.contains(QStringLiteral("page %1 of %1").arg(match.captured(1))));
}

void TestReport::resultIsAttached() {
    if (QStandardPaths::findExecutable("pdfdetach").isEmpty()) {
        QSKIP("skipped: pdfdetach (poppler-utils) is not installed");
    }
    const QString json = folder_.filePath("out.json");
    output("pdfdetach", {"-save", "1", "-o", json, pdf_});
    QFile file(json);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray(R"({"model": "small"})"));
}

void TestReport::withoutAResultNothingIsWritten() {
    const QString file = folder_.filePath("none.pdf");
    const auto written = writeReport(ReportData{}, file.toStdString());
    QVERIFY(!written.has_value());
    QVERIFY(!QFile::exists(file));
}

void TestReport::unwritableFolderIsNamed() {
    const QString file = folder_.filePath("no/such/report.pdf");
    const auto written = writeReport(sampleReport(), file.toStdString());
    QVERIFY(!written.has_value());
    QVERIFY(toString(written.error()).find("no/such") != std::string::npos);
}

QTEST_MAIN(TestReport)
#include "tst_report.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/atomic_file.h"
#include "core/base/error.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <iterator>

using namespace kerf;

class TestError : public QObject {
    Q_OBJECT
private slots:
    void aMessageReadsAsSentences_data();
    void aMessageReadsAsSentences();
    void aFileIsReplacedWhole();
    void aFailedWriteLeavesNoTrace();
};

void TestError::aMessageReadsAsSentences_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("where");
    QTest::addColumn<QString>("advice");
    QTest::addColumn<QString>("expected");
    QTest::newRow("all") << "is empty"
                         << "a.json"
                         << "Record again."
                         << "a.json: is empty. Record again.";
    QTest::newRow("ended") << "is empty."
                           << "a.json"
                           << "Record again."
                           << "a.json: is empty. Record again.";
    QTest::newRow("no place") << "cancelled"
                              << ""
                              << ""
                              << "cancelled";
    QTest::newRow("no advice") << "is empty"
                               << "a.json"
                               << ""
                               << "a.json: is empty";
}

void TestError::aMessageReadsAsSentences() {
    QFETCH(const QString, what);
    QFETCH(const QString, where);
    QFETCH(const QString, advice);
    const Error error{what.toStdString(), where.toStdString(), advice.toStdString()};
    QTEST(QString::fromStdString(toString(error)), "expected");
}

void TestError::aFileIsReplacedWhole() {
    const QTemporaryDir folder;
    const auto file = std::filesystem::path(folder.path().toStdString()) / "f";
    QVERIFY(writeFileAtomically(file, "a long first content"));
    QVERIFY(writeFileAtomically(file, "second"));
    std::ifstream stream(file);
    QCOMPARE(std::string(std::istreambuf_iterator<char>(stream), {}), std::string("second"));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

void TestError::aFailedWriteLeavesNoTrace() {
    const QTemporaryDir folder;
    const auto inside = std::filesystem::path(folder.path().toStdString()) / "f";
    std::filesystem::create_directory(inside); // a folder cannot be replaced by a file
    const auto written = writeFileAtomically(inside, "x");
    QVERIFY(!written);
    QVERIFY(toString(written.error()).find("/f") != std::string::npos);
    QCOMPARE(std::distance(std::filesystem::directory_iterator(inside.parent_path()), {}), 1);
}

QTEST_APPLESS_MAIN(TestError)
#include "tst_error.moc"

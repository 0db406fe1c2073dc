// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-record with ordinary programs and with a stand-in for CUPTI: the program's behaviour is its
// own, and what was recorded is in the file, however the program ends.
#include "core/trace/reader.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <cstdlib>
#include <sqlite3.h>

using namespace kerf;

namespace {

struct Run {
    int code = -1;
    bool crashed = false;
    QByteArray output;
    QByteArray errors;
};

constexpr int kMostMs = 30'000;

} // namespace

class TestRecorder : public QObject {
    Q_OBJECT

private:
    QTemporaryDir folder_;
    QString file_;

    Run record(const QStringList& program, const QStringList& options = {},
               const QProcessEnvironment& extra = {}, const QString& cupti = FAKE_CUPTI) {
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(extra);
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(KERF_RECORD, QStringList{"-o", file_, "--cupti", cupti} + options +
                                       QStringList{"--"} + program);
        Run run;
        if (!process.waitForFinished(kMostMs)) {
            process.kill();
            process.waitForFinished();
            return run;
        }
        run.code = process.exitCode();
        run.crashed = process.exitStatus() == QProcess::CrashExit;
        run.output = process.readAllStandardOutput();
        run.errors = process.readAllStandardError();
        return run;
    }
    std::int64_t kernelsIn(const QString& file) {
        Progress progress;
        const auto recording = trace::readRecording(file.toStdString(), progress);
        return recording ? static_cast<std::int64_t>(recording->activities.size()) : -1;
    }
    static std::int64_t rowsIn(const QString& file, const std::string& table) {
        std::int64_t rows = -1;
        sqlite3* database = nullptr;
        sqlite3_open(file.toUtf8(), &database);
        sqlite3_exec(
            database, ("SELECT count(*) FROM " + table).c_str(),
            [](void* out, int, char** values, char**) {
                *static_cast<std::int64_t*>(out) = std::atoll(values[0]);
                return 0;
            },
            &rows, nullptr);
        sqlite3_close(database);
        return rows;
    }
    static QProcessEnvironment with(const QString& name, const QString& value) {
        QProcessEnvironment extra;
        extra.insert(name, value);
        return extra;
    }

private slots:
    void init() {
        static int count = 0;
        file_ = folder_.filePath(QString("run%1.kerfrec").arg(++count));
    }

    void programsWithoutCudaRunUnchanged() {
        const Run run = record({"sh", "-c", "echo out; echo err >&2; exit 7"});
        QCOMPARE(run.code, 7);
        QCOMPARE(run.output, QByteArray("out\n"));
        QVERIFY(run.errors.startsWith("err\n"));
        QVERIFY(run.errors.contains("no CUDA context"));
        QVERIFY(!QFile::exists(file_));
    }
    void programsThatDoNotExistAreNamed() {
        const Run run = record({"no-such-program"});
        QCOMPARE(run.code, 127);
        QVERIFY(run.errors.contains("no-such-program: No such file or directory"));
    }
    void inputReachesTheProgram() {
        QProcess process;
        process.start(KERF_RECORD, {"-o", file_, "--", "cat"});
        process.write("through");
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(kMostMs));
        QCOMPARE(process.readAllStandardOutput(), QByteArray("through"));
    }

    void everyEndIsTheProgramsOwn_data() {
        QTest::addColumn<QString>("way");
        QTest::addColumn<bool>("bySignal");
        QTest::addColumn<int>("code"); // exit code, or signal
        QTest::newRow("return") << "return" << false << 0;
        QTest::newRow("exit") << "exit" << false << 7;
        QTest::newRow("_exit") << "_exit" << false << 8;
        QTest::newRow("abort") << "abort" << true << SIGABRT;
        QTest::newRow("exception") << "throw" << true << SIGABRT;
        QTest::newRow("SIGKILL") << "kill" << true << SIGKILL;
        QTest::newRow("fork") << "fork" << false << 0;
    }
    void everyEndIsTheProgramsOwn() {
        QFETCH(QString, way);
        QFETCH(bool, bySignal);
        QFETCH(int, code);
        const Run run = record({RECORDED_PROGRAM, way});
        QCOMPARE(run.crashed, bySignal);
        QCOMPARE(run.code, code);
        QCOMPARE(run.output, QByteArray("output of the program\n"));
        QCOMPARE(kernelsIn(file_), 100);
    }
    void bothPassesAreInOneFile() {
        const Run run = record({RECORDED_PROGRAM, "return"}, {"--passes=untraced,node"});
        QCOMPARE(run.code, 0);
        QCOMPARE(run.output.count("output of the program"), 2);
        QCOMPARE(kernelsIn(file_), 100);
        QVERIFY(!QFile::exists(file_ + ".untraced"));
    }
    void aFailedFirstPassIsTheLast() {
        const Run run = record({RECORDED_PROGRAM, "exit"}, {"--passes=untraced,node"});
        QCOMPARE(run.code, 7);
        QCOMPARE(run.output.count("output of the program"), 1);
    }
    void theSecondPassHasTheSameSignals() {
        const Run run =
            record({"sh", "-c", "grep SigIgn /proc/self/status"}, {"--passes=untraced,node"});
        const auto lines = run.output.split('\n');
        QCOMPARE(lines.size(), 3); // two, and what follows the last line's end
        QCOMPARE(lines[0], lines[1]);
    }
    void aSignalToTheRecorderReachesTheProgram() {
        QProcess process;
        process.start(KERF_RECORD,
                      {"-o", file_, "--cupti", FAKE_CUPTI, "--", RECORDED_PROGRAM, "wait"});
        QVERIFY(process.waitForStarted());
        QTest::qWait(1200); // beyond a flush and a commit
        process.terminate();
        QVERIFY(process.waitForFinished(kMostMs));
        QCOMPARE(process.exitStatus(), QProcess::CrashExit);
        QCOMPARE(process.exitCode(), SIGTERM);
        QCOMPARE(kernelsIn(file_), 100);
    }
    void aChildProcessHasItsOwnFile() {
        const Run run = record({RECORDED_PROGRAM, "child"});
        QCOMPARE(run.code, 0);
        QCOMPARE(kernelsIn(file_), 100);
        const auto others =
            QDir(folder_.path()).entryList({QFileInfo(file_).completeBaseName() + ".*.kerfrec"});
        QCOMPARE(others.size(), 1);
        QCOMPARE(kernelsIn(folder_.filePath(others.front())), 30);
    }

    void aProgramUnderAShellIsNamedAndItsFileWhole() {
        const Run run = record({"sh", "-c", QString("%1 kill; true").arg(RECORDED_PROGRAM)});
        QCOMPARE(run.code, 0);
        QVERIFY2(!run.errors.contains("nothing was recorded"), run.errors);
        const QFileInfo main(file_);
        const auto files = QDir(folder_.path()).entryList({main.completeBaseName() + ".*"});
        QCOMPARE(files.size(), 1); // no -wal beside it
        QVERIFY2(run.errors.contains(files[0].toUtf8() + ": 100 kernels"), run.errors);
        QCOMPARE(kernelsIn(folder_.filePath(files[0])), 100);
    }
    void manyRecordsAllArrive() {
        const Run run = record({RECORDED_PROGRAM, "return", "200000"});
        QCOMPARE(run.code, 0);
        QCOMPARE(kernelsIn(file_), 200'000);
        QVERIFY2(!run.errors.contains("incomplete"), run.errors);
    }
    void clonesOfALargeGraphAllArrive() {
        const Run run = record({RECORDED_PROGRAM, "clone", "50000"});
        QCOMPARE(run.code, 0);
        QCOMPARE(rowsIn(file_, "graph_clones"), 50'000);
        QVERIFY2(!run.errors.contains("incomplete"), run.errors);
    }
    void aBufferThatComesTwiceCountsOnce() {
        const Run run =
            record({RECORDED_PROGRAM, "return", "100000"}, {}, with("FAKE_CUPTI_TWICE", "1"));
        QCOMPARE(run.code, 0);
        QCOMPARE(kernelsIn(file_), 100'000);
    }
    void aFlushThatHangsDoesNotHoldTheProgramUp() {
        const Run run = record({RECORDED_PROGRAM, "exit"}, {}, with("FAKE_CUPTI_HANG", "1"));
        QCOMPARE(run.code, 7);
        QVERIFY2(run.errors.contains("did not finish its last flush"), run.errors);
        QCOMPARE(kernelsIn(file_), 100);
    }
    void recordsThatNoBufferHoldsAreCounted() {
        // 8 MB are two buffers of 4 MB, each of 19,418 records of 216 bytes: more come at once.
        const Run run = record({RECORDED_PROGRAM, "return", "2000000"}, {"--buffer-mb", "8"});
        QCOMPARE(run.code, 0);
        Progress progress;
        const auto recording = trace::readRecording(file_.toStdString(), progress);
        QVERIFY(recording);
        const auto kept = static_cast<std::int64_t>(recording->activities.size());
        QVERIFY(kept > 0);
        QVERIFY(recording->health.dropped > 0);
        QVERIFY(kept + recording->health.dropped >= 2'000'000);
        QVERIFY2(run.errors.contains("incomplete"), run.errors);
    }
    void whatCuptiDroppedIsTold() {
        const Run run = record({RECORDED_PROGRAM, "return"}, {}, with("FAKE_CUPTI_DROPPED", "12"));
        QCOMPARE(run.code, 0);
        QVERIFY2(run.errors.contains("12"), run.errors);
        Progress progress;
        QCOMPARE(trace::readRecording(file_.toStdString(), progress)->health.dropped, 12);
    }

    void withoutRecordingTheProgramRunsOn_data() {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("said");
        QTest::newRow("another profiler") << "FAKE_CUPTI_SUBSCRIBE"
                                          << "other"
                                          << "somebody else";
        QTest::newRow("driver too old") << "FAKE_CUPTI_SUBSCRIBE"
                                        << "driver"
                                        << "newer than";
        QTest::newRow("CUPTI too old") << "FAKE_CUPTI_VERSION"
                                       << "120000"
                                       << "CUDA 13.0";
    }
    void withoutRecordingTheProgramRunsOn() {
        QFETCH(QString, variable);
        QFETCH(QString, value);
        QFETCH(QString, said);
        const Run run = record({RECORDED_PROGRAM, "exit"}, {}, with(variable, value));
        QCOMPARE(run.code, 7);
        QCOMPARE(run.output, QByteArray("output of the program\n"));
        QVERIFY2(run.errors.contains(said.toUtf8()), run.errors);
        QCOMPARE(run.errors.count("nothing is recorded"), 1);
    }
    void withoutCuptiTheProgramRunsOn() {
        const Run run = record({RECORDED_PROGRAM, "exit"}, {}, {}, "/no/such/libcupti.so");
        QCOMPARE(run.code, 7);
        QVERIFY2(run.errors.contains("CUPTI was not found"), run.errors);
    }
    void anUnwritablePathIsToldOnce() {
        file_ = "/proc/no/such/folder/run.kerfrec";
        const Run run = record({RECORDED_PROGRAM, "exit"});
        QCOMPARE(run.code, 7);
        QVERIFY2(run.errors.contains(file_.toUtf8()), run.errors);
    }
    void aFullDiskEndsTheRecordingNotTheProgram() {
        // 200,000 kernels take more than the 1 MB that any file may have.
        const Run run = record(
            {"sh", "-c", QString("ulimit -f 1024; exec %1 exit 200000").arg(RECORDED_PROGRAM)});
        QCOMPARE(run.code, 7);
        QCOMPARE(run.output, QByteArray("output of the program\n"));
        QVERIFY2(run.errors.contains("writing"), run.errors);
    }
    void aFileThatExistsIsKept() {
        QFile file(file_);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("precious");
        file.close();
        const Run run = record({RECORDED_PROGRAM, "exit"});
        QCOMPARE(run.code, 125);
        QVERIFY2(run.errors.contains("--force"), run.errors);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("precious"));
        file.close();
        QCOMPARE(record({RECORDED_PROGRAM, "exit"}, {"--force"}).code, 7);
        QCOMPARE(kernelsIn(file_), 100);
    }
    void nothingIsRecordedBeforeTheDelay() {
        const Run run = record({RECORDED_PROGRAM, "return"}, {"--delay-ms", "60000"});
        QCOMPARE(run.code, 0);
        QCOMPARE(kernelsIn(file_), -1); // a recording without GPU work
    }
};

QTEST_GUILESS_MAIN(TestRecorder)
#include "tst_recorder.moc"

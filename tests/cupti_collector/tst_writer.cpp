// SPDX-License-Identifier: GPL-3.0-or-later
// The writer thread: what reaches the file, what is counted instead, and what it says.
#include "cupti_collector/store/writer.h"

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kerf::collector;

namespace {

struct Folder {
    QTemporaryDir dir;
    [[nodiscard]] std::string path(const char* name) const {
        return dir.filePath(name).toStdString();
    }
};

void addKernels(RowBatch& batch, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        batch.kernels.push_back({{.start_ns = 1'764'000'000'000'000'000 + 4000 * i,
                                  .end_ns = 1'764'000'000'000'002'000 + 4000 * i,
                                  .stream = 7,
                                  .correlation = 100'000 + static_cast<std::uint32_t>(i / 400),
                                  .graph = 6,
                                  .graph_node = 0x6'0000'0000 + i % 400},
                                 1});
    }
}

} // namespace

class TestWriter : public QObject {
    Q_OBJECT
private slots:
    void aTakenPathLeadsToTheNext() {
        const Folder folder;
        Writer first({.paths = {folder.path("a"), folder.path("b")}});
        Writer second({.paths = {folder.path("a"), folder.path("b")}});
        QCOMPARE(std::set({first.path(), second.path()}),
                 std::set({folder.path("a"), folder.path("b")}));
    }
    void anUnwritablePathIsSaidOnce() {
        std::vector<std::string> lines;
        Writer writer({.paths = {"/proc/no/such/run.kerfrec"},
                       .complain = [&](const std::string& line) { lines.push_back(line); }});
        writer.push([](RowBatch& batch) { addKernels(batch, 3); });
        writer.push([](RowBatch& batch) { addKernels(batch, 4); });
        writer.finish();
        QCOMPARE(lines.size(), 1U);
        QVERIFY(lines[0].starts_with("cannot write /proc/no/such/run.kerfrec: No such file"));
        QCOMPARE(writer.loss().not_written, 7U);
    }
    void jobsStillRunAfterAFailure() {
        Writer writer({.paths = {"/proc/no/such/run.kerfrec"}});
        std::atomic<int> runs = 0; // they hand buffers back
        writer.push([&](RowBatch&) { ++runs; });
        writer.finish();
        QCOMPARE(runs.load(), 1);
    }
    void aFullQueueRefusesAndCounts() {
        const Folder folder;
        Writer writer({.paths = {folder.path("a")}, .queue_capacity = 2});
        QVERIFY(!writer.path().empty());
        std::atomic<bool> entered = false;
        std::atomic<bool> go = false;
        writer.push([&](RowBatch&) {
            entered = true;
            while (!go) {
                std::this_thread::yield();
            }
        });
        while (!entered) {
            std::this_thread::yield();
        }
        QVERIFY(writer.push([](RowBatch&) {}));
        QVERIFY(writer.push([](RowBatch&) {}));
        QVERIFY(!writer.push([](RowBatch&) {}));
        go = true;
        writer.finish();
        QCOMPARE(writer.loss().queue_full, 1U);
    }
    void lackOfMemoryInAJobIsCounted() {
        const Folder folder;
        Writer writer({.paths = {folder.path("a")}});
        writer.push([](RowBatch&) { throw std::bad_alloc(); });
        writer.finish();
        QCOMPARE(writer.loss().out_of_memory, 1U);
    }
    void foldingTheLogInDoesNotDisturbTheWriter() {
        // kerf-record does so when the program has ended; a child of it may still record
        const Folder folder;
        const pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 200; ++i) {
                (void)recoverDatabase(folder.path("a"));
                usleep(2000);
            }
            _exit(0);
        }
        Writer writer({.paths = {folder.path("a")}, .rows_per_commit = 100});
        for (int i = 0; i < 400; ++i) {
            writer.push([](RowBatch& batch) { addKernels(batch, 100); });
            usleep(1000);
        }
        writer.flush();
        int status = 0;
        waitpid(child, &status, 0);
        writer.finish();
        QVERIFY(writer.loss() == Loss{});
    }
    void afterFinishNothingIsTaken() {
        const Folder folder;
        Writer writer({.paths = {folder.path("a")}});
        writer.finish();
        QVERIFY(!writer.push([](RowBatch&) {}));
        writer.flush();
        writer.finish();
        QVERIFY(!std::filesystem::exists(folder.path("a") + "-wal"));
    }
    void aFileSizeLimitIsAnErrorNotASignal() {
        const Folder folder;
        const pid_t child = fork();
        if (child == 0) {
            const rlimit limit{400'000, 400'000};
            setrlimit(RLIMIT_FSIZE, &limit);
            std::string line;
            Writer writer({.paths = {folder.path("a")},
                           .complain = [&](const std::string& text) { line += text; }});
            for (int i = 0; i < 50; ++i) {
                writer.push([](RowBatch& batch) { addKernels(batch, 2000); });
            }
            writer.finish();
            _exit(line.starts_with("writing " + folder.path("a") + " failed") &&
                          writer.loss().not_written > 0
                      ? 3
                      : 4);
        }
        int status = 0;
        waitpid(child, &status, 0);
        QVERIFY(WIFEXITED(status));
        QCOMPARE(WEXITSTATUS(status), 3);
    }
    void theProgramsSignalHandlersRunElsewhere() {
        const Folder folder;
        Writer writer({.paths = {folder.path("a")}});
        bool blocked = false;
        writer.push([&](RowBatch&) {
            sigset_t set;
            pthread_sigmask(SIG_SETMASK, nullptr, &set);
            blocked = sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGPROF) == 1;
        });
        writer.finish();
        QVERIFY(blocked);
    }
    void aMillionKernelsAreWrittenWithoutLoss() {
        // a measurement, printed; the limit only catches a collapse on a slow, shared machine
        const Folder folder;
        Writer writer({.paths = {folder.path("a")}});
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 50; ++i) {
            writer.push([](RowBatch& batch) { addKernels(batch, 20'000); });
        }
        writer.finish();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        qInfo("%.0f kernel rows/s, %.1f bytes a row", 1e6 / seconds.count(),
              static_cast<double>(std::filesystem::file_size(folder.path("a"))) / 1e6);
        QVERIFY(seconds.count() < 20);
        QVERIFY(writer.loss() == Loss{});
    }
};

QTEST_APPLESS_MAIN(TestWriter)
#include "tst_writer.moc"

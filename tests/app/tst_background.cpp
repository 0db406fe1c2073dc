// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/background.h"

#include <QSemaphore>
#include <QSignalSpy>
#include <QTest>

using namespace kerf;
using namespace kerf::app;

class TestBackground : public QObject {
    Q_OBJECT
private slots:
    void newestWaitingRequestReplacesOlderOnes() {
        LatestRunner runner;
        QSemaphore started;
        QSemaphore goOn;
        std::vector<int> answers;
        runner.submit([&]() -> Deliver {
            started.release();
            goOn.acquire();
            return [&] { answers.push_back(0); };
        });
        started.acquire(); // the first runs; the next three wait
        for (int i = 1; i <= 3; ++i) {
            runner.submit([&, i]() -> Deliver { return [&, i] { answers.push_back(i); }; });
        }
        goOn.release();
        QTRY_COMPARE(answers, (std::vector<int>{0, 3}));
        QVERIFY(!runner.busy());
    }
    void droppedRequestsAreNeverAnswered() {
        LatestRunner runner;
        QSemaphore started;
        QSemaphore goOn;
        std::vector<int> answers;
        runner.submit([&]() -> Deliver {
            started.release();
            goOn.acquire();
            return [&] { answers.push_back(0); };
        });
        started.acquire();
        runner.drop();
        runner.submit([&]() -> Deliver { return [&] { answers.push_back(1); }; });
        goOn.release();
        QTRY_COMPARE(answers, std::vector<int>{1});
    }
    void anotherJobDropsTheResultOfTheOneBefore() {
        Job job;
        QSemaphore goOn;
        std::vector<int> answers;
        job.start("first", [&](Progress&) -> Deliver {
            goOn.acquire();
            return [&] { answers.push_back(1); };
        });
        job.start("second", [&](Progress&) -> Deliver { return [&] { answers.push_back(2); }; });
        goOn.release();
        QTRY_COMPARE(answers, std::vector<int>{2});
        QTRY_VERIFY(!job.running());
    }
    void cancellingReachesTheWork() {
        Job job;
        bool seen = false;
        job.start("endless", [&](Progress& progress) -> Deliver {
            while (progress.step(0.5, "working")) {
                QThread::msleep(1);
            }
            return [&] { seen = true; };
        });
        job.cancel();
        QTRY_VERIFY(seen);
    }
    void progressIsReportedOnTheGuiThread() {
        Job job;
        QSignalSpy spy(&job, &Job::progressed);
        QSemaphore goOn;
        job.start("work", [&](Progress& progress) -> Deliver {
            progress.step(0.25, "quarter");
            goOn.acquire();
            return [] {};
        });
        QTRY_COMPARE(spy.count(), 1);
        QCOMPARE(spy.first().at(0).toDouble(), 0.25);
        goOn.release();
        QTRY_VERIFY(!job.running());
    }
};

QTEST_GUILESS_MAIN(TestBackground)
#include "tst_background.moc"

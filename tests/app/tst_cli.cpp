// SPDX-License-Identifier: GPL-3.0-or-later
// The built program, as scripts use it: exit codes, JSON, messages.
#include "tests/app/sample.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <csignal>

using namespace kerf::test;

namespace {

struct Run {
    int code = -1;
    QByteArray out;
    QByteArray err;
};

Run runKerf(const QStringList& arguments,
            const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(KERF_BINARY, arguments);
    if (!process.waitForFinished(300'000) || process.exitStatus() != QProcess::NormalExit) {
        return {};
    }
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QJsonValue json(const Run& run) {
    const auto document = QJsonDocument::fromJson(run.out);
    return document.isArray() ? QJsonValue(document.array()) : QJsonValue(document.object());
}

QByteArray contentOf(const std::filesystem::path& path) {
    QFile file(qt(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& content) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
}

} // namespace

class TestCli : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void helpExitsWithZero_data();
    void helpExitsWithZero();
    void wrongUsageExitsWithOne_data();
    void wrongUsageExitsWithOne();
    void badInputExitsWithTwoAndOneLine_data();
    void badInputExitsWithTwoAndOneLine();
    void infoCountsKernelsAsTheRunsFileDoes();
    void infoOfAProjectNamesStagesAndLayers();
    void exportIsARecordingAgain();
    void exportToCsvHasARowAnEvent();
    void opsTellTheirTierAndSource();
    void replayHoldsAgainstTheMeasurement();
    void replayWithoutMeasurementIsNull();
    void searchReportsEveryKind();
    void searchWithoutMixedHasNone();
    void bestIsTheFirstCandidate();
    void categoriesNameTheModel();
    void predictOfBestCutsEqualsTheSearch();
    void csvHasAHeaderAndARowACandidate();
    void unknownCutIsNamed();
    void windowWithoutDisplaySaysWhatToDo();
    void interruptCancels();
    void manifestOfPublicTracesHolds();

private:
    QTemporaryDir dir_;
    QString project_; ///< llama-1b at 1, 8, 32 with untraced timings
};

void TestCli::initTestCase() {
    QVERIFY(dir_.isValid());
    project_ = dir_.filePath("llama.kerf");
    const Run run = runKerf({"import", qt(llama(1)), qt(llama(8)), qt(llama(32)), "--untraced",
                             qt(sampleDir() / "runs.json"), "-o", project_});
    QVERIFY2(run.code == 0, run.err);
}

void TestCli::helpExitsWithZero_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("program") << QStringList{"--help"};
    QTest::newRow("version") << QStringList{"--version"};
    for (const char* verb :
         {"import", "info", "export", "replay", "predict", "search", "categories", "report"}) {
        QTest::newRow(verb) << QStringList{verb, "--help"};
    }
}

void TestCli::helpExitsWithZero() {
    QFETCH(QStringList, arguments);
    const Run run = runKerf(arguments);
    QCOMPARE(run.code, 0);
    QVERIFY(!run.out.isEmpty());
}

void TestCli::wrongUsageExitsWithOne_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("no project") << QStringList{"search"};
    QTest::newRow("unknown option") << QStringList{"search", "p.kerf", "--frobnicate"};
    QTest::newRow("two formats") << QStringList{"replay", "p.kerf", "--json", "--csv"};
    QTest::newRow("negative batch") << QStringList{"search", "p.kerf", "--batch", "-3"};
    QTest::newRow("unknown policy") << QStringList{"search", "p.kerf", "--policy", "random"};
    QTest::newRow("export as nothing") << QStringList{"export", "r.json", "-o", "x"};
    QTest::newRow("export as both")
        << QStringList{"export", "r.json", "--csv", "--perfetto", "-o", "x"};
    QTest::newRow("cuts and name")
        << QStringList{"predict", "p.kerf", "--cuts", "a", "--composition", "monolith"};
}

void TestCli::wrongUsageExitsWithOne() {
    QFETCH(QStringList, arguments);
    const Run run = runKerf(arguments);
    QCOMPARE(run.code, 1);
    QVERIFY(run.err.startsWith("kerf: "));
}

void TestCli::exportIsARecordingAgain() {
    const QString out = dir_.filePath("exported.json");
    const Run run = runKerf({"export", qt(llama(1)), "--perfetto", "-o", out});
    QCOMPARE(run.code, 0);
    const auto before = json(runKerf({"info", qt(llama(1)), "--json"})).toObject();
    const auto after = json(runKerf({"info", out, "--json"})).toObject();
    for (const char* key : {"kernels", "memcpys", "memsets", "kernel_time_ns", "gpu_span",
                            "stream_list", "distinct_kernel_names", "base_time_ns"}) {
        QVERIFY2(before.contains(key), key);
        QCOMPARE(after[key], before[key]);
    }
}
void TestCli::exportToCsvHasARowAnEvent() {
    const QString out = dir_.filePath("exported.csv");
    const Run run = runKerf({"export", qt(llama(1)), "--csv", "-o", out});
    QCOMPARE(run.code, 0);
    const auto kernels = json(runKerf({"info", qt(llama(1)), "--json"})).toObject()["kernels"];
    QVERIFY(kernels.toInt() > 0);
    QCOMPARE(contentOf(out.toStdString()).count("\nkernel,"), kernels.toInt());
}
void TestCli::badInputExitsWithTwoAndOneLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("named"); // what the message must name
    const QByteArray gz = contentOf(llama(1));
    const auto file = [&](const char* name, const QByteArray& content) {
        const QString path = dir_.filePath(name);
        write(path, content);
        return path;
    };
    const QString truncated = file("truncated_b1.json.gz", gz.left(gz.size() / 2));
    const QString text = file("text_b1.json", "this is no trace\n");
    const QString empty = file("empty_b1.json", "");
    const QString half =
        file("half_b1.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "na)");
    const QString none = file("none_b1.json", R"({"traceEvents": []})");
    const QString moved =
        file("moved.kerf",
             contentOf(project_.toStdString()).replace("llama-1b_b8.json.gz", "gone_b8.json.gz"));
    const QString newer =
        file("newer.kerf",
             R"({"kerf_project": 99, "version": 99, "format": "kerf-project", "recordings": []})");
    const QString broken = file("broken.kerf", "{\"version\": ");
    QTest::newRow("counters of nothing")
        << QStringList{"import", qt(llama(1)), "--ncu", "counters.csv", "-o", "x.kerf"}
        << "MODEL:BATCH:FILE";
    QTest::newRow("benchmarks that are none")
        << QStringList{"import", qt(llama(1)), "--bench", text, "-o", "x.kerf"} << "text_b1.json";
    QTest::newRow("truncated gzip") << QStringList{"info", truncated} << "truncated_b1.json.gz";
    QTest::newRow("text file") << QStringList{"info", text} << "text_b1.json";
    QTest::newRow("empty file") << QStringList{"info", empty} << "empty_b1.json";
    QTest::newRow("truncated JSON") << QStringList{"info", half} << "half_b1.json";
    QTest::newRow("no kernels") << QStringList{"info", none} << "none_b1.json";
    QTest::newRow("missing file") << QStringList{"info", dir_.filePath("nowhere.json")}
                                  << "nowhere.json";
    QTest::newRow("import of text")
        << QStringList{"import", text, "-o", dir_.filePath("x.kerf")} << "text_b1.json";
    QTest::newRow("no model in the name")
        << QStringList{"import", file("trace.json", "{}"), "-o", dir_.filePath("x.kerf")}
        << "trace.json";
    QTest::newRow("missing recording") << QStringList{"search", moved} << "gone_b8.json.gz";
    QTest::newRow("unknown version") << QStringList{"replay", newer} << "newer.kerf";
    QTest::newRow("broken project") << QStringList{"replay", broken} << "broken.kerf";
    QTest::newRow("missing project")
        << QStringList{"search", dir_.filePath("no.kerf")} << "no.kerf";
    QTest::newRow("export onto itself")
        << QStringList{"export", text, "--csv", "-o", text} << "text_b1.json";
    QTest::newRow("export to nowhere")
        << QStringList{"export", qt(llama(1)), "--csv", "-o", "/proc/no/x.csv"} << "/proc/no/x.csv";
    QTest::newRow("export of text")
        << QStringList{"export", text, "--perfetto", "-o", dir_.filePath("x.json")}
        << "text_b1.json";
    QTest::newRow("no such model")
        << QStringList{"search", project_, "--model", "gpt"} << "llama-1b at batch 1, 8, 32";
    QTest::newRow("no such window file") << QStringList{dir_.filePath("no.kerf")} << "no.kerf";
}

void TestCli::badInputExitsWithTwoAndOneLine() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, named);
    const Run run = runKerf(arguments);
    QVERIFY2(run.code == 2, run.err);
    QVERIFY2(run.err.startsWith("kerf: "), run.err);
    QCOMPARE(run.err.count('\n'), 1);
    QVERIFY2(run.err.contains(named.toUtf8()), run.err);
    QVERIFY(run.out.isEmpty());
}

void TestCli::infoCountsKernelsAsTheRunsFileDoes() {
    const auto runs =
        QJsonDocument::fromJson(contentOf(sampleDir() / "runs.json")).object()["runs"].toObject();
    const Run run = runKerf({"info", qt(llama(8)), "--json"});
    QCOMPARE(run.code, 0);
    QCOMPARE(json(run)["kernels"].toInt(),
             runs["llama-1b_b8"].toObject()["kernels_in_trace"].toInt());
}

void TestCli::infoOfAProjectNamesStagesAndLayers() {
    const Run run = runKerf({"info", project_, "--json"});
    QCOMPARE(run.code, 0);
    const auto recordings = json(run)["recordings"].toArray();
    QCOMPARE(recordings.size(), 3);
    for (const auto& recording : recordings) {
        for (const auto& stage : recording.toObject()["stages"].toArray()) {
            QCOMPARE(stage.toObject()["layers"].toInt(), 16); // llama-1b has 16 decoder layers
        }
    }
}

void TestCli::opsTellTheirTierAndSource() {
    const QString bench = dir_.filePath("bench.json");
    write(bench, R"({"format": "kerf-bench", "version": 1, "model": "llama-1b",
        "source": {"gpu": "NVIDIA H200", "driver": "1", "date": "2026", "how": "made up"},
        "ops": [{"key": "decode/layer/product.4", "batch": 1, "tiles": 500, "load_bytes": 1000,
            "footprint": {"threads": 256, "registers": 128, "shared_bytes": 196608},
            "compute_us": 2, "spread_us": 0.5}]})");
    const QString project = dir_.filePath("benchmarked.kerf");
    QCOMPARE(runKerf({"import", qt(llama(1)), "--bench", bench, "-o", project}).code, 0);
    const Run run = runKerf({"info", project, "--ops", "--json"});
    QCOMPARE(run.code, 0);
    QStringList benchmarked;
    for (const auto& value : json(run).toArray()) {
        const auto op = value.toObject();
        if (op["tier"] == "benchmarked") {
            benchmarked << op["key"].toString();
            QCOMPARE(op["tiles"].toInt(), 500);
            QCOMPARE(op["load_bytes"].toDouble(), 1000.0);
            QCOMPARE(op["compute_us"].toDouble(), 2.0);
            QCOMPARE(op["relative_error"].toDouble(), 0.25);
            QVERIFY(op["source"].toString().contains("bench.json, ops[0]"));
        } else {
            QVERIFY(op["source"].toString().startsWith("est."));
        }
    }
    QCOMPARE(benchmarked, QStringList{"decode/layer/product.4"});
}

void TestCli::replayHoldsAgainstTheMeasurement() {
    const auto runs =
        QJsonDocument::fromJson(contentOf(sampleDir() / "runs.json")).object()["runs"].toObject();
    const Run run = runKerf({"replay", project_, "--json"});
    QCOMPARE(run.code, 0);
    const auto rows = json(run).toArray();
    QCOMPARE(rows.size(), 3);
    for (const auto& row : rows) {
        const auto name = QString("llama-1b_b%1").arg(row.toObject()["batch"].toInt());
        const double measured =
            runs[name].toObject()["first_output_uninstrumented_us"].toObject()["p50"].toDouble();
        QCOMPARE(row.toObject()["measured_us"].toDouble(), measured);
        QVERIFY(qAbs(row.toObject()["corrected_us"].toDouble() / measured - 1) < 0.03);
    }
}

void TestCli::replayWithoutMeasurementIsNull() {
    const QString project = dir_.filePath("plain.kerf");
    QCOMPARE(runKerf({"import", qt(llama(1)), "-o", project}).code, 0);
    const auto rows = json(runKerf({"replay", project, "--json"})).toArray();
    QVERIFY(rows.at(0).toObject()["measured_us"].isNull());
}

void TestCli::searchReportsEveryKind() {
    const Run run = runKerf({"search", project_, "--batch", "1", "--json"});
    QVERIFY2(run.code == 0, run.err);
    const auto results = json(run).toArray();
    QCOMPARE(results.size(), 1);
    QSet<QString> kinds;
    for (const auto& candidate : results[0].toObject()["candidates"].toArray()) {
        kinds << candidate.toObject()["kind"].toString();
        const auto interval = candidate.toObject()["interval_us"].toArray();
        const double ttfa = candidate.toObject()["ttfa_us"].toDouble();
        QVERIFY(ttfa > 0 && interval[0].toDouble() <= ttfa && ttfa <= interval[1].toDouble());
    }
    QCOMPARE(kinds, (QSet<QString>{"conventional", "monolith", "pure", "mixed"}));
}

void TestCli::searchWithoutMixedHasNone() {
    const auto results =
        json(runKerf({"search", project_, "--batch", "1", "--no-mixed", "--json"})).toArray();
    for (const auto& candidate : results[0].toObject()["candidates"].toArray()) {
        QVERIFY(candidate.toObject()["kind"].toString() != "mixed");
    }
}

void TestCli::bestIsTheFirstCandidate() {
    const auto result =
        json(runKerf({"search", project_, "--batch", "8", "--json"})).toArray()[0].toObject();
    QCOMPARE(result["best"], result["candidates"].toArray()[0]);
    for (const auto& candidate : result["candidates"].toArray()) {
        QVERIFY(candidate.toObject()["ttfa_us"].toDouble() >=
                result["best"].toObject()["ttfa_us"].toDouble());
    }
}

void TestCli::categoriesNameTheModel() {
    const auto rows = json(runKerf({"categories", project_, "--json"})).toArray();
    QCOMPARE(rows.size(), 1);
    QCOMPARE(rows[0].toObject()["model"].toString(), QString("llama-1b"));
    const QSet<QString> known{"stable", "receding", "advancing", "averse", "mixed"};
    QVERIFY(known.contains(rows[0].toObject()["category"].toString()));
    QVERIFY(!rows[0].toObject()["evidence"].toString().isEmpty());
}

void TestCli::predictOfBestCutsEqualsTheSearch() {
    const auto result =
        json(runKerf({"search", project_, "--batch", "1", "--json"})).toArray()[0].toObject();
    const auto best = result["best"].toObject();
    QStringList cuts;
    const auto suffix = [](const QJsonValue& mode) {
        return mode.toString() == "conventional" ? ":c" : "";
    };
    cuts << QString("start") + suffix(best["first_mode"]);
    for (const auto& cut : best["cuts"].toArray()) {
        cuts << cut.toObject()["site"].toString() + suffix(cut.toObject()["mode"]);
    }
    const Run run =
        runKerf({"predict", project_, "--batch", "1", "--cuts", cuts.join(','), "--json"});
    QVERIFY2(run.code == 0, run.err);
    QCOMPARE(json(run).toArray()[0].toObject()["ttfa_us"], best["ttfa_us"]);
}

void TestCli::csvHasAHeaderAndARowACandidate() {
    const auto candidates = json(runKerf({"search", project_, "--batch", "1", "--json"}))
                                .toArray()[0]
                                .toObject()["candidates"]
                                .toArray();
    const Run run = runKerf({"search", project_, "--batch", "1", "--csv"});
    QVERIFY(run.out.startsWith("model,batch,rank,kind,ttfa_us,"));
    QCOMPARE(run.out.count('\n'), candidates.size() + 1);
}

void TestCli::unknownCutIsNamed() {
    const Run run = runKerf({"predict", project_, "--batch", "1", "--cuts", "nowhere"});
    QCOMPARE(run.code, 2);
    QVERIFY(run.err.contains("\"nowhere\""));
}

void TestCli::windowWithoutDisplaySaysWhatToDo() {
    auto environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        environment.remove(name);
    }
    const Run run = runKerf({project_}, environment);
    QCOMPARE(run.code, 4);
    QVERIFY(run.err.startsWith("kerf: there is no display"));
}

void TestCli::interruptCancels() {
    QProcess process;
    process.start(KERF_BINARY, {"search", project_, "--top", "1000", "--json"});
    QVERIFY(process.waitForStarted());
    QTest::qWait(400);
    if (process.state() != QProcess::Running) {
        QSKIP("skipped: the search was done before it could be interrupted");
    }
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(60'000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 130);
    QVERIFY(process.readAllStandardOutput().isEmpty());
}

void TestCli::manifestOfPublicTracesHolds() {
    KERF_NEEDS_SHARED_DATA();
    const auto manifest =
        QJsonDocument::fromJson(contentOf(sharedData() / "public" / "MANIFEST.json")).array();
    for (const auto& entry : manifest) {
        const auto expected = entry.toObject()["expected"].toObject();
        const QString name = entry.toObject()["file"].toString();
        if (expected["format"].toString() != "kineto-chrome-json" ||
            expected["kernels"].toInt() == 0) {
            continue;
        }
        const Run run = runKerf({"info", qt(sharedData() / "public") + "/" + name, "--json"});
        QVERIFY2(run.code == 0, qPrintable(name + ": " + run.err));
        for (const char* key : {"kernels", "memcpys", "memsets", "streams", "kernel_time_ns"}) {
            QVERIFY2(json(run)[QLatin1String(key)] == expected[QLatin1String(key)],
                     qPrintable(name + ": " + key));
        }
    }
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"

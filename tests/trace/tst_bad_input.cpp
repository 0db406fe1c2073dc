// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged, foreign and odd files: each gets a clear message, or is read with a note.
#include "core/trace/file_content.h"
#include "core/trace/json_fault.h"
#include "core/trace/kineto_reader.h"
#include "core/trace/reader.h"
#include "trace_files.h"

#include <QTest>
#include <random>

using namespace kerf;
using namespace kerf::test;
using namespace kerf::trace;

namespace {

const std::string kGood = traceOf(kernelEvent("10.5", "2.25"));

Expected<Recording> readText(const TraceFolder& folder, std::string_view content) {
    Progress progress;
    return readRecording(folder.write("trace.json", content), progress);
}

std::string allNotes(const Recording& recording) {
    std::string all;
    for (const auto& note : recording.health.notes) {
        all += note + "\n";
    }
    return all;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace

class TestBadInput : public QObject {
    Q_OBJECT

private slots:
    void refusedFilesNameFilePlaceAndReason_data();
    void refusedFilesNameFilePlaceAndReason();
    void missingFileIsNamed();
    void folderIsNamed();
    void truncationAnywhereIsRefused();
    void fastAndStrictParserAgreeOnDamage();
    void truncatedGzipAnywhereIsRefused();
    void contentBeyondTheLimitIsRefused();
    void faultyActivityIsLeftOutAndCounted_data();
    void faultyActivityIsLeftOutAndCounted();
    void traceOfFaultyActivitiesOnlyIsRefused();
    void oddButValidTracesAreRead_data();
    void oddButValidTracesAreRead();
    void controlCharactersInNamesBecomeSpaces();
    void escapesInNamesAreResolved();
    void headerAfterTheEventsCounts();
    void severalGzipMembersAreOneFile();
    void cancelStopsReading_data();
    void cancelStopsReading();

private:
    TraceFolder folder_;
};

void TestBadInput::refusedFilesNameFilePlaceAndReason_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("reason");
    QTest::addColumn<qint64>("byte"); // −1: the file as a whole
    const auto row = [](const char* name, std::string_view content, const char* reason,
                        qint64 byte) {
        QTest::newRow(name) << QByteArray(content.data(), static_cast<qsizetype>(content.size()))
                            << reason << byte;
    };
    const auto length = static_cast<qint64>(kGood.size());
    row("empty file", "", "empty", -1);
    row("empty gzip", gzip(""), "empty", -1);
    row("text file", "Dear reader,\nthis is no trace.\n", "begins \"Dear reader,", -1);
    row("binary file",
        std::string_view("\x7f"
                         "ELF\0\1\2",
                         7),
        "begins \"?ELF???\"", -1);
    row("truncated JSON", std::string_view(kGood).substr(0, kGood.size() - 20), "ends inside",
        length - 20);
    row("truncated inside a name", R"({"traceEvents": [{"ph": "X", "name": "ge)",
        "ends inside the string that begins at byte 37", 40);
    row("missing comma", R"({"traceEvents": [{"ph": "X" "name": "a"}]})", "',' or '}' expected",
        28);
    row("missing colon", R"({"traceEvents": [{"ph" "X"}]})", "':' expected", 23);
    row("mixed brackets", R"({"traceEvents": [{"ph": "X"]}})", "',' or '}' expected", 27);
    row("missing value", R"({"traceEvents": [{"ph": }]})", "a value expected, found '}'", 24);
    row("broken literal in a skipped value", R"({"traceEvents": [], "other": {"a": [tru]}})",
        "\"tru\" is no JSON value", 36);
    row("broken number in a skipped value", R"({"traceEvents": [{"ph": "X", "x": 1.2.3}]})",
        "\"1.2.3\" is no JSON value", 34);
    row("text after the end", kGood + " {}", "after the end", length + 1);
    row("second list after the end", R"([{"ph": "X"}] [])", "after the end", 14);
    row("nesting without end",
        R"({"traceEvents": )" + std::string(1000, '[') + std::string(1000, ']') + "}", "too deep",
        16 + 1 + 201); // the list, and more levels in it than any trace has
    row("no traceEvents", R"({"displayTimeUnit": "ms", "other": []})", "no \"traceEvents\"", -1);
    row("traceEvents is no list", R"({"traceEvents": {"a": 1}})", "is not a list", 16);
    row("no events", traceOf(""), "no GPU work", -1);
    row("no GPU events",
        traceOf(R"({"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1, "dur": 1})"),
        "no GPU work", -1);
    row("other JSON", R"({"layers": [1, 2, 3]})", "not a timeline", -1);
    row("execution trace", R"({"schema": "1.0.1", "pid": 1, "time": "x", "nodes": []})",
        "has no timeline", -1);
}

void TestBadInput::refusedFilesNameFilePlaceAndReason() {
    QFETCH(QByteArray, content);
    QFETCH(QString, reason);
    QFETCH(qint64, byte);
    const auto path = folder_.write("trace.json", content.toStdString());
    Progress progress;
    const auto recording = readRecording(path, progress);
    QVERIFY(!recording);
    const Error& error = recording.error();
    QVERIFY2(has(error.what, reason.toStdString()), error.what.c_str());
    QCOMPARE(error.where,
             byte < 0 ? path.string() : fmt::format("{}, byte {}", path.string(), byte));
    QVERIFY(!error.advice.empty());
}

void TestBadInput::missingFileIsNamed() {
    Progress progress;
    const auto path = folder_.path() / "nothing.json";
    const auto recording = readRecording(path, progress);
    QVERIFY(!recording);
    QCOMPARE(recording.error().where, path.string());
    QVERIFY(has(recording.error().what, "no such file"));
}

void TestBadInput::folderIsNamed() {
    Progress progress;
    const auto recording = readRecording(folder_.path(), progress);
    QVERIFY(!recording);
    QCOMPARE(recording.error().where, folder_.path().string());
    QVERIFY(has(recording.error().what, "folder"));
}

void TestBadInput::truncationAnywhereIsRefused() {
    for (std::size_t size = 0; size < kGood.size(); ++size) {
        const auto recording = readText(folder_, std::string_view(kGood).substr(0, size));
        QVERIFY2(!recording, qPrintable(QString::number(size)));
    }
    QVERIFY(readText(folder_, kGood));
}

/// The fast parser passes over what it does not need: a slow one that reads everything must not
/// find more faults than it does.
void TestBadInput::fastAndStrictParserAgreeOnDamage() {
    std::mt19937 random(1);
    constexpr std::string_view kBytes = "{}[]\",:0-e.tn \\x";
    for (int round = 0; round < 2'000; ++round) {
        std::string content = kGood;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % content.size();
            switch (random() % 3) {
            case 0:
                content[at] = kBytes[random() % kBytes.size()];
                break;
            case 1:
                content.erase(at, 1 + random() % 4);
                break;
            default:
                content.insert(at, 1, kBytes[random() % kBytes.size()]);
            }
        }
        Progress progress;
        const auto recording = readKineto(folder_.write("trace.json", content), progress);
        if (!recording && has(recording.error().what, "traceEvents")) {
            continue; // the damage hit the key of the list, which is found first
        }
        const bool damaged = !recording && has(recording.error().what, "the JSON is damaged");
        QVERIFY2(damaged == findJsonFault(content).has_value(), content.c_str());
    }
}

void TestBadInput::truncatedGzipAnywhereIsRefused() {
    const std::string packed = gzip(kGood);
    for (std::size_t size = 2; size < packed.size(); ++size) {
        const auto path = folder_.write("trace.json.gz", std::string_view(packed).substr(0, size));
        Progress progress;
        const auto content = loadFile(path, progress);
        QVERIFY(!content);
        QCOMPARE(content.error().where, fmt::format("{}, byte {}", path.string(), size));
        QVERIFY(has(content.error().what, "ends early"));
        QVERIFY(!readRecording(path, progress));
    }
}

void TestBadInput::contentBeyondTheLimitIsRefused() {
    Progress progress;
    for (const auto& content : {kGood, gzip(kGood)}) {
        const auto path = folder_.write("trace.json", content);
        QVERIFY(loadFile(path, progress, 1.0, kGood.size()));
        const auto loaded = loadFile(path, progress, 1.0, kGood.size() - 1);
        QVERIFY(!loaded);
        QVERIFY(has(loaded.error().what, "larger than"));
    }
}

void TestBadInput::faultyActivityIsLeftOutAndCounted_data() {
    QTest::addColumn<QString>("start");
    QTest::addColumn<QString>("duration");
    QTest::addColumn<qint64>("negative");
    QTest::addColumn<qint64>("invalid");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* name, const char* start, const char* duration, qint64 negative,
                        qint64 invalid, const char* note) {
        QTest::newRow(name) << start << duration << negative << invalid << note;
    };
    row("negative duration", "1", "-2.5", 1, 0, "\"dur\" -2.5 is negative");
    row("NaN duration", "1", "NaN", 0, 1, "\"dur\" NaN is not finite");
    row("infinite duration", "1", "Infinity", 0, 1, "\"dur\" Infinity is not finite");
    row("infinite start", "-Infinity", "1", 0, 1, "\"ts\" -Infinity is not finite");
    row("infinity as a string", "1", "\"Infinity\"", 0, 1, "\"dur\" \"Infinity\" is not finite");
    row("number as a string", "\"1\"", "1", 0, 1, "\"ts\" \"1\" is not a number");
    row("null", "null", "1", 0, 1, "\"ts\" null is not a number");
    row("list", "[1]", "1", 0, 1, "\"ts\"  is missing");
    row("huge number", "1e300", "1", 0, 1, "\"ts\" 1e300 is out of range");
    row("end out of range", "9223372036854775", "1e12", 0, 1, "ends out of range");
}

void TestBadInput::faultyActivityIsLeftOutAndCounted() {
    QFETCH(QString, start);
    QFETCH(QString, duration);
    QFETCH(qint64, negative);
    QFETCH(qint64, invalid);
    QFETCH(QString, note);
    const auto good = kernelEvent("10.5", "2.25");
    const auto faulty = kernelEvent(start.toStdString(), duration.toStdString());
    const auto content = traceOf(good + ", " + faulty);
    const auto recording = readText(folder_, content);
    QVERIFY2(recording, recording ? "" : toString(recording.error()).c_str());
    QCOMPARE(recording->activities.size(), std::size_t{1});
    QCOMPARE(recording->activities.front().start_ns, std::int64_t{10'500});
    QCOMPARE(static_cast<qint64>(recording->health.negative_durations), negative);
    QCOMPARE(static_cast<qint64>(recording->health.negative_duration_kernels), negative);
    QCOMPARE(static_cast<qint64>(recording->health.invalid_values), invalid);
    const auto notes = allNotes(*recording);
    QVERIFY2(has(notes, note.toStdString()), notes.c_str());
    QVERIFY2(has(notes, fmt::format("event 1 (byte {})", content.find(faulty, 60))), notes.c_str());
}

void TestBadInput::traceOfFaultyActivitiesOnlyIsRefused() {
    const auto recording = readText(folder_, traceOf(kernelEvent("1", "-1")));
    QVERIFY(!recording);
    QVERIFY2(has(recording.error().what, "is negative"), recording.error().what.c_str());
}

void TestBadInput::oddButValidTracesAreRead_data() {
    QTest::addColumn<QString>("content");
    const auto row = [](const char* name, const std::string& content) {
        QTest::newRow(name) << QString::fromStdString(content);
    };
    const auto kernel = kernelEvent("10.5", "2.25");
    row("object", kGood);
    row("bare list", "[" + kernel + "]");
    row("byte order mark", "\xEF\xBB\xBF" + kGood);
    row("leading space", "\n\n  " + kGood + "\n");
    row("other events between", traceOf(R"(null, 3, {}, "text", [1, {"a": [2]}], )" + kernel));
    row("text process ids",
        traceOf(R"({"ph": "M", "name": "process_name", "pid": "Spans", "tid": ""}, )" + kernel));
    row("old categories and streams",
        traceOf(R"({"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7",)"
                R"("ts": 10.5, "dur": 2.25, "args": {"external id": 0}})"));
    row("arguments before the category",
        traceOf(R"({"args": {"device": 0, "stream": 7}, "dur": 2.25, "ts": 10.5, "name": "gemm",)"
                R"("cat": "kernel", "ph": "X"})"));
    row("exponents", traceOf(kernelEvent("1.05e1", "225e-2")));
    row("infinities in other fields",
        traceOf(R"({"ph": "C", "ts": 1, "args": {"x": "Infinity", "y": Infinity, "z": NaN}}, )" +
                kernel));
}

void TestBadInput::oddButValidTracesAreRead() {
    QFETCH(QString, content);
    const auto recording = readText(folder_, content.toStdString());
    QVERIFY2(recording, recording ? "" : toString(recording.error()).c_str());
    QCOMPARE(recording->activities.size(), std::size_t{1});
    const Activity& kernel = recording->activities.front();
    QCOMPARE(kernel.start_ns, std::int64_t{10'500});
    QCOMPARE(kernel.duration_ns, std::int64_t{2'250});
    QCOMPARE(kernel.stream, std::int64_t{7});
    QCOMPARE(recording->names.at(kernel.name), std::string("gemm"));
}

void TestBadInput::controlCharactersInNamesBecomeSpaces() {
    const auto recording = readText(folder_, traceOf(kernelEvent("1", "1",
                                                                 "a\nb\x01\x80"
                                                                 "c")));
    QVERIFY(recording);
    QCOMPARE(recording->names.at(0), std::string("a b ?c"));
    const auto notes = allNotes(*recording);
    QVERIFY2(has(notes, "2 control characters"), notes.c_str());
    QVERIFY2(has(notes, "1 bytes that are not UTF-8"), notes.c_str());
}

void TestBadInput::escapesInNamesAreResolved() {
    const auto recording = readText(
        folder_, traceOf(kernelEvent("1", "1", R"(\"a\"\\ \u00e9 \ud83d\ude00 \ud83d \q)")));
    QVERIFY(recording);
    QCOMPARE(recording->names.at(0),
             std::string("\"a\"\\ \xC3\xA9 \xF0\x9F\x98\x80 \xEF\xBF\xBD \\q"));
}

void TestBadInput::headerAfterTheEventsCounts() {
    const auto recording =
        readText(folder_, R"({"traceEvents": [)" + kernelEvent("1", "1") +
                              R"(], "baseTimeNanoseconds": 1790857026000000001,)"
                              R"("deviceProperties": [{"id": 0, "numSms": 132, "name": "GPU"}]})");
    QVERIFY(recording);
    QCOMPARE(recording->base_time_ns.value_or(0), std::int64_t{1790857026000000001});
    QCOMPARE(recording->devices.at(0).sm_count, 132);
}

void TestBadInput::severalGzipMembersAreOneFile() {
    const auto half = kGood.size() / 2;
    const auto path = folder_.write(
        "trace.json.gz", gzip(std::string_view(kGood).substr(0, half)) +
                             gzip(std::string_view(kGood).substr(half)) + std::string(100, '\0'));
    Progress progress;
    QVERIFY(readRecording(path, progress));
}

void TestBadInput::cancelStopsReading_data() {
    QTest::addColumn<double>("at");
    QTest::newRow("at once") << 0.0;
    QTest::newRow("while events are read") << 0.7;
}

void TestBadInput::cancelStopsReading() {
    QFETCH(double, at);
    std::string events;
    for (int i = 0; i < 20'000; ++i) {
        events += (i == 0 ? "" : ", ") + kernelEvent(std::to_string(i), "1");
    }
    Progress progress;
    double last = 0;
    progress.report = [&](double fraction, std::string_view) {
        last = fraction;
        if (fraction >= at) {
            progress.cancelled = true;
        }
    };
    const auto path = folder_.write("trace.json", traceOf(events));
    const auto recording = readRecording(path, progress);
    QVERIFY(!recording);
    QVERIFY(has(recording.error().what, "cancelled"));
    QCOMPARE(recording.error().where, path.string());
    QVERIFY(last < 0.95);
}

QTEST_APPLESS_MAIN(TestBadInput)
#include "tst_bad_input.moc"

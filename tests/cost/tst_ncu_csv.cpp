// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/ncu_csv.h"

#include "shared_data.h"

#include <QTemporaryDir>
#include <cmath>

using namespace kerf;

namespace {

// The raw page: one row a launch, units below the header.
const std::string kRaw =
    "==PROF== Connected to process 7 (/usr/bin/python3)\n"
    "step 1, loss 0.5\n"
    "==PROF== Profiling \"gemm\" - 0: 0%....100% - 2 passes\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Block Size\",\"Grid Size\","
    "\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"gpu__time_duration.sum\","
    "\"dram__throughput.avg.pct_of_peak_sustained_elapsed\","
    "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"smsp__inst_executed.sum\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"byte\",\"usecond\",\"%\",\"%\",\"inst\"\n"
    "\"0\",\"7\",\"void gemm<4, \"\"x\"\">(int, int)\",\"7\",\"(256, 1, 1)\",\"(1,024, 2, 1)\","
    "\"33.5\",\"16,384\",\"12.25\",\"61.5\",\"20\",\"many\"\n"
    "\"1\",\"7\",\"norm\",\"7\",\"(32, 4, 2)\",\"(1, 1, "
    "1)\",\"n/a\",\"1,234,567\",\"1,002.5\",\"\","
    "\"nan\",\"5\"\n"
    "==PROF== Disconnected from process 7\n";

// A row a metric, as --metrics without --page and the details page write it.
const std::string kLong =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Section Name\","
    "\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n"
    "\"0\",\"7\",\"a\",\"(256, 1, 1)\",\"(8, 1, "
    "1)\",\"C\",\"dram__bytes_read.sum\",\"Gbyte\",\"1.5\"\n"
    "\"0\",\"7\",\"a\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"C\",\"Duration\",\"ms\",\"2\"\n"
    "\"0\",\"7\",\"a\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"Rule\",\"\",\"\",\"\",\"Advice\"\n"
    "\"1\",\"7\",\"a\",\"(256, 1, 1)\",\"(8, 1, "
    "1)\",\"C\",\"dram__bytes_read.sum\",\"Kbyte\",\"2\"\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    if (at == std::string::npos) {
        qFatal("the test's text has no %s", from.c_str());
    }
    return text.replace(at, from.size(), to);
}

bool near(std::optional<double> a, double b) {
    return a && std::abs(*a - b) <= 1e-12 * std::abs(b);
}

} // namespace

class TestNcuCsv : public QObject {
    Q_OBJECT
private slots:
    void theRawPageIsRead() {
        const auto text = with(kRaw, "(1,024, 2, 1)", "(1024, 2, 1)");
        const auto file = cost::parseNcu(text, "c.csv");
        QVERIFY2(file.has_value(), file ? "" : toString(file.error()).c_str());
        QCOMPARE(file->launches.size(), std::size_t{2});
        const auto& first = file->launches[0];
        QCOMPARE(first.kernel, std::string("void gemm<4, \"x\">(int, int)"));
        QVERIFY((first.block == std::array<std::uint32_t, 3>{256, 1, 1}));
        QVERIFY((first.grid == std::array<std::uint32_t, 3>{1024, 2, 1}));
        QVERIFY(near(first.read_bytes, 33.5e6));
        QVERIFY(near(first.write_bytes, 16'384));
        QVERIFY(near(first.duration_us, 12.25));
        QVERIFY(near(first.dram_share, 0.615));
        QVERIFY(near(first.sm_share, 0.2));
        QCOMPARE(first.line, std::size_t{6});
        const auto& second = file->launches[1];
        QVERIFY((second.block == std::array<std::uint32_t, 3>{32, 4, 2}));
        QVERIFY(near(second.write_bytes, 1'234'567));
        QVERIFY(near(second.duration_us, 1002.5));
        QVERIFY(!second.read_bytes && !second.dram_share && !second.sm_share);
    }
    void aRowAMetricIsRead() {
        const auto file = cost::parseNcu(kLong, "c.csv");
        QVERIFY2(file.has_value(), file ? "" : toString(file.error()).c_str());
        QCOMPARE(file->launches.size(), std::size_t{2});
        QVERIFY(near(file->launches[0].read_bytes, 1.5e9));
        QVERIFY(near(file->launches[0].duration_us, 2000));
        QVERIFY(near(file->launches[1].read_bytes, 2000));
        QVERIFY(!file->launches[1].duration_us);
    }
    void windowsLineEndsAreRead() {
        std::string text;
        for (const char c : kLong) {
            text += c == '\n' ? "\r\n" : std::string(1, c);
        }
        const auto file = cost::parseNcu(text, "c.csv");
        QVERIFY2(file.has_value(), file ? "" : toString(file.error()).c_str());
        QVERIFY(near(file->launches[1].read_bytes, 2000));
    }
    void aRealDetailsPageIsRead() {
        KERF_NEEDS_SHARED_DATA();
        // Values as the file writes them (one launch of a copy kernel on a T4).
        const auto file =
            cost::readNcu((test::sharedData() / "public/nsightful/copy_blocked_t4.csv").string());
        QVERIFY2(file.has_value(), file ? "" : toString(file.error()).c_str());
        QCOMPARE(file->launches.size(), std::size_t{1});
        const auto& launch = file->launches[0];
        QVERIFY(launch.kernel.starts_with("copy_blocked["));
        QVERIFY((launch.block == std::array<std::uint32_t, 3>{256, 1, 1}));
        QVERIFY((launch.grid == std::array<std::uint32_t, 3>{1024, 1, 1}));
        QVERIFY(near(launch.duration_us, 21'058.944));
        QVERIFY(near(launch.bytes_per_us, 196'456.17785963));
        QVERIFY(near(launch.dram_share, 0.6184));
        QVERIFY(near(launch.sm_share, 0.0130));
    }

    void faultsNameFileAndLine_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("says");
        const auto good = with(kRaw, "(1,024, 2, 1)", "(1024, 2, 1)");
        const auto row = [](const char* name, const std::string& content, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(content) << QString(says);
        };
        row("empty", "", "no header");
        row("other text", "hello\nworld\n", "no header");
        row("only the preamble", "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM\n", "no header");
        row("header only", good.substr(0, good.find("\"\",\"\"")), "no kernel launch");
        row("units only", good.substr(0, good.find("\"0\",\"7\"")), "no kernel launch");
        row("no units", with(good, "\"\",\"\",\"\"", "\"0\",\"\",\"\""),
            "line 5: ncu CSV: the row of units");
        row("no grid", with(good, "Grid Size", "Something"), "line 4: ncu CSV: the header has no");
        row("unknown unit", with(good, "Mbyte", "furlong"),
            "line 6: ncu CSV: \"dram__bytes_read.sum\" has the unit \"furlong\"");
        row("unit of time for bytes", with(good, "Mbyte", "usecond"), "unit \"usecond\"");
        row("decimal comma", with(good, "\"33.5\"", "\"33,5\""), "\"33,5\"");
        row("groups of other sizes", with(good, "16,384", "16,3840"), "\"16,3840\"");
        row("text for a number", with(good, "\"33.5\"", "\"many\""), "\"many\"");
        row("negative", with(good, "\"33.5\"", "\"-33.5\""), "\"-33.5\"");
        row("infinite", with(good, "\"33.5\"", "\"inf\""), "\"inf\"");
        row("beyond double", with(good, "\"33.5\"", "\"1e999\""), "\"1e999\"");
        row("grid is text", with(good, "(1024, 2, 1)", "big"), "\"Grid Size\" is \"big\"");
        row("grid with groups", kRaw, "\"Grid Size\" is \"(1,024, 2, 1)\"");
        row("block of 0", with(good, "(256, 1, 1)", "(0, 1, 1)"), "\"Block Size\"");
        row("no kernel name", with(good, "\"norm\"", "\"\""),
            "line 7: ncu CSV: there is no kernel name");
        row("cut inside quotes", good.substr(0, good.find("1,002.5") + 3),
            "line 7: ncu CSV: quotes");
        row("cut between fields", good.substr(0, good.find(",\"1,002.5")),
            "line 7: ncu CSV: has 8 fields");
        row("a field too many", with(good, "\"many\"", "\"5\",\"6\""),
            "line 6: ncu CSV: has 13 fields");
        row("metric row cut", with(kLong, "\"Kbyte\",\"2\"", "\"Kbyte\""),
            "line 5: ncu CSV: has 8 fields");
    }
    void faultsNameFileAndLine() {
        QFETCH(const QByteArray, content);
        QFETCH(const QString, says);
        const auto file = cost::parseNcu(content.toStdString(), "bad.csv");
        QVERIFY(!file.has_value());
        const auto message = toString(file.error());
        QVERIFY2(message.find("bad.csv") != std::string::npos, message.c_str());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }
    void aMissingFileIsNamed() {
        const QTemporaryDir folder;
        const auto file = cost::readNcu(folder.filePath("none.csv").toStdString());
        QVERIFY(!file.has_value());
        QVERIFY(toString(file.error()).find("none.csv") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestNcuCsv)
#include "tst_ncu_csv.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "chain_maker.h"
#include "shared_data.h"

#include <QProcess>
#include <QTemporaryDir>
#include <fstream>
#include <functional>
#include <iterator>

using namespace kerf;
using validation::CaseKind;
using Json = nlohmann::json;

namespace {

std::string textOf(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Script {
    int code = -1;
    QByteArray out;
    QByteArray err;
};

Script convert(const QStringList& arguments) {
    QProcess process;
    process.start("python3", QStringList{QString::fromStdString(
                                 (test::sourceDir() / "scripts/convert-gemv-chain").string())} +
                                 arguments);
    if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit) {
        return {};
    }
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

} // namespace

class TestChainFile : public QObject {
    Q_OBJECT
private slots:
    void opsAreUnrolled() {
        const auto file = test::parsed(test::smallChainFile());
        QVERIFY(file.has_value());
        QCOMPARE(file->chains[0].ops.size(), std::size_t{4});
        QCOMPARE(file->chains[1].ops[1].rows, std::int64_t{2112});
    }
    void boundariesOfEachKind() {
        const auto file = test::parsed(test::smallChainFile());
        QVERIFY(file.has_value());
        QCOMPARE(file->chains[0].cases[0].starts, (std::vector<std::size_t>{0}));
        QCOMPARE(file->chains[0].cases[1].starts, (std::vector<std::size_t>{0, 3}));
        QCOMPARE(file->chains[1].cases[0].starts, (std::vector<std::size_t>{0, 2}));
        QVERIFY(file->chains[1].cases[0].kind == CaseKind::RegionsAt);
    }
    void whatIsLeftOutHasADefault() {
        Json json = test::smallChainFile();
        json["kernel"].erase("memset_nodes");
        const auto file = test::parsed(json);
        QVERIFY(file.has_value());
        QCOMPARE(file->kernel.memset_nodes, 0);
        QCOMPARE(file->kernel.bytes_per_weight, 2.0);
        QCOMPARE(file->singles[0].library_us, 0.0);
    }
    void unknownFieldsAreIgnored() {
        Json json = test::smallChainFile();
        json["colour"] = "blue";
        json["chains"][0]["cases"][0]["note"] = 3;
        QVERIFY(test::parsed(json).has_value());
    }
    void tilesAndBytesOfAPartialLastTile() {
        const auto file = test::parsed(test::smallChainFile());
        QVERIFY(file.has_value());
        QCOMPARE(validation::tilesOf(file->kernel, {17, 10}), std::int64_t{3}); // 8 + 8 + 1 rows
        QCOMPARE(validation::bytesOf(file->kernel, {17, 10}), 340.0);
    }

    void faultsAreNamed_data() {
        using Change = std::function<void(Json&)>;
        QTest::addColumn<Change>("change");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const char* expected, Change change) {
            QTest::newRow(name) << std::move(change) << QString(expected);
        };
        row("other format", "kerf-chain", [](Json& f) { f["format"] = "x"; });
        row("newer version", "version 2 is not known", [](Json& f) { f["version"] = 2; });
        row("no version", "version (missing)", [](Json& f) { f.erase("version"); });
        row("no gpu", "\"gpu\"", [](Json& f) { f.erase("gpu"); });
        row("no kernel", "\"kernel\"", [](Json& f) { f["kernel"] = 3; });
        row("no workers", "\"kernel.workers\"", [](Json& f) { f["kernel"]["workers"] = 0; });
        row("half a stage", "\"kernel.ring_stages\"",
            [](Json& f) { f["kernel"]["ring_stages"] = 1.5; });
        row("negative nodes", "\"kernel.memset_nodes\"",
            [](Json& f) { f["kernel"]["memset_nodes"] = -1; });
        row("no singles", "\"single_ops\"", [](Json& f) { f["single_ops"] = Json::array(); });
        row("a single that is no object", "\"single_ops[1]\"",
            [](Json& f) { f["single_ops"][1] = 4; });
        row("no conventional timing", "\"single_ops[1].conventional_us\"",
            [](Json& f) { f["single_ops"][1].erase("conventional_us"); });
        row("zero timing", "\"single_ops[0].persistent_us\"",
            [](Json& f) { f["single_ops"][0]["persistent_us"] = 0; });
        row("the same single twice", "1056 x 2048 twice",
            [](Json& f) { f["single_ops"].push_back(f["single_ops"][0]); });
        row("no chains", "\"chains\"", [](Json& f) { f.erase("chains"); });
        row("nameless chain", "\"chains[1].name\"", [](Json& f) { f["chains"][1].erase("name"); });
        row("text for rows", "\"chains[0].ops[0].rows\"",
            [](Json& f) { f["chains"][0]["ops"][0]["rows"] = "many"; });
        row("too many ops", "more than",
            [](Json& f) { f["chains"][0]["ops"][0]["count"] = 900'000'000; });
        row("an op that is not timed", "1057 x 2048",
            [](Json& f) { f["chains"][0]["ops"][0]["rows"] = 1057; });
        row("no cases", "\"chains[0].cases\"",
            [](Json& f) { f["chains"][0]["cases"] = Json::object(); });
        row("unknown kind", "\"some\"",
            [](Json& f) { f["chains"][0]["cases"][0]["kind"] = "some"; });
        row("empty regions", "\"chains[0].cases[1].region_ops\"",
            [](Json& f) { f["chains"][0]["cases"][1]["region_ops"] = 0; });
        row("nothing measured", "\"chains[0].cases[1].measured_us\"",
            [](Json& f) { f["chains"][0]["cases"][1].erase("measured_us"); });
        row("boundary behind the end", "3 is not an op",
            [](Json& f) { f["chains"][1]["cases"][0]["boundaries"] = {3}; });
        row("boundaries descend", "1 is not an op", [](Json& f) {
            f["chains"][1]["cases"][0]["boundaries"] = {2, 1};
        });
        row("boundary at the start", "0 is not an op",
            [](Json& f) { f["chains"][1]["cases"][0]["boundaries"] = {0}; });
        row("no boundaries", "boundaries",
            [](Json& f) { f["chains"][1]["cases"][0].erase("boundaries"); });
    }
    void faultsAreNamed() {
        QFETCH(std::function<void(Json&)>, change);
        QFETCH(QString, expected);
        Json json = test::smallChainFile();
        change(json);
        const auto file = test::parsed(json);
        QVERIFY(!file.has_value());
        QCOMPARE(file.error().where, std::string("chain.json"));
        QVERIFY2(file.error().what.find(expected.toStdString()) != std::string::npos,
                 file.error().what.c_str());
    }
    void aCutOffFileIsRefused() {
        const std::string text = test::smallChainFile().dump();
        const auto file = validation::parseChainFile(text.substr(0, text.size() / 2), "half.json");
        QVERIFY(!file.has_value());
        QVERIFY(file.error().what.find("not valid JSON") != std::string::npos);
    }
    void aMissingFileIsNamed() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("none.json").toStdString();
        const auto file = validation::readChainFile(path);
        QVERIFY(!file.has_value());
        QCOMPARE(file.error().where, path);
    }

    void theScriptConvertsEveryMeasurement();
    void theScriptRefusesOtherFiles();
};

/// The converted file holds the µs an op of gemv_chain.json times its ops, nothing else.
void TestChainFile::theScriptConvertsEveryMeasurement() {
    KERF_NEEDS_SHARED_DATA();
    const auto input = test::sharedData() / "h200/gemv_chain.json";
    QTemporaryDir folder;
    const QString output = folder.filePath("chain.json");
    const Script run = convert({QString::fromStdString(input.string()), "-o", output});
    QVERIFY2(run.code == 0, run.err);
    const auto file = validation::readChainFile(output.toStdString());
    QVERIFY2(file.has_value(), file ? "" : toString(file.error()).c_str());

    const Json rows = Json::parse(textOf(input))["rows"];
    QCOMPARE(file->chains.size(), rows.size());
    std::size_t cases = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Json& us = rows[i]["us_per_op"];
        const auto& chain = file->chains[i];
        const auto ops = rows[i]["ops"].get<std::size_t>();
        QCOMPARE(chain.ops.size(), ops);
        const auto* single = validation::singleOf(
            *file, {rows[i]["rows"].get<std::int64_t>(), rows[i]["k"].get<std::int64_t>()});
        QVERIFY(single != nullptr && single->product == chain.ops.front());
        QCOMPARE(single->conventional_us, us["conventional_gemv_graph"].get<double>());
        QCOMPARE(single->persistent_us, us["persistent_tiles_one_kernel_per_op"].get<double>());
        for (const auto& one : chain.cases) {
            const Json& per_op = one.kind == CaseKind::RegionsOf
                                     ? us["regions_of"][std::to_string(one.region_ops)]
                                     : us["persistent_all_ops"];
            QCOMPARE(one.measured_us, per_op.get<double>() * static_cast<double>(ops));
            ++cases;
        }
    }
    QCOMPARE(cases, std::size_t{35});
}

void TestChainFile::theScriptRefusesOtherFiles() {
    QTemporaryDir folder;
    const QString path = folder.filePath("other.json");
    QVERIFY(convert({path}).code != 0); // there is none yet
    {
        std::ofstream stream(path.toStdString());
        stream << R"({"gpu": "x"})";
    }
    const Script run = convert({path});
    QVERIFY(run.code != 0);
    QVERIFY2(run.err.contains("not a gemv_chain.json"), run.err);
    QVERIFY(run.out.isEmpty());
}

QTEST_GUILESS_MAIN(TestChainFile)
#include "tst_chain_file.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Layers found in op sequences.
#include "real_runs.h"

#include <QTest>
#include <map>

using namespace kerf;
using namespace kerf::workload;

namespace {

/// One letter an op: N norm, P product, A attention, R residual, E embedding, L layout, M memset,
/// e elementwise; a lower-case n is a norm by another kernel.
std::vector<Op> opsOf(const std::string& letters) {
    const std::map<char, OpRole> roles{
        {'N', OpRole::Norm},      {'n', OpRole::Norm},     {'P', OpRole::Product},
        {'A', OpRole::Attention}, {'R', OpRole::Residual}, {'E', OpRole::Embedding},
        {'L', OpRole::Layout},    {'M', OpRole::Memset},   {'e', OpRole::Elementwise}};
    std::vector<Op> ops;
    for (const char letter : letters) {
        Op op;
        op.kernel = std::string(1, letter);
        op.role = roles.at(letter);
        ops.push_back(op);
    }
    return ops;
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

} // namespace

class TestFold : public QObject {
    Q_OBJECT

private slots:
    void findsLayers_data();
    void findsLayers();
    void partsAddUp_data() { test::addRealRuns(); }
    void partsAddUp();
    void modelHasItsLayersAtEveryBatchSize_data() { test::addRealRuns(); }
    void modelHasItsLayersAtEveryBatchSize();
};

void TestFold::findsLayers_data() {
    QTest::addColumn<QString>("letters");
    QTest::addColumn<int>("prefix");
    QTest::addColumn<int>("period");
    QTest::addColumn<int>("count");
    const auto row = [](const char* name, const std::string& letters, int prefix, int period,
                        int count) {
        QTest::newRow(name) << QString::fromStdString(letters) << prefix << period << count;
    };
    const std::string layer = "NPAPNPP";
    row("layers alone", repeated(layer, 4), 0, 7, 4);
    row("prefix and suffix", "Eee" + repeated(layer, 4) + "NPe", 3, 7, 4);
    row("begins at the norm before attention", "E" + repeated("NPPNPAP", 3) + "NPP", 4, 7, 3);
    row("a layer more beats the norm before attention", "E" + repeated("NPPNPAP", 3) + "NP", 1, 7,
        3);
    row("first norm is another kernel", "Ee" + ("nPAPNPP" + repeated(layer, 3)) + "NP", 2, 7, 4);
    row("last layer ends in another helper", repeated("NPAPNPPR", 3) + "NPAPNPPe" + "P", 0, 8, 4);
    row("a layer with other anchors stays outside", "EPAPNPA" + repeated(layer, 3), 7, 7, 3);
    row("no norm: begins after the residual add", repeated("APPR", 3) + "E", 0, 4, 3);
    row("two layers", "EE" + repeated(layer, 2), 2, 7, 2);
    row("nothing repeats", "ENPAR", 5, 0, 0);
    row("helpers alone are no layers", "EPN" + repeated("e", 20), 23, 0, 0);
    row("too small a part",
        "EPAPNRNRPLLPAEMLEPRAN"
        "PLPL"
        "EMEARENRPN",
        35, 0, 0);
    row("no ops", "", 0, 0, 0);
}

void TestFold::findsLayers() {
    QFETCH(QString, letters);
    QFETCH(int, prefix);
    QFETCH(int, period);
    QFETCH(int, count);
    const Fold fold = findFold(opsOf(letters.toStdString()));
    QCOMPARE(static_cast<int>(fold.count), count);
    QCOMPARE(static_cast<int>(fold.period), period);
    QCOMPARE(static_cast<int>(fold.prefix), prefix);
    QCOMPARE(static_cast<int>(fold.suffix),
             static_cast<int>(letters.size()) - prefix - period * count);
}

void TestFold::partsAddUp() {
    QFETCH(int, run);
    for (const Stage& stage : test::load(test::realRuns()[static_cast<std::size_t>(run)]).stages) {
        const Fold& fold = stage.fold;
        QCOMPARE(fold.prefix + fold.period * fold.count + fold.suffix, stage.ops.size());
        QVERIFY(stage.ops[fold.prefix].role == OpRole::Norm);
    }
}

void TestFold::modelHasItsLayersAtEveryBatchSize() {
    // Layers of the models as published; see the shapes in runs.json.
    const std::map<std::string, std::map<std::string, std::size_t>> layers{
        {"llama-1b", {{"prefill", 16}, {"decode", 16}}},
        {"qwen3-tts-0.6b",
         {{"talker_prefill", 28},
          {"talker_step", 28},
          {"code_predictor_step", 5},
          {"codec_chunk", 8}}},
        {"csm-1b",
         {{"backbone_prefill", 16}, {"backbone_step", 16}, {"depth_step", 4}, {"codec_chunk", 8}}}};
    QFETCH(int, run);
    const Workload workload = test::load(test::realRuns()[static_cast<std::size_t>(run)]);
    const auto& expected = layers.at(workload.model);
    QCOMPARE(workload.stages.size(), expected.size());
    for (const Stage& stage : workload.stages) {
        QCOMPARE(stage.fold.count, expected.at(stage.name));
    }
}

QTEST_APPLESS_MAIN(TestFold)
#include "tst_fold.moc"

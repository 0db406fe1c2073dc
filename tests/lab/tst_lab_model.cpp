// SPDX-License-Identifier: GPL-3.0-or-later
#include "host_model.h"

#include "lab/common/lab_error.h"
#include "lab/model/random.h"

#include <QFile>
#include <QTest>

#include <set>

using namespace kerf::lab;
using namespace kerf::lab::tests;

namespace {

Model readModel(const char* name) {
    QFile file(QString(KERF_SOURCE_DIR) + "/lab/models/" + name);
    if (!file.open(QIODevice::ReadOnly)) {
        throw LabError("cannot open " + file.fileName().toStdString());
    }
    return parseModel(file.readAll().toStdString());
}

} // namespace

class TestLabModel : public QObject {
    Q_OBJECT
private slots:
    void bfloat16RoundsToNearestEven();
    void randomValuesAreUniformAndApart();
    void llamaHasItsPublishedSize();
    void opsAreNamedAsKerfNamesThem();
    void mistakesAreNamed_data();
    void mistakesAreNamed();
    void packedRowsAreAPermutation_data();
    void packedRowsAreAPermutation();
    void packedRowsKeepTogetherWhatAnEpilogueNeeds();
    void packedOffsetsFollowTheFragmentOrder();
    void defaultTilingsFitAtEveryBatch();
    void plansRefuse_data();
    void plansRefuse();
    void countersAreSharedOutByTheQueues();
    void theReferenceAttendsToItsOnlyPosition();
    void theReferenceKeepsLengthsWhenItRotates();
};

void TestLabModel::bfloat16RoundsToNearestEven() {
    // Bits by hand: 1 + 2⁻⁸ lies between 1 (3f80) and 1 + 2⁻⁷ (3f81): a tie, to the even one.
    QCOMPARE(toBFloat16(1.0F + 1.0F / 256).bits, std::uint16_t{0x3f80});
    QCOMPARE(toBFloat16(1.0F + 3.0F / 256).bits, std::uint16_t{0x3f82});
    QCOMPARE(toBFloat16(1.0F + 1.01F / 256).bits, std::uint16_t{0x3f81});
    QCOMPARE(toBFloat16(-2.5F).bits, std::uint16_t{0xc020});
    QVERIFY(std::isnan(toFloat(toBFloat16(std::numeric_limits<float>::quiet_NaN()))));
    QVERIFY(std::isinf(toFloat(toBFloat16(std::numeric_limits<float>::infinity()))));
    QCOMPARE(packPair(1.0F, -2.5F), 0xc0203f80U);
    QCOMPARE(lowHalf(0xc0203f80U), 1.0F);
    QCOMPARE(highHalf(0xc0203f80U), -2.5F);
}

void TestLabModel::randomValuesAreUniformAndApart() {
    double sum = 0;
    double squares = 0;
    const int count = 100000;
    for (int i = 0; i < count; ++i) {
        const double value = toFloat(randomValue(1, 2, static_cast<std::uint64_t>(i), 2.0F));
        QVERIFY(std::abs(value) <= 2);
        sum += value;
        squares += value * value;
    }
    // Variance of a uniform value in ±2: 4/3; of the mean of 10⁵: 1.3e-5, so 0.02 is five sigma.
    QVERIFY(std::abs(sum / count) < 0.02);
    QVERIFY(std::abs(squares / count - 4.0 / 3) < 0.02);
    int same = 0; // neighbours, other tensors, other seeds share nothing
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::uint16_t value = randomValue(1, 2, i, 2.0F).bits;
        same += (value == randomValue(1, 2, i + 1, 2.0F).bits) +
                (value == randomValue(1, 3, i, 2.0F).bits) +
                (value == randomValue(2, 2, i, 2.0F).bits) +
                (value == randomValue(1, 2 + 0x40000000U, i, 2.0F).bits);
    }
    QVERIFY2(same < 40, qPrintable(QString::number(same))); // ~ 1/256 each by chance
}

void TestLabModel::llamaHasItsPublishedSize() {
    const Model model = readModel("llama-1b.json");
    QCOMPARE(executionsOf(model).size(), std::size_t{1 + 16 * 5 + 2});
    // Products of a layer: 2048 · (3072 + 2048 + 16384) + 8192 · 2048 = 60,817,408 values; 16
    // layers and a head of 128256 · 2048; 2 bytes each: 2471.5 MB; the embedding adds a row of 4096
    // bytes a request.
    const double products = 2.0 * (16 * 60'817'408.0 + 128256.0 * 2048);
    QCOMPARE(weightBytes(model, 1), products + 4096);
    QCOMPARE(weightBytes(model, 64), products + 64 * 4096);
    // 32 KiB a position and request.
    QCOMPARE(cacheBytes(model, 3), 3 * 512 * 32768.0);
}

void TestLabModel::opsAreNamedAsKerfNamesThem() {
    const Model model = smallModel();
    std::vector<std::string> keys;
    for (const ModelOp& op : model.ops) {
        keys.push_back(op.key);
    }
    QCOMPARE(keys, (std::vector<std::string>{"decode/start/embedding.1", "decode/layer/product.1",
                                             "decode/layer/attention.1", "decode/layer/product.2",
                                             "decode/layer/product.3", "decode/layer/product.4",
                                             "decode/end/product.1", "decode/end/sample.1"}));
    const std::vector<Execution> executions = executionsOf(model);
    QCOMPARE(executions[0], (Execution{0, 0}));
    QCOMPARE(executions[6], (Execution{1, 1})); // after the embedding and five ops of layer 0
    QCOMPARE(executions[12], (Execution{7, 0}));
}

void TestLabModel::mistakesAreNamed_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("says");
    QTest::newRow("foreign") << "kerf-lab-model"
                             << "other"
                             << "not a model of kerf-lab";
    QTest::newRow("version") << "\"version\": 1"
                             << "\"version\": 2"
                             << "only version 1";
    QTest::newRow("text for a number") << "\"context\": 512"
                                       << "\"context\": \"512\""
                                       << "file.context";
    QTest::newRow("zero") << "\"layers\": 16"
                          << "\"layers\": 0"
                          << "1 to 1000";
    QTest::newRow("negative") << "\"norm_epsilon\": 1e-5"
                              << "\"norm_epsilon\": -1"
                              << "positive number";
    QTest::newRow("heads") << "\"heads\": 32"
                           << "\"heads\": 30"
                           << "multiple of kv_heads";
    QTest::newRow("too many sharing") << "\"kv_heads\": 8"
                                      << "\"kv_heads\": 4"
                                      << "at most 4 heads";
    QTest::newRow("head_dim") << "\"head_dim\": 64"
                              << "\"head_dim\": 96"
                              << "32, 64, 128 or 256";
    QTest::newRow("unknown kind") << "\"kind\": \"attention\""
                                  << "\"kind\": \"magic\""
                                  << "embedding, product";
    QTest::newRow("unknown buffer") << "\"input\": \"mixed\""
                                    << "\"input\": \"nowhere\""
                                    << "no buffer \"nowhere\"";
    QTest::newRow("rows of heads") << "\"rows\": 3072"
                                   << "\"rows\": 3088"
                                   << "together have 3072";
    QTest::newRow("width") << "\"hidden\": 8192"
                           << "\"hidden\": 8160"
                           << "8160 wide, not 8192";
    QTest::newRow("odd rows") << "\"rows\": 16384"
                              << "\"rows\": 16390"
                              << "multiple of 16";
    QTest::newRow("vocabulary") << "\"rows\": 128256"
                                << "\"rows\": 128000"
                                << "the vocabulary";
    QTest::newRow("missing") << "\"rows\": 3072,"
                             << ""
                             << "\"rows\" is missing";
    QTest::newRow("a list for a text") << "\"name\": \"qkv\""
                                       << "\"name\": [1]"
                                       << "layer[0].name";
    QTest::newRow("norm is a text") << "\"norm\": true"
                                    << "\"norm\": \"yes\""
                                    << "type must be boolean";
    QTest::newRow("cut off") << "\"suffix\""
                             << ""
                             << "model file: file";
}

void TestLabModel::mistakesAreNamed() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, says);
    QFile file(QString(KERF_SOURCE_DIR) + "/lab/models/llama-1b.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    QString text = QString::fromUtf8(file.readAll());
    QVERIFY(text.contains(from));
    text.replace(text.indexOf(from), from.size(), to);
    try {
        (void)parseModel(text.toStdString());
        QFAIL("the mistake went unnoticed");
    } catch (const LabError& error) {
        QVERIFY2(QString(error.what()).contains(says), error.what());
    }
}

void TestLabModel::packedRowsAreAPermutation_data() {
    QTest::addColumn<int>("op");
    for (const int op : {1, 3, 4, 5, 6}) {
        QTest::addRow("%d", op) << op;
    }
}

void TestLabModel::packedRowsAreAPermutation() {
    QFETCH(int, op);
    for (const Model& model : {smallModel(), readModel("llama-1b.json")}) {
        const ModelOp& product = model.ops[static_cast<std::size_t>(op)];
        std::set<int> rows;
        for (int packed = 0; packed < product.rows; ++packed) {
            rows.insert(matrixRow(model, product, packed));
        }
        QCOMPARE(static_cast<int>(rows.size()), product.rows);
        QCOMPARE(*rows.begin(), 0);
        QCOMPARE(*rows.rbegin(), product.rows - 1);
    }
}

void TestLabModel::packedRowsKeepTogetherWhatAnEpilogueNeeds() {
    const Model model = readModel("llama-1b.json");
    const ModelOp& qkv = model.ops[1];
    // First kv head: q heads 0 … 3, then k head 0 (matrix row 2048), then v head 0 (row 2560).
    QCOMPARE(matrixRow(model, qkv, 0), 0);
    QCOMPARE(matrixRow(model, qkv, 1), 32); // its other half
    QCOMPARE(matrixRow(model, qkv, 64 * 3 + 2), 64 * 3 + 1);
    QCOMPARE(matrixRow(model, qkv, 256), 2048);
    QCOMPARE(matrixRow(model, qkv, 257), 2048 + 32);
    QCOMPARE(matrixRow(model, qkv, 320 + 5), 2560 + 5); // values are not rotated
    QCOMPARE(matrixRow(model, qkv, 384), 256);          // second kv head: q head 4
    const ModelOp& gate_up = model.ops[4];
    QCOMPARE(matrixRow(model, gate_up, 10), 5);
    QCOMPARE(matrixRow(model, gate_up, 11), 8192 + 5);
}

void TestLabModel::packedOffsetsFollowTheFragmentOrder() {
    ModelOp op;
    op.rows = 64;
    op.columns = 128;
    // Tiles of 32 rows, stages of 64 columns: a stage is 2048 values, blocks of 512.
    QCOMPARE(packedOffset(op, 32, 64, 0, 0), std::size_t{0});
    QCOMPARE(packedOffset(op, 32, 64, 0, 7), std::size_t{7});
    QCOMPARE(packedOffset(op, 32, 64, 0, 8), std::size_t{8});     // lane 1
    QCOMPARE(packedOffset(op, 32, 64, 1, 0), std::size_t{32});    // lane 4
    QCOMPARE(packedOffset(op, 32, 64, 8, 0), std::size_t{256});   // second half
    QCOMPARE(packedOffset(op, 32, 64, 0, 32), std::size_t{512});  // next 32 columns
    QCOMPARE(packedOffset(op, 32, 64, 16, 0), std::size_t{1024}); // next 16 rows
    QCOMPARE(packedOffset(op, 32, 64, 0, 64), std::size_t{2048}); // next stage
    QCOMPARE(packedOffset(op, 32, 64, 32, 0), std::size_t{4096}); // next tile
    std::set<std::size_t> offsets;
    for (int row = 0; row < op.rows; ++row) {
        for (int column = 0; column < op.columns; ++column) {
            offsets.insert(packedOffset(op, 32, 64, row, column));
        }
    }
    QCOMPARE(offsets.size(), std::size_t{64 * 128});
    QCOMPARE(*offsets.rbegin(), std::size_t{64 * 128 - 1});
}

void TestLabModel::defaultTilingsFitAtEveryBatch() {
    const Model model = readModel("llama-1b.json");
    for (const int batch : {1, 2, 4, 8, 16, 32, 64}) {
        const WorkerShape shape;
        std::vector<Tiling> tilings;
        for (const ModelOp& op : model.ops) {
            tilings.push_back(defaultTiling(model, op, batch, 132, shape));
        }
        RegionRequest request;
        request.executions = executionsOf(model);
        const RegionPlan plan = planRegion(model, batch, shape, tilings, request);
        QVERIFY2(plan.weight_stages >= 3, qPrintable(QString::number(plan.weight_stages)));
        QVERIFY(plan.shared_bytes <= 232448U);
        QVERIFY(plan.positions_a_slot >= 32);
        std::map<std::pair<std::uint32_t, std::uint32_t>, int> runs;
        for (const Task& task : plan.tasks) {
            ++runs[{task.op, task.tile}];
        }
        std::size_t tiles = 0;
        double bytes = 0; // of weights that the tiles stream
        for (std::size_t i = 0; i < plan.executions.size(); ++i) {
            const ModelOp& op = model.ops[plan.executions[i].op];
            const int count = tileCount(model, op, batch, tilings[plan.executions[i].op]);
            tiles += static_cast<std::size_t>(count);
            if (op.kind == OpKind::Product) {
                QVERIFY2(count >= 128, qPrintable(QString::fromStdString(op.name)));
                const Tiling& tiling = tilings[plan.executions[i].op];
                bytes += 2.0 * count * tiling.rows_a_tile * op.columns / tiling.splits;
            }
        }
        QCOMPARE(plan.tasks.size(), tiles);
        QCOMPARE(runs.size(), tiles); // each once
        QCOMPARE(bytes + batch * 4096, weightBytes(model, batch));
    }
}

void TestLabModel::plansRefuse_data() {
    QTest::addColumn<int>("batch");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("splits");
    QTest::addColumn<bool>("tensor");
    QTest::addColumn<QString>("says");
    QTest::newRow("too many requests") << 65 << 16 << 1 << true << "not in 1 … 64";
    QTest::newRow("multiply-add at 5") << 5 << 16 << 1 << false << "at most 4 requests";
    QTest::newRow("rows for no warp") << 1 << 48 << 1 << true << "cannot be shared by 8 warps";
    QTest::newRow("half a stage") << 1 << 16 << 4 << true << "whole stages";
    QTest::newRow("no splits") << 1 << 16 << 0 << true << "at least 1 split";
    QTest::newRow("slots too large") << 64 << 16 << 1 << true << "no room for two stages";
}

void TestLabModel::plansRefuse() {
    QFETCH(int, batch);
    QFETCH(int, rows);
    QFETCH(int, splits);
    QFETCH(bool, tensor);
    QFETCH(QString, says);
    const Model model = readModel("llama-1b.json");
    WorkerShape shape;
    shape.tensor_cores = tensor;
    RegionRequest request;
    request.executions = {{1, 0}};
    const std::vector<Tiling> tilings(model.ops.size(), Tiling{rows, splits});
    try {
        const RegionPlan plan = planRegion(model, batch, shape, tilings, request);
        QFAIL("was not refused");
    } catch (const LabError& error) {
        QVERIFY2(QString(error.what()).contains(says), error.what());
    }
}

/// Given workers are kept to, in the order of the ops.
void TestLabModel::countersAreSharedOutByTheQueues() {
    const Model model = smallModel();
    WorkerShape shape;
    shape.stage_bytes = 2048;
    RegionRequest request;
    request.workers = 3;
    request.executions = {{3, 0}, {4, 0}}; // o: 8 tiles, gate·up: 32
    request.assignments = {{2, 2, 2, 2, 1, 1, 1, 0}, {}};
    const std::vector<Tiling> tilings(model.ops.size(), Tiling{16, 1});
    const RegionPlan plan = planRegion(model, 1, shape, tilings, request);
    // Worker 0: tile 7 of o and 11 of gate·up (0, 3, …, 30); worker 1: 3 + 11; worker 2: 4 + 10.
    QCOMPARE(plan.task_begin, (std::vector<std::uint32_t>{0, 12, 26, 40}));
    QCOMPARE(plan.tasks[0].tile, 7U);
    QCOMPARE(plan.tasks[0].wait_event, kNoEvent);
    QCOMPARE(plan.tasks[1].op, 1U);
    QCOMPARE(plan.tasks[1].wait_event, plan.tasks[0].signal_event);
    QCOMPARE(plan.tasks[1].wait_count, 8U);
    request.assignments[0].pop_back();
    QVERIFY_THROWS_EXCEPTION(LabError, (void)planRegion(model, 1, shape, tilings, request));
    request.assignments[0].push_back(3);
    QVERIFY_THROWS_EXCEPTION(LabError, (void)planRegion(model, 1, shape, tilings, request));
}

void TestLabModel::theReferenceAttendsToItsOnlyPosition() {
    Model model = smallModel();
    model.context = 1;
    model.layers = 1;
    const ReferenceStep step = referenceStep(model, 3, 0, {17, 400});
    // With one position the softmax is 1: each q head's result is its kv head's value.
    const std::vector<double>& mixed = step.buffers[1]; // by name: hidden, mixed, q, x
    for (std::size_t request = 0; request < 2; ++request) {
        for (std::size_t head = 0; head < 4; ++head) {
            for (std::size_t i = 0; i < 32; ++i) {
                QVERIFY(std::abs(mixed[request * 128 + head * 32 + i] -
                                 step.values[0][(request * 2 + head / 2) * 32 + i]) < 1e-12);
            }
        }
    }
}

void TestLabModel::theReferenceKeepsLengthsWhenItRotates() {
    Model model = smallModel();
    model.layers = 1;
    const ReferenceStep at0 = referenceStep(model, 3, 0, {17});
    const ReferenceStep at9 = referenceStep(model, 3, 9, {17});
    for (std::size_t pair = 0; pair < 2; ++pair) {
        for (std::size_t i = 0; i < 16; ++i) {
            const auto length = [&](const ReferenceStep& step) {
                return std::hypot(step.keys[0][pair * 32 + i], step.keys[0][pair * 32 + i + 16]);
            };
            QVERIFY(std::abs(length(at0) - length(at9)) < 1e-12);
        }
        // The first pair turns by 9 radians (its frequency is 1).
        const double a = at0.keys[0][pair * 32];
        const double b = at0.keys[0][pair * 32 + 16];
        QVERIFY(std::abs(at9.keys[0][pair * 32] - (a * std::cos(9.0) - b * std::sin(9.0))) < 1e-12);
    }
}

QTEST_MAIN(TestLabModel)
#include "tst_lab_model.moc"

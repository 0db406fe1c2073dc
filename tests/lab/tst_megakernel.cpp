// SPDX-License-Identifier: GPL-3.0-or-later
// The megakernel's own source, thread by thread on the CPU, against the double precision reference.
#include "host_model.h"

#include "lab/common/lab_error.h"

#include <QTest>

#include <algorithm>

using namespace kerf::lab;
using namespace kerf::lab::tests;

namespace {

constexpr unsigned kAll = 0xffffffffU;
template <unsigned Padded, unsigned Warps, bool Tensor>
using Everything = WorkerConfig<Padded, Warps, Tensor, kAll, kAll, true>;

struct Case {
    int batch = 1;
    int workers = 3;
    WorkerShape shape;
    Tiling product;
    int attention_splits = 1;
    Grain grain = Grain::All;
    std::vector<std::size_t> cuts; ///< executions before which a new region starts
};

std::vector<Tiling> tilingsOf(const Model& model, const Case& c) {
    std::vector<Tiling> tilings(model.ops.size(), c.product);
    for (std::size_t i = 0; i < model.ops.size(); ++i) {
        if (model.ops[i].kind == OpKind::Attention) {
            tilings[i].splits = c.attention_splits;
        } else if (model.ops[i].epilogue == Epilogue::BestOfTile) {
            tilings[i].splits = 1;
        }
    }
    return tilings;
}

WorkerShape shapeOf(int warps, bool tensor, std::uint32_t stage_bytes, std::uint32_t ring) {
    WorkerShape shape;
    shape.consumer_warps = warps;
    shape.tensor_cores = tensor;
    shape.stage_bytes = stage_bytes;
    shape.weight_stages_most = ring;
    return shape;
}

/// Largest and root mean square difference, both over the root mean square of `expected`.
struct Error {
    double most = 0;
    double mean = 0;
};
template <class Value> Error errorOf(const std::vector<double>& expected, Value&& value) {
    double squares = 0;
    double differences = 0;
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = std::abs(expected[i] - value(i));
        if (std::isnan(difference)) {
            return {1e9, 1e9};
        }
        squares += expected[i] * expected[i];
        differences += difference * difference;
        most = std::max(most, difference);
    }
    const auto count = static_cast<double>(expected.size());
    const double rms = std::sqrt(squares / count);
    return {most / rms, std::sqrt(differences / count) / rms};
}

/// bfloat16 keeps 8 bits: each rounding is off by at most 2⁻⁹, and the small model rounds a value
/// some ten times on its way.
constexpr double kMeanBound = 0.01;
constexpr double kMostBound = 0.05;

template <class Config> void runCase(const Case& c, std::uint64_t seed) {
    const Model model = smallModel();
    HostModel host(model, c.batch, 11 + seed, tilingsOf(model, c), c.shape.stage_bytes);
    const std::vector<Execution> all = executionsOf(model);
    std::vector<std::size_t> bounds = c.cuts;
    bounds.insert(bounds.begin(), 0);
    bounds.push_back(all.size());
    std::vector<std::size_t> regions;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        RegionRequest request;
        request.executions.assign(all.begin() + static_cast<std::ptrdiff_t>(bounds[i]),
                                  all.begin() + static_cast<std::ptrdiff_t>(bounds[i + 1]));
        request.grains.assign(request.executions.size(), c.grain);
        request.workers = c.workers;
        regions.push_back(host.addRegion(request, c.shape));
    }
    for (int step = 0; step < 2; ++step) { // the second on the first one's counters
        const ReferenceStep expected = host.reference();
        for (const std::size_t region : regions) {
            host.launch<Config>(region, seed * 2 + static_cast<std::uint64_t>(step));
        }
        const Error x = errorOf(expected.buffers[3], [&](std::size_t i) { // "x", by name order
            return toFloat(host.buffer(3)[i]);
        });
        QVERIFY2(x.mean < kMeanBound && x.most < kMostBound,
                 qPrintable(QString("x off by %1 (mean %2)").arg(x.most).arg(x.mean)));
        const Error logits =
            errorOf(expected.logits, [&](std::size_t i) { return double{host.logits[i]}; });
        QVERIFY2(
            logits.mean < kMeanBound && logits.most < kMostBound,
            qPrintable(QString("logits off by %1 (mean %2)").arg(logits.most).arg(logits.mean)));
        for (int layer = 0; layer < model.layers; ++layer) {
            for (const bool is_value : {false, true}) {
                const auto& appended =
                    (is_value ? expected.values : expected.keys)[static_cast<std::size_t>(layer)];
                const auto dim = static_cast<std::size_t>(model.head_dim);
                const Error cache = errorOf(appended, [&](std::size_t i) {
                    return toFloat(
                        host.appended(is_value, layer, i / dim, static_cast<int>(i % dim)));
                });
                QVERIFY2(cache.mean < kMeanBound && cache.most < kMostBound,
                         qPrintable(QString("cache off by %1").arg(cache.most)));
            }
        }
        for (std::size_t request = 0; request < host.tokens.size(); ++request) {
            // The token is the best of the logits that the kernel itself wrote.
            const auto begin =
                host.logits.begin() + static_cast<std::ptrdiff_t>(request) * model.vocabulary;
            QCOMPARE(host.tokens[request],
                     static_cast<std::uint32_t>(std::max_element(begin, begin + model.vocabulary) -
                                                begin));
        }
    }
}

void run(const Case& c, std::uint64_t seed) {
    const unsigned padded = paddedBatch(c.batch);
    if (!c.shape.tensor_cores) {
        c.shape.consumer_warps == 16 ? runCase<Everything<8, 16, false>>(c, seed)
                                     : runCase<Everything<8, 4, false>>(c, seed);
    } else if (c.shape.consumer_warps == 4) {
        padded == 8 ? runCase<Everything<8, 4, true>>(c, seed)
                    : runCase<Everything<16, 4, true>>(c, seed);
    } else if (padded == 8) {
        runCase<Everything<8, 8, true>>(c, seed);
    } else {
        runCase<Everything<64, 8, true>>(c, seed);
    }
}

} // namespace

Q_DECLARE_METATYPE(Case)

class TestMegakernel : public QObject {
    Q_OBJECT
private slots:
    void givesTheReferencesOutput_data();
    void givesTheReferencesOutput();
    void anyInterleavingGivesTheSameBits();
    void aWaitThatIsNeverMetIsReported();
    void everyTileRunsOnceAndAfterItsEvent();
};

void TestMegakernel::givesTheReferencesOutput_data() {
    QTest::addColumn<Case>("c");
    const WorkerShape wide = shapeOf(8, true, 4096, 3);
    const WorkerShape narrow = shapeOf(4, true, 2048, 2);
    const WorkerShape streaming = shapeOf(4, false, 2048, 4);
    const WorkerShape many = shapeOf(16, false, 4096, 2);
    QTest::newRow("monolith, 1 request") << Case{1, 3, wide, {16, 1}, 1, Grain::All, {}};
    QTest::newRow("splits") << Case{1, 3, narrow, {16, 2}, 2, Grain::All, {}};
    QTest::newRow("splits, aligned") << Case{3, 4, narrow, {16, 2}, 2, Grain::Aligned, {}};
    QTest::newRow("one worker") << Case{2, 1, narrow, {32, 2}, 1, Grain::Aligned, {}};
    QTest::newRow("8 requests, wide tiles") << Case{8, 3, wide, {32, 1}, 1, Grain::Aligned, {}};
    QTest::newRow("11 requests") << Case{11, 3, narrow, {32, 1}, 2, Grain::All, {}};
    QTest::newRow("37 requests, rows of 64") << Case{37, 2, wide, {64, 2}, 1, Grain::All, {}};
    QTest::newRow("a cut every layer") << Case{2, 3, narrow, {16, 1}, 1, Grain::All, {1, 6, 11}};
    QTest::newRow("a region an op")
        << Case{2, 2, narrow, {16, 2}, 2, Grain::All, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    QTest::newRow("more workers than tiles")
        << Case{1, 21, shapeOf(4, true, 4096, 2), {64, 1}, 1, Grain::All, {}};
    QTest::newRow("multiply-add, 1 request") << Case{1, 3, streaming, {16, 1}, 1, Grain::All, {}};
    QTest::newRow("multiply-add, 4 requests")
        << Case{4, 3, streaming, {32, 2}, 2, Grain::Aligned, {3}};
    QTest::newRow("multiply-add, many threads") << Case{3, 2, many, {16, 1}, 2, Grain::All, {}};
}

void TestMegakernel::givesTheReferencesOutput() {
    QFETCH(Case, c);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        run(c, seed);
        if (QTest::currentTestFailed()) {
            qInfo("seed %d", static_cast<int>(seed));
            return;
        }
    }
}

/// Sums are taken in a fixed order, so which worker comes first cannot show.
void TestMegakernel::anyInterleavingGivesTheSameBits() {
    const Model model = smallModel();
    const Case c{3, 4, shapeOf(4, true, 2048, 2), {16, 2}, 2, Grain::Aligned, {}};
    std::vector<float> first;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        HostModel host(model, c.batch, 5, tilingsOf(model, c), c.shape.stage_bytes);
        RegionRequest request;
        request.executions = executionsOf(model);
        request.grains.assign(request.executions.size(), c.grain);
        request.workers = c.workers;
        const std::size_t region = host.addRegion(request, c.shape);
        const auto counts = host.launch<Everything<8, 4, true>>(region, seed);
        QVERIFY(counts.copies > 0);
        if (first.empty()) {
            first = host.logits;
        }
        QCOMPARE(host.logits, first);
    }
}

void TestMegakernel::aWaitThatIsNeverMetIsReported() {
    const Model model = smallModel();
    const Case c{1, 2, shapeOf(4, true, 2048, 2), {16, 1}, 1, Grain::All, {}};
    HostModel host(model, c.batch, 5, tilingsOf(model, c), c.shape.stage_bytes);
    RegionRequest request;
    request.executions = executionsOf(model);
    request.workers = c.workers;
    const std::size_t region = host.addRegion(request, c.shape);
    auto& plan = const_cast<RegionPlan&>(host.plan(region));
    plan.tasks.back().wait_count += 1; // one raise more than there are tiles
    try {
        host.launch<Everything<8, 4, true>>(region, 1);
        QFAIL("a wait that is never met went unnoticed");
    } catch (const LabError& error) {
        QVERIFY2(QString(error.what()).contains("an event"), error.what());
    }
}

void TestMegakernel::everyTileRunsOnceAndAfterItsEvent() {
    const Model model = smallModel();
    const Case c{2, 3, shapeOf(4, true, 2048, 3), {16, 1}, 1, Grain::Aligned, {}};
    HostModel host(model, c.batch, 5, tilingsOf(model, c), c.shape.stage_bytes);
    RegionRequest request;
    request.executions = executionsOf(model);
    request.grains.assign(request.executions.size(), c.grain);
    request.workers = c.workers;
    const std::size_t region = host.addRegion(request, c.shape);
    host.launch<Everything<8, 4, true>>(region, 9);
    const RegionPlan& plan = host.plan(region);
    const std::vector<TaskTimes>& times = host.times(region);
    // By hand, tiles of an execution: embed 2 (requests); qkv 256/16, attention 2·2, o 128/16,
    // gate·up 512/16, down 128/16 twice; head 512/16; best 2.
    QCOMPARE(plan.tasks.size(), std::size_t{2 + 2 * (16 + 4 + 8 + 32 + 8) + 32 + 2});
    QCOMPARE(plan.events, 13U + 2U); // one an execution, but two (kv heads) for each qkv
    std::map<std::uint32_t, std::pair<unsigned, std::uint64_t>> raised; // times, last end
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
        auto& [count, end] = raised[plan.tasks[i].signal_event];
        ++count;
        end = std::max<std::uint64_t>(end, times[i].end_ns);
    }
    std::size_t waits = 0;
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
        const Task& task = plan.tasks[i];
        QVERIFY(times[i].ready_ns > 0 && times[i].end_ns > times[i].ready_ns);
        if (task.wait_event != kNoEvent) {
            ++waits;
            QCOMPARE(task.wait_count, raised[task.wait_event].first);
            QVERIFY(times[i].ready_ns >= raised[task.wait_event].second);
        }
    }
    QCOMPARE(waits, plan.tasks.size() - 2); // all but the embedding's
}

QTEST_MAIN(TestMegakernel)
#include "tst_megakernel.moc"

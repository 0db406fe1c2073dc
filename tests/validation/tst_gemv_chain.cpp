// SPDX-License-Identifier: GPL-3.0-or-later
// The measured chain of matrix-vector products, predicted from the shipped constants and
// single-kernel figures: the goal of docs/validation/gemv_chain.md.
#include "core/validation/ablation.h"
#include "shared_data.h"

#include <QProcess>
#include <QTemporaryDir>
#include <cmath>

using namespace kerf;

class TestGemvChain : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void allFiguresAreWithinTheGoal();
    void regionLengthsAreInTheMeasuredOrder();
    void theNaivePredictorsAreWorse();
    void everyLargeEffectIsNeeded();

private:
    validation::ChainFile file_;
    cost::Hardware hardware_;
    validation::Validation made_;
};

void TestGemvChain::initTestCase() {
    KERF_NEEDS_SHARED_DATA();
    QTemporaryDir folder;
    const QString chain = folder.filePath("chain.json");
    const auto path = [](const std::filesystem::path& p) {
        return QString::fromStdString(p.string());
    };
    QCOMPARE(QProcess::execute("python3",
                               {path(test::sourceDir() / "scripts/convert-gemv-chain"),
                                path(test::sharedData() / "h200/gemv_chain.json"), "-o", chain}),
             0);
    file_ = validation::readChainFile(chain.toStdString()).value();
    hardware_ = cost::shippedHardware(file_.gpu).value();
    Progress progress;
    made_ = validation::validate(file_, {hardware_, {}, {}}, progress).value();
    qInfo("mean absolute error %.2f %%, worst %.2f %% of %zu", 100 * made_.engine.mean_abs,
          100 * made_.engine.worst_abs, made_.cases.size());
}

void TestGemvChain::allFiguresAreWithinTheGoal() {
    QCOMPARE(made_.cases.size(), std::size_t{35});
    // The sums again, from the cases alone.
    double sum = 0;
    double worst = 0;
    for (const auto& one : made_.cases) {
        const double error = std::abs(one.predicted_us - one.measured_us) / one.measured_us;
        sum += error;
        worst = std::max(worst, error);
    }
    QVERIFY(std::abs(sum / 35 - made_.engine.mean_abs) < 1e-12);
    QVERIFY(sum / 35 <= 0.04);
    QVERIFY(worst <= 0.10);
}

void TestGemvChain::regionLengthsAreInTheMeasuredOrder() {
    // In each chain longer regions are measured faster, without exception: so must be predicted.
    for (std::size_t chain = 0; chain < file_.chains.size(); ++chain) {
        std::vector<double> predicted;
        std::vector<double> measured;
        for (const auto& one : made_.cases) {
            if (one.chain == chain &&
                file_.chains[chain].cases[one.chain_case].kind == validation::CaseKind::RegionsOf) {
                predicted.push_back(one.predicted_us);
                measured.push_back(one.measured_us);
            }
        }
        QCOMPARE(predicted.size(), std::size_t{6});
        QVERIFY(std::is_sorted(measured.rbegin(), measured.rend()));
        // At 1056 rows regions of 8 and more are predicted equal within 0.3 %: the goal of a right
        // order is missed there by that much (docs/validation/gemv_chain.md).
        constexpr double kEqual = 0.003;
        for (std::size_t i = 1; i < predicted.size(); ++i) {
            QVERIFY(predicted[i] < predicted[i - 1] * (1 + (chain == 0 ? kEqual : 0)));
        }
    }
}

void TestGemvChain::theNaivePredictorsAreWorse() {
    QVERIFY(made_.launch_gap.mean_abs > 2 * made_.engine.mean_abs);
    QVERIFY(made_.roofline.mean_abs > 2 * made_.engine.mean_abs);
}

void TestGemvChain::everyLargeEffectIsNeeded() {
    Progress progress;
    const auto rows = validation::ablate(file_, hardware_, progress);
    QVERIFY(rows.has_value());
    for (const auto& row : *rows) {
        if (std::abs(row.mean_shift) > 2 * made_.engine.mean_abs) {
            QVERIFY2(row.error.mean_abs > made_.engine.mean_abs, row.effect.c_str());
        }
    }
}

QTEST_GUILESS_MAIN(TestGemvChain)
#include "tst_gemv_chain.moc"

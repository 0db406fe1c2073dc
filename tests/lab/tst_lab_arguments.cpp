// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/arguments.h"

#include <QTest>
#include <vector>

using namespace kerf::lab;

namespace {

ParsedArguments parsed(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "kerf-lab");
    return parseArguments(static_cast<int>(arguments.size()), arguments.data());
}

} // namespace

class TestLabArguments : public QObject {
    Q_OBJECT
private slots:
    void calibrateTakesItsOptions() {
        const auto result =
            parsed({"calibrate", "-o", "hardware.json", "--device", "2", "--quick"});
        QVERIFY(result.run);
        QCOMPARE(result.arguments.output, std::string("hardware.json"));
        QCOMPARE(result.arguments.device, 2);
        QVERIFY(result.arguments.quick);
        QVERIFY(result.arguments.base.empty());
    }
    void helpIsNoMistake() {
        const auto result = parsed({"calibrate", "--help"});
        QVERIFY(!result.run);
        QCOMPARE(result.exit_code, 0);
        QVERIFY(result.text.find("--base") != std::string::npos);
    }
    void mistakesSayWhatAndExitWith2_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("named");
        QTest::newRow("no verb") << QStringList{} << "subcommand";
        QTest::newRow("no output") << QStringList{"calibrate"} << "--output";
        QTest::newRow("unknown option")
            << QStringList{"calibrate", "-o", "h.json", "--nonsense"} << "--nonsense";
        QTest::newRow("negative device")
            << QStringList{"calibrate", "-o", "h.json", "--device", "-1"} << "--device";
        QTest::newRow("missing base")
            << QStringList{"calibrate", "-o", "h.json", "--base", "no-such-file"} << "no-such-file";
    }
    void mistakesSayWhatAndExitWith2() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, named);
        std::vector<QByteArray> bytes;
        for (const QString& argument : arguments) {
            bytes.push_back(argument.toUtf8());
        }
        std::vector<const char*> raw;
        for (const QByteArray& argument : bytes) {
            raw.push_back(argument.constData());
        }
        const auto result = parsed(raw);
        QVERIFY(!result.run);
        QCOMPARE(result.exit_code, 2);
        QVERIFY2(result.text.find(named.toStdString()) != std::string::npos, result.text.c_str());
    }
};

QTEST_APPLESS_MAIN(TestLabArguments)
#include "tst_lab_arguments.moc"

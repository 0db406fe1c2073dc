// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recent_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>

namespace kerf::app {

namespace {
constexpr int kMost = 8;
const char* const kKey = "recentFiles";
} // namespace

RecentFiles::RecentFiles(QWidget* parent) : QMenu(tr("Open &recent"), parent) {
    connect(this, &QMenu::aboutToShow, this, &RecentFiles::refill);
    refill();
}

QStringList RecentFiles::files() {
    QStringList all = QSettings().value(kKey).toStringList();
    all.removeIf([](const QString& file) { return !QFileInfo::exists(file); });
    return all;
}

void RecentFiles::add(const QString& file) {
    QStringList all = files();
    const QString absolute = QFileInfo(file).absoluteFilePath();
    all.removeAll(absolute);
    all.prepend(absolute);
    QSettings().setValue(kKey, all.mid(0, kMost));
}

void RecentFiles::refill() {
    clear();
    for (const QString& file : files()) {
        connect(addAction(QFileInfo(file).fileName() + "  —  " + QFileInfo(file).absolutePath()),
                &QAction::triggered, this, [this, file] { emit chosen(file); });
    }
    if (isEmpty()) {
        addAction(tr("Nothing opened yet"))->setEnabled(false);
    }
}

QString samplePath() {
    const QDir program(QCoreApplication::applicationDirPath());
    QStringList places{program.filePath("../share/kerf/sample/sample.kerf")};
    QString up = ".";
    for (int i = 0; i < 4; ++i) { // build/PRESET/app in a source tree
        places << program.filePath(up + "/resources/sample/sample.kerf");
        up += "/..";
    }
    for (const QString& place : places) {
        if (QFileInfo::exists(place)) {
            return QFileInfo(place).canonicalFilePath();
        }
    }
    return {};
}

} // namespace kerf::app

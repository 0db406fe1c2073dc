// SPDX-License-Identifier: GPL-3.0-or-later
// The projects opened last, kept in the settings.
#pragma once

#include <QMenu>

namespace kerf::app {

class RecentFiles : public QMenu {
    Q_OBJECT
public:
    explicit RecentFiles(QWidget* parent = nullptr);
    void add(const QString& file);
    [[nodiscard]] static QStringList files(); ///< newest first, existing ones only

signals:
    void chosen(const QString& file);

private:
    void refill();
};

/// The sample project: installed beside the program, or in the source tree that it was built in.
/// Empty where there is none.
[[nodiscard]] QString samplePath();

} // namespace kerf::app

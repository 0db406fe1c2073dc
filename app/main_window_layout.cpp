// SPDX-License-Identifier: GPL-3.0-or-later
// Where the panels are: default proportions, saved layouts, settings.
#include "app/main_window.h"
#include "app/panel_dock.h"
#include "views/theme.h"

#include <QApplication>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QSettings>

namespace kerf::app {

void MainWindow::defaultLayout() {
    for (auto* dock : panels()) {
        dock->setFloating(false);
        dock->show();
    }
    // One by one beside the first: five below one another would make the window grow.
    addDockWidget(Qt::LeftDockWidgetArea, composition_dock_);
    splitDockWidget(composition_dock_, prediction_dock_, Qt::Horizontal);
    splitDockWidget(composition_dock_, timeline_dock_, Qt::Vertical);
    splitDockWidget(prediction_dock_, candidates_dock_, Qt::Vertical);
    splitDockWidget(candidates_dock_, category_dock_, Qt::Vertical);
    // A split takes effect with the next layout; sizes given before are lost.
    QMetaObject::invokeMethod(this, &MainWindow::defaultSizes, Qt::QueuedConnection);
}

void MainWindow::defaultSizes() {
    const int w = width();
    const int h = height() - 130; // bars and margins; the rest is shared out
    resizeDocks({composition_dock_, prediction_dock_}, {w * 73 / 100, w * 27 / 100},
                Qt::Horizontal);
    resizeDocks({composition_dock_, timeline_dock_}, {h * 24 / 100, h * 76 / 100}, Qt::Vertical);
    resizeDocks({prediction_dock_, candidates_dock_, category_dock_},
                {h * 24 / 100, h * 40 / 100, h * 36 / 100}, Qt::Vertical);
}

void MainWindow::showPanels(bool shown) {
    const bool already = panels_shown_;
    panels_shown_ = shown;
    empty_->setVisible(!shown);
    if (shown == already) {
        return; // keeps what the user closed or moved
    }
    for (auto* dock : panels()) {
        dock->setVisible(shown);
    }
    if (shown) {
        // Sizes hold only once the docks are laid out.
        QMetaObject::invokeMethod(
            this,
            [this] {
                const QByteArray saved = QSettings().value("layout/state").toByteArray();
                if (saved.isEmpty() || !restoreState(saved)) {
                    defaultLayout();
                }
            },
            Qt::QueuedConnection);
    }
}

void MainWindow::saveLayoutAs() {
    bool given = false;
    const QString name =
        QInputDialog::getText(this, tr("Save layout"), tr("Name"), QLineEdit::Normal, {}, &given);
    if (given && !name.trimmed().isEmpty()) {
        QSettings().setValue("layouts/" + name.trimmed().replace('/', '-'), saveState());
    }
}

void MainWindow::fillLayouts(QMenu& menu) {
    menu.clear();
    menu.addAction(tr("&Default"), this, &MainWindow::defaultLayout);
    QSettings settings;
    settings.beginGroup("layouts");
    const QStringList names = settings.childKeys();
    settings.endGroup();
    for (const QString& name : names) {
        menu.addAction(name, this, [this, name] {
            restoreState(QSettings().value("layouts/" + name).toByteArray());
        });
    }
    menu.addSeparator();
    menu.addAction(tr("&Save this layout…"), this, &MainWindow::saveLayoutAs);
}

void MainWindow::restoreSettings() {
    const QSettings settings;
    if (settings.contains("layout/geometry")) {
        restoreGeometry(settings.value("layout/geometry").toByteArray());
    }
    setStyleSheet("QMainWindow::separator { width: 8px; height: 8px; background: transparent; }"
                  "QToolBar#top { border: none; padding: 0; spacing: 0; }");
    setContentsMargins(10, 0, 10, 8);
}

} // namespace kerf::app

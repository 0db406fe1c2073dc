// SPDX-License-Identifier: GPL-3.0-or-later
// Menus and their shortcuts.
#include "app/cli/composition_argument.h"
#include "app/keys_dialog.h"
#include "app/main_window.h"
#include "app/message_bar.h"
#include "app/panel_dock.h"
#include "app/recent_files.h"
#include "views/composition_strip.h"
#include "views/theme.h"
#include "views/timeline_view.h"

#include <QActionGroup>
#include <QApplication>
#include <QInputDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>

namespace kerf::app {

void MainWindow::makeMenus() {
    makeFileMenu();
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = session_.undoStack().createUndoAction(this, tr("&Undo"));
    QAction* redo = session_.undoStack().createRedoAction(this, tr("&Redo"));
    undo->setShortcut(QKeySequence::Undo);
    redo->setShortcuts({QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")});
    edit->addActions({undo, redo});
    makeViewMenu();
    makeCompositionMenu();
    makeAnalyseMenu();
    makeHelpMenu();
}

void MainWindow::makeFileMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&File"));
    menu->addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::chooseAndOpen);
    recent_ = new RecentFiles(menu);
    menu->addMenu(recent_);
    connect(recent_, &RecentFiles::chosen, this,
            [this](const QString& file) { openFiles({file}); });
    QAction* sample =
        menu->addAction(tr("Open sa&mple project"), this, [this] { openFiles({samplePath()}); });
    sample->setEnabled(!samplePath().isEmpty());
    menu->addAction(tr("&Import recordings…"), QKeySequence("Ctrl+I"), this,
                    &MainWindow::chooseAndImport);
    QAction* untraced = menu->addAction(tr("Add &untraced timings…"), this, [this] {
        if (const QString file = chooseUntraced(); !file.isEmpty()) {
            session_.addUntraced(file.toStdString());
        }
    });
    menu->addSeparator();
    QAction* saveAction = menu->addAction(tr("&Save"), QKeySequence::Save, this, &MainWindow::save);
    QAction* saveAsAction =
        menu->addAction(tr("Save &as…"), QKeySequence("Ctrl+Shift+S"), this, &MainWindow::saveAs);
    menu->addSeparator();
    report_->setShortcut(QKeySequence("Ctrl+E"));
    menu->addAction(report_);
    QAction* pictures = menu->addAction(tr("Export &pictures…"), this, &MainWindow::choosePictures);
    menu->addSeparator();
    menu->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
    need_case_ << untraced << saveAction << saveAsAction << report_ << pictures;
}

void MainWindow::makeViewMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&View"));
    for (auto* dock : panels()) {
        menu->addAction(dock->toggleViewAction());
        need_case_ << dock->toggleViewAction();
    }
    menu->addSeparator();
    QAction* fit = menu->addAction(tr("&Fit timeline"), timeline_, &views::TimelineView::zoomToFit);
    need_case_ << fit;
    QMenu* layouts = menu->addMenu(tr("&Layouts"));
    connect(layouts, &QMenu::aboutToShow, this, [this, layouts] { fillLayouts(*layouts); });
    menu->addSeparator();
    auto* themes = new QActionGroup(this);
    const int chosen = QSettings().value("theme", 0).toInt();
    const QStringList names{tr("S&ystem colours"), tr("L&ight"), tr("&Dark")};
    for (int i = 0; i < names.size(); ++i) {
        QAction* action = menu->addAction(names[i], this, [i] {
            QSettings().setValue("theme", i);
            views::applyTheme(*qApp, static_cast<views::ThemeChoice>(i));
        });
        action->setCheckable(true);
        action->setChecked(i == chosen);
        themes->addAction(action);
    }
}

void MainWindow::makeCompositionMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Composition"));
    // S, M and C belong to the strip: shown here, handled there.
    need_case_ << menu->addAction(tr("&Split here\tS"), strip_,
                                  &views::CompositionStrip::splitAtSelection)
               << menu->addAction(tr("&Merge here\tM"), strip_,
                                  &views::CompositionStrip::mergeAtSelection)
               << menu->addAction(tr("Switch m&ode\tC"), strip_,
                                  &views::CompositionStrip::toggleModeAtSelection);
    menu->addSeparator();
    need_case_ << menu->addAction(tr("&Conventional"), this, [this] {
        commit(graph::fullyConventional(), tr("conventional"));
    }) << menu->addAction(tr("Mo&nolith"), this, [this] {
        commit(graph::monolith(), tr("monolith"));
    }) << menu->addAction(tr("One megakernel a &layer"), this, [this] {
        commit(cli::perLayer(session_.current()->data->chain), tr("one megakernel a layer"));
    });
    QAction* best = menu->addAction(tr("&Best found"), this, [this] {
        const CaseState* state = session_.current();
        if (state && state->result) {
            commit(state->result->candidates.front().prediction.composition, tr("best found"));
        } else {
            messages_->showNotice(tr("Nothing is found yet. Search best (Ctrl+B) first."));
        }
    });
    menu->addSeparator();
    QAction* keep = menu->addAction(tr("&Keep as…"), this, [this] {
        bool given = false;
        const QString name = QInputDialog::getText(this, tr("Keep composition"), tr("Name"),
                                                   QLineEdit::Normal, {}, &given);
        if (given && !name.trimmed().isEmpty()) {
            session_.saveComposition(name.trimmed());
        }
    });
    QMenu* kept = menu->addMenu(tr("K&ept"));
    connect(kept, &QMenu::aboutToShow, this, [this, kept] {
        kept->clear();
        for (const auto& one : session_.savedCompositions()) {
            const QString name = QString::fromStdString(one.name);
            kept->addAction(name, this, [this, one, name] {
                commit(graph::resolved(session_.current()->data->chain, one), name);
            });
        }
        if (kept->isEmpty()) {
            kept->addAction(tr("Nothing kept for this model"))->setEnabled(false);
        }
    });
    need_case_ << best << keep;
}

void MainWindow::makeAnalyseMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Analyse"));
    search_->setShortcut(QKeySequence("Ctrl+B"));
    menu->addAction(search_);
    QAction* all = menu->addAction(tr("Search &all recordings"), QKeySequence("Ctrl+Shift+B"),
                                   &session_, &Session::searchAll);
    QAction* cancel = menu->addAction(tr("&Cancel"), &session_.job(), &Job::cancel);
    connect(menu, &QMenu::aboutToShow, this,
            [this, cancel] { cancel->setEnabled(session_.job().running()); });
    menu->addSeparator();
    search_on_opening_ = menu->addAction(tr("Search when a project is &opened"));
    search_on_opening_->setCheckable(true);
    search_on_opening_->setChecked(QSettings().value("searchOnOpening", true).toBool());
    connect(search_on_opening_, &QAction::toggled, this,
            [](bool on) { QSettings().setValue("searchOnOpening", on); });
    need_case_ << search_ << all;
}

bool MainWindow::searchesOnOpening() const {
    return search_on_opening_->isChecked();
}

void MainWindow::makeHelpMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Help"));
    menu->addAction(tr("&Keys"), QKeySequence("?"), this, [this] {
        auto* keys = new KeysDialog(this);
        keys->setAttribute(Qt::WA_DeleteOnClose);
        keys->show();
    });
    menu->addAction(tr("&About Kerf"), this, [this] {
        QMessageBox::about(
            this, tr("About Kerf"),
            tr("<p><b>Kerf %1</b></p><p>Where to cut a streaming model into megakernels, before "
               "anyone writes one. No candidate is ever run: every figure is simulated from "
               "recordings of conventional execution.</p><p>GPL-3.0-or-later</p>")
                .arg(KERF_VERSION));
    });
}

} // namespace kerf::app

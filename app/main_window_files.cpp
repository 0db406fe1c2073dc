// SPDX-License-Identifier: GPL-3.0-or-later
// Files: open, import, save, export.
#include "app/main_window.h"
#include "app/message_bar.h"
#include "app/panel_dock.h"
#include "app/report_data.h"
#include "views/render.h"

#include <QFileDialog>
#include <QMessageBox>

namespace kerf::app {

void MainWindow::chooseAndOpen() {
    const QStringList files = QFileDialog::getOpenFileNames(
        this, tr("Open"), {},
        tr("Projects and recordings (*.kerf *.kerfrec *.json *.json.gz);;All files (*)"));
    openFiles(files);
}

void MainWindow::chooseAndImport() {
    const QStringList files =
        QFileDialog::getOpenFileNames(this, tr("Import recordings"), {},
                                      tr("Recordings (*.kerfrec *.json *.json.gz);;All files (*)"));
    openFiles(files);
}

QString MainWindow::chooseUntraced() {
    return QFileDialog::getOpenFileName(this, tr("Untraced timings"), {},
                                        tr("JSON (*.json);;All files (*)"));
}

bool MainWindow::mayDiscard() {
    if (!session_.isModified()) {
        return true;
    }
    const auto answer = QMessageBox::question(
        this, tr("Unsaved changes"), tr("The project has changes that are not saved."),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && save());
}

bool MainWindow::save() {
    const auto& file = session_.project().file;
    return file.empty() ? saveAs() : session_.save(file);
}

bool MainWindow::saveAs() {
    QString file =
        QFileDialog::getSaveFileName(this, tr("Save project"), {}, tr("Kerf project (*.kerf)"));
    if (file.isEmpty()) {
        return false;
    }
    if (!file.endsWith(".kerf")) {
        file += ".kerf";
    }
    return session_.save(file.toStdString());
}

Expected<QStringList> MainWindow::exportPictures(const QString& folder) {
    QStringList files;
    for (auto* dock : panels()) {
        const QString file = folder + "/" + dock->objectName() + ".png";
        const QImage image = sharpImage(*dock, dock->size());
        if (const auto written = views::writePng(image, file.toStdString()); !written) {
            return tl::unexpected(written.error());
        }
        files << file;
    }
    return files;
}

void MainWindow::choosePictures() {
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Export pictures of every panel to"));
    if (folder.isEmpty()) {
        return;
    }
    if (const auto files = exportPictures(folder); !files) {
        messages_->showError(files.error());
    } else {
        messages_->showNotice(tr("%1 pictures written to %2.").arg(files->size()).arg(folder));
    }
}

void MainWindow::exportReport() {
    const CaseState* state = session_.current();
    if (!state || !state->result) {
        messages_->showNotice(tr("The report needs the search. Search best (Ctrl+B) first."));
        return;
    }
    QString file =
        QFileDialog::getSaveFileName(this, tr("Export report"), "report.pdf", tr("PDF (*.pdf)"));
    if (file.isEmpty()) {
        return;
    }
    if (!file.endsWith(".pdf")) {
        file += ".pdf";
    }
    const auto chosen = static_cast<std::size_t>(state - session_.cases().data());
    // Painting a PDF needs no widget, so the window stays alive meanwhile.
    session_.job().start(
        tr("Writing the report"),
        [this, state = *state, file,
         data = reportData(session_.project(), session_.cases(), chosen)](
            Progress& progress) mutable -> Deliver {
            progress.step(0.1, "");
            data.timeline = bestTimeline(state);
            const auto written = views::writeReport(data, file.toStdString());
            if (progress.cancelled.load()) {
                return [this] { messages_->showNotice(tr("Cancelled.")); };
            }
            if (!written) {
                return [this, error = written.error()] { messages_->showError(error); };
            }
            return [this, file] { messages_->showNotice(tr("Report written to %1.").arg(file)); };
        });
}

} // namespace kerf::app

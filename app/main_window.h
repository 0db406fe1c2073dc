// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: docks around a session. It wires; views draw and the session knows.
#pragma once

#include "app/session.h"

#include <QMainWindow>

class QLabel;

namespace kerf::views {
class CandidatesView;
class CategoryMap;
class CompositionStrip;
class PredictionPanel;
class TimelineView;
} // namespace kerf::views

namespace kerf::app {

class MessageBar;
class PanelDock;
class RecentFiles;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] Session& session() { return session_; }
    /// A project replaces the open one (unsaved changes are asked about); recordings join it.
    void openFiles(const QStringList& files);
    /// PNG of every panel into `folder`. Returns the files. Errors: as views::writePng.
    [[nodiscard]] Expected<QStringList> exportPictures(const QString& folder);
    /// Whether every recording is searched once a project is open. On by default, kept in settings.
    [[nodiscard]] bool searchesOnOpening() const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makePanels();
    void makeMenus();
    void makeFileMenu();
    void makeViewMenu();
    void makeCompositionMenu();
    void makeAnalyseMenu();
    void makeHelpMenu();
    void connectSession();
    void connectViews();
    [[nodiscard]] QList<PanelDock*> panels() const;
    void showPanels(bool shown);
    void defaultLayout();
    void defaultSizes();
    void saveLayoutAs();
    void fillLayouts(QMenu& menu);
    void restoreSettings();

    void projectChanged();
    void currentChanged();
    void showPrediction();
    void showResults();
    void updateTitle();
    void updateActions();

    [[nodiscard]] bool mayDiscard(); ///< asks about unsaved changes
    bool save();
    bool saveAs();
    void chooseAndOpen();
    void chooseAndImport();
    void exportReport();
    void choosePictures();
    [[nodiscard]] QString chooseUntraced();
    void commit(const graph::Composition& composition, const QString& text);

    Session session_;
    QAction* search_ = nullptr;
    QAction* report_ = nullptr;
    QList<QAction*> need_case_; ///< disabled without a recording
    RecentFiles* recent_ = nullptr;
    QAction* search_on_opening_ = nullptr;
    MessageBar* messages_ = nullptr;
    QLabel* empty_ = nullptr; ///< what to do where nothing is open
    views::CompositionStrip* strip_ = nullptr;
    views::PredictionPanel* prediction_ = nullptr;
    views::TimelineView* timeline_ = nullptr;
    views::CandidatesView* candidates_ = nullptr;
    views::CategoryMap* categories_ = nullptr;
    PanelDock* composition_dock_ = nullptr;
    PanelDock* prediction_dock_ = nullptr;
    PanelDock* timeline_dock_ = nullptr;
    PanelDock* candidates_dock_ = nullptr;
    PanelDock* category_dock_ = nullptr;
    bool panels_shown_ = false;
};

} // namespace kerf::app

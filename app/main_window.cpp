// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.h"

#include "app/context_bar.h"
#include "app/job_status.h"
#include "app/message_bar.h"
#include "app/panel_dock.h"
#include "app/recent_files.h"
#include "app/shown.h"
#include "views/candidates_view.h"
#include "views/category_map.h"
#include "views/composition_strip.h"
#include "views/prediction_panel.h"
#include "views/timeline_view.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

namespace kerf::app {

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent), session_(this) {
    setObjectName("mainWindow");
    setDockNestingEnabled(true);
    setAcceptDrops(true);
    resize(1600, 1000);
    search_ = new QAction(tr("Search best"), this);
    search_->setObjectName("searchBest");
    search_->setIconText(tr("Search best Ctrl+B"));
    report_ = new QAction(tr("Export report…"), this);
    makePanels();
    makeMenus();

    auto* top = new QToolBar(tr("Recording and messages"));
    top->setObjectName("top");
    top->setMovable(false);
    auto* stack = new QWidget;
    auto* column = new QVBoxLayout(stack);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    messages_ = new MessageBar;
    column->addWidget(new ContextBar(session_, search_, report_));
    column->addWidget(messages_);
    top->addWidget(stack);
    addToolBar(Qt::TopToolBarArea, top);
    statusBar()->addWidget(new JobStatus(session_.job()));
    statusBar()->setSizeGripEnabled(false);
    statusBar()->hide();
    connect(&session_.job(), &Job::started, statusBar(), &QWidget::show);
    connect(&session_.job(), &Job::finished, statusBar(), &QWidget::hide);

    connectSession();
    connectViews();
    restoreSettings();
    projectChanged();
}

MainWindow::~MainWindow() = default;

QList<PanelDock*> MainWindow::panels() const {
    return {composition_dock_, prediction_dock_, timeline_dock_, candidates_dock_, category_dock_};
}

void MainWindow::makePanels() {
    strip_ = new views::CompositionStrip;
    prediction_ = new views::PredictionPanel;
    timeline_ = new views::TimelineView;
    candidates_ = new views::CandidatesView;
    categories_ = new views::CategoryMap;
    // Room goes to the evidence; strip and number need no more than they ask for.
    for (QWidget* view : {static_cast<QWidget*>(strip_), static_cast<QWidget*>(prediction_)}) {
        view->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    }
    for (QWidget* view : {static_cast<QWidget*>(timeline_), static_cast<QWidget*>(candidates_),
                          static_cast<QWidget*>(categories_)}) {
        view->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    }
    composition_dock_ = new PanelDock("composition", tr("Composition"),
                                      tr("drag a handle · S split · M merge · Esc cancel"), strip_);
    prediction_dock_ = new PanelDock("prediction", tr("Predicted"), {}, prediction_);
    timeline_dock_ = new PanelDock("timeline", tr("Timeline"),
                                   tr("recorded above · predicted below · same axis"), timeline_);
    candidates_dock_ = new PanelDock("candidates", tr("Candidates"), {}, candidates_);
    category_dock_ = new PanelDock("categories", tr("Category map"), tr("batch →"), categories_);
    // Docks only; the empty state is the one thing in the middle.
    empty_ = new QLabel;
    empty_->setObjectName("emptyState");
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setTextFormat(Qt::RichText);
    setCentralWidget(empty_);
    connect(empty_, &QLabel::linkActivated, this, [this](const QString& link) {
        if (link == "sample") {
            openFiles({samplePath()});
        } else {
            link == "open" ? chooseAndOpen() : chooseAndImport();
        }
    });
    for (auto* dock : panels()) {
        addDockWidget(Qt::LeftDockWidgetArea, dock);
    }
    defaultLayout();
}

void MainWindow::connectSession() {
    connect(&session_, &Session::projectChanged, this, &MainWindow::projectChanged);
    connect(&session_, &Session::modifiedChanged, this, &MainWindow::updateTitle);
    connect(&session_, &Session::currentChanged, this, &MainWindow::currentChanged);
    connect(&session_, &Session::compositionChanged, this, [this] {
        strip_->setComposition(session_.composition());
        candidates_->setCurrent(session_.composition());
    });
    connect(&session_, &Session::predictionChanged, this, &MainWindow::showPrediction);
    connect(&session_, &Session::timelineChanged, this, [this] {
        if (session_.timeline()) {
            timeline_->setPredicted(*session_.timeline());
        } else {
            timeline_->clearPredicted();
        }
    });
    connect(&session_, &Session::resultsChanged, this, &MainWindow::showResults);
    connect(&session_, &Session::notice, messages_, &MessageBar::showNotice);
    connect(&session_, &Session::failed, messages_, &MessageBar::showError);
}

void MainWindow::connectViews() {
    connect(strip_, &views::CompositionStrip::compositionEdited, &session_, &Session::preview);
    connect(strip_, &views::CompositionStrip::compositionCommitted, this,
            [this](const graph::Composition& /*before*/, const graph::Composition& after) {
                commit(after, tr("change of the composition"));
            });
    connect(
        candidates_, &views::CandidatesView::candidateActivated, this,
        [this](const graph::Composition& chosen) { commit(chosen, tr("choice of a candidate")); });
    connect(categories_, &views::CategoryMap::cellActivated, &session_, &Session::setCurrent);
    connect(search_, &QAction::triggered, &session_, &Session::searchCurrent);
    connect(report_, &QAction::triggered, this, &MainWindow::exportReport);
}

void MainWindow::commit(const graph::Composition& composition, const QString& text) {
    session_.commit(composition, text);
}

void MainWindow::projectChanged() {
    const bool any = !session_.cases().empty();
    const auto& file = session_.project().file;
    if (!file.empty()) {
        recent_->add(QString::fromStdString(file.string()));
    }
    showPanels(any);
    QString text = tr(
        "<p style='font-size:16px'><b>Where should your model be cut into megakernels?</b></p>"
        "<p>Drop recordings of several batch sizes here: of kerf-record, "
        "or traces of PyTorch named MODEL_bBATCH.json,</p>"
        "<p>or <a href='import'>import recordings</a> or <a href='open'>open a project</a>.</p>");
    if (!samplePath().isEmpty()) {
        text += tr("<p>No recording at hand? <a href='sample'>Open the sample project</a>: three "
                   "models at "
                   "three batch sizes, recorded on an H200.</p>");
    }
    empty_->setText(text);
    if (any) {
        messages_->hide();
        strip_->setFocus();
    }
    currentChanged();
    showResults();
    updateTitle();
    if (any && searchesOnOpening()) {
        QMetaObject::invokeMethod(&session_, &Session::searchAll, Qt::QueuedConnection);
    }
}

void MainWindow::currentChanged() {
    const CaseState* state = session_.current();
    strip_->setCase(state ? state->data : nullptr);
    timeline_->setRecorded(state ? state->data : nullptr);
    prediction_dock_->setWindowTitle(tr("Predicted"));
    if (state) {
        categories_->setCurrent(QString::fromStdString(state->data->traced.model),
                                state->data->traced.batch);
    }
    updateActions();
    showResults();
    showPrediction();
}

void MainWindow::showPrediction() {
    prediction_->setState(predictionState(shownOf(session_)));
}

void MainWindow::showResults() {
    const CaseState* state = session_.current();
    if (state && state->result) {
        candidates_->setResult(*state->result);
        candidates_->setCurrent(session_.composition());
    } else {
        candidates_->clear(
            state ? tr("Not searched yet. Search best (Ctrl+B) lists the compositions here, "
                       "the fastest first.")
                  : tr("Open a project to see its best compositions here."));
    }
    candidates_dock_->setHint(candidatesHint(state));
    categories_->setRows(categoryRows(session_.cases()));
    if (state) {
        categories_->setCurrent(QString::fromStdString(state->data->traced.model),
                                state->data->traced.batch);
    }
}

void MainWindow::updateTitle() {
    const auto& file = session_.project().file;
    const QString name = !file.empty() ? QString::fromStdString(file.filename().string())
                         : session_.cases().empty() ? QString()
                                                    : tr("unsaved project");
    setWindowTitle(name.isEmpty() ? QString("Kerf") : name + "[*] — Kerf");
    setWindowModified(session_.isModified());
}

void MainWindow::updateActions() {
    for (QAction* action : need_case_) {
        action->setEnabled(session_.current() != nullptr);
    }
}

void MainWindow::openFiles(const QStringList& files) {
    std::vector<std::filesystem::path> recordings;
    for (const QString& file : files) {
        if (!file.endsWith(".kerf")) {
            recordings.emplace_back(file.toStdString());
        } else if (mayDiscard()) {
            session_.open(file.toStdString());
            return;
        }
    }
    if (!recordings.empty()) {
        session_.import(recordings);
    }
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayDiscard()) {
        event->ignore();
        return;
    }
    QSettings settings;
    if (panels_shown_) { // else they are hidden, which is no layout
        settings.setValue("layout/state", saveState());
    }
    settings.setValue("layout/geometry", saveGeometry());
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) {
            files << url.toLocalFile();
        }
    }
    event->acceptProposedAction();
    openFiles(files);
}

} // namespace kerf::app

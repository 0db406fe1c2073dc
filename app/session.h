// SPDX-License-Identifier: GPL-3.0-or-later
// What the window works on: a project, its cases, the composition on the strip and what is known
// about it. Views only show; this asks core for every number, off the GUI thread.
#pragma once

#include "app/background.h"
#include "core/project/project.h"
#include "views/timeline_model.h"

#include <QString>
#include <QUndoStack>
#include <set>

namespace kerf::app {

/// One recording of the project, ready for predictions.
struct CaseState {
    std::shared_ptr<const search::Case> data;
    std::shared_ptr<search::Predictor> predictor;
    std::optional<search::SearchResult> result;
    std::optional<search::Prediction> conventional; ///< what compositions are held against
    std::optional<search::Prediction> monolith;     ///< none: it does not fit the GPU
};

class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);

    // --- project ---
    [[nodiscard]] const project::Project& project() const { return project_; }
    [[nodiscard]] bool isModified() const;
    /// Off the GUI thread; the open project stays until the new one is whole, and if it fails.
    void open(const std::filesystem::path& file);
    /// Adds recordings to the open project, or makes one. `options` as project::importRecordings.
    void import(const std::vector<std::filesystem::path>& files,
                const project::ImportOptions& options = {});
    /// Adds the untraced timings of a file (kerf import --untraced) to every recording it names.
    void addUntraced(const std::filesystem::path& file);
    [[nodiscard]] bool save(const std::filesystem::path& file);
    void setView(const nlohmann::json& view) { project_.view = view; }

    // --- the case on screen ---
    [[nodiscard]] const std::vector<CaseState>& cases() const { return cases_; }
    [[nodiscard]] const CaseState* current() const;
    /// Does nothing where there is no such recording.
    void setCurrent(const QString& model, int batch);

    // --- the composition on the strip ---
    [[nodiscard]] const graph::Composition& composition() const { return composition_; }
    /// A change during a drag: predicted, nothing else.
    void preview(const graph::Composition& composition);
    /// A finished edit: one undo step.
    void commit(const graph::Composition& after, const QString& text);
    /// Keeps the composition on the strip under a name, in the project.
    void saveComposition(const QString& name);
    [[nodiscard]] std::vector<graph::NamedComposition> savedCompositions() const;
    [[nodiscard]] QUndoStack& undoStack() { return undo_; }

    /// The newest prediction; may be of a composition older than the strip's while dragging.
    [[nodiscard]] const std::optional<search::Prediction>& prediction() const {
        return prediction_;
    }
    [[nodiscard]] const std::optional<search::Prediction>& beforeEdit() const { return before_; }
    [[nodiscard]] bool predicting() const { return predictions_.busy(); }
    [[nodiscard]] const std::optional<views::TimelinePredicted>& timeline() const {
        return timeline_;
    }

    // --- search ---
    void searchCurrent();
    /// Every recording, the current one first; finishes the category map.
    void searchAll();
    [[nodiscard]] std::vector<search::SearchResult>
    results() const; ///< of searched cases, in order
    [[nodiscard]] Job& job() { return job_; }

    /// For undo commands: no new undo step. No value: best found, else monolith.
    void applyChosen(const std::string& model,
                     const std::optional<graph::NamedComposition>& chosen);

signals:
    void projectChanged(); ///< other recordings
    void modifiedChanged();
    void currentChanged(); ///< other case on screen
    void compositionChanged();
    void predictionChanged();
    void timelineChanged();
    void resultsChanged();
    void notice(const QString& text);
    void failed(const kerf::Error& error);

private:
    struct Opened {
        project::Project project;
        std::vector<std::shared_ptr<const search::Case>> cases;
    };
    void load(const QString& title, std::function<Expected<project::Project>(Progress&)> make,
              bool modified);
    void adopt(Opened opened, bool modified);
    void search(std::vector<std::size_t> order, const QString& title);
    void showCase(std::size_t index);
    void show(const graph::Composition& composition);
    void requestPrediction(int replicas);
    void requestTimeline();
    void took(std::size_t index, search::SearchResult result);
    [[nodiscard]] graph::Composition compositionFor(const CaseState& state);
    [[nodiscard]] std::optional<graph::NamedComposition> chosenFor(const std::string& model) const;
    void touch();

    project::Project project_;
    std::vector<CaseState> cases_;
    std::optional<std::size_t> current_;
    graph::Composition composition_;
    graph::Composition committed_composition_; ///< the same, but for a drag in progress
    std::optional<search::Prediction> prediction_;
    std::optional<search::Prediction>
        committed_; ///< prediction of committed_composition_, once it is here
    std::optional<search::Prediction>
        before_; ///< of what the last edit, or the drag in progress, started from
    std::optional<views::TimelinePredicted> timeline_;
    bool dragging_ = false;
    bool touched_ = false; ///< changed in a way that is no undo step
    QUndoStack undo_;
    Job job_;
    LatestRunner predictions_;
    LatestRunner timelines_;
};

} // namespace kerf::app

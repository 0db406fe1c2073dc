// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session.h"

#include "app/edit_composition.h"
#include "app/import_merge.h"

#include <algorithm>

namespace kerf::app {

namespace {
constexpr int kReplicas = 200;
} // namespace

Session::Session(QObject* parent) : QObject(parent) {
    connect(&undo_, &QUndoStack::cleanChanged, this, &Session::modifiedChanged);
}

bool Session::isModified() const {
    return touched_ || !undo_.isClean();
}

void Session::touch() {
    touched_ = true;
    emit modifiedChanged();
}

// --- project ---

void Session::load(const QString& title, std::function<Expected<project::Project>(Progress&)> make,
                   bool modified) {
    job_.start(title, [this, make = std::move(make), modified](Progress& progress) -> Deliver {
        auto opened = make(progress).and_then([&](project::Project project) -> Expected<Opened> {
            auto cases = project::loadCases(project, progress);
            if (!cases) {
                return tl::unexpected(cases.error());
            }
            return Opened{std::move(project), std::move(*cases)};
        });
        if (progress.cancelled.load()) {
            return [this] { emit notice(tr("Cancelled. Nothing was changed.")); };
        }
        if (!opened) {
            return [this, error = opened.error()] { emit failed(error); };
        }
        auto result = std::make_shared<Opened>(std::move(*opened));
        return [this, result, modified] { adopt(std::move(*result), modified); };
    });
}

void Session::open(const std::filesystem::path& file) {
    const QString title = tr("Opening %1").arg(QString::fromStdString(file.filename().string()));
    load(
        title, [file](Progress&) { return project::readProject(file); }, false);
}

void Session::import(const std::vector<std::filesystem::path>& files,
                     const project::ImportOptions& options) {
    load(
        files.size() == 1 ? tr("Importing a recording")
                          : tr("Importing %1 recordings").arg(files.size()),
        [files, options, base = project_](Progress& progress) {
            return project::importRecordings(files, options, progress)
                .and_then([&](const project::Project& added) { return merged(base, added); });
        },
        true);
}

void Session::addUntraced(const std::filesystem::path& file) {
    load(
        tr("Reading untraced timings"),
        [file, base = project_](Progress&) { return withUntraced(base, file); }, true);
}

bool Session::save(const std::filesystem::path& file) {
    if (const auto written = project::writeProject(project_, file); !written) {
        emit failed(written.error());
        return false;
    }
    // Recording paths are relative to the file: take them as they were written.
    if (auto reread = project::readProject(file)) {
        project_ = std::move(*reread);
    }
    touched_ = false;
    undo_.setClean();
    emit modifiedChanged();
    return true;
}

void Session::adopt(Opened opened, bool modified) {
    predictions_.drop();
    timelines_.drop();
    const CaseState* shown = current();
    const QString model = shown ? QString::fromStdString(shown->data->traced.model) : QString();
    const int batch = shown ? shown->data->traced.batch : 0;
    project_ = std::move(opened.project);
    cases_.clear();
    for (auto& data : opened.cases) {
        cases_.push_back({data, std::make_shared<search::Predictor>(data), {}, {}, {}});
    }
    current_.reset();
    prediction_.reset();
    undo_.clear();
    touched_ = modified;
    emit projectChanged();
    emit modifiedChanged();
    if (cases_.empty()) {
        emit currentChanged();
        return;
    }
    setCurrent(model, batch);
    if (!current_) {
        showCase(0);
    }
}

// --- the case on screen ---

const CaseState* Session::current() const {
    return current_ ? &cases_[*current_] : nullptr;
}

void Session::setCurrent(const QString& model, int batch) {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        const auto& workload = cases_[i].data->traced;
        if (workload.model == model.toStdString() && workload.batch == batch) {
            showCase(i);
            return;
        }
    }
}

void Session::showCase(std::size_t index) {
    if (current_ == index) {
        return;
    }
    predictions_.drop();
    timelines_.drop();
    current_ = index;
    dragging_ = false;
    prediction_.reset();
    committed_.reset();
    before_.reset();
    timeline_.reset();
    composition_ = compositionFor(cases_[index]);
    committed_composition_ = composition_;
    emit currentChanged();
    emit compositionChanged();
    emit timelineChanged();
    requestPrediction(kReplicas);
}

// --- the composition on the strip ---

std::optional<graph::NamedComposition> Session::chosenFor(const std::string& model) const {
    const auto settings = project_.models.find(model);
    if (settings == project_.models.end() || settings->second.compositions.empty()) {
        return std::nullopt;
    }
    return settings->second.compositions.front();
}

graph::Composition Session::compositionFor(const CaseState& state) {
    if (const auto chosen = chosenFor(state.data->traced.model)) {
        std::vector<std::string> missing;
        auto composition = graph::resolved(state.data->chain, *chosen, &missing);
        if (!missing.empty()) {
            emit notice(
                tr("Cuts that do not exist at batch %1 are left out here: %2.")
                    .arg(state.data->traced.batch)
                    .arg(QString::fromStdString(fmt::format("{}", fmt::join(missing, ", ")))));
        }
        return composition;
    }
    if (state.result && !state.result->candidates.empty()) {
        return state.result->candidates.front().prediction.composition;
    }
    return graph::monolith();
}

std::vector<graph::NamedComposition> Session::savedCompositions() const {
    std::vector<graph::NamedComposition> saved;
    if (current_) {
        const auto settings = project_.models.find(cases_[*current_].data->traced.model);
        if (settings != project_.models.end()) {
            saved = settings->second.compositions;
        }
    }
    std::erase_if(saved, [](const auto& one) { return one.name.empty(); });
    return saved;
}

void Session::saveComposition(const QString& name) {
    if (!current_) {
        return;
    }
    const auto& data = *cases_[*current_].data;
    auto saved = graph::named(data.chain, composition_);
    auto& all = project_.models[data.traced.model].compositions;
    if (all.empty()) {
        all.push_back(saved); // the first is the current one
    }
    saved.name = name.toStdString();
    std::erase_if(all,
                  [&](const auto& one) { return &one != &all.front() && one.name == saved.name; });
    all.push_back(saved);
    touch();
}

void Session::preview(const graph::Composition& composition) {
    if (!current_) {
        return;
    }
    composition_ = composition;
    if (composition == committed_composition_) { // cancelled, or back where it was
        dragging_ = false;
        before_.reset();
        requestPrediction(kReplicas);
        return;
    }
    if (!dragging_) {
        dragging_ = true;
        before_ = committed_;
    }
    requestPrediction(0);
}

void Session::commit(const graph::Composition& after, const QString& text) {
    if (!current_) {
        return;
    }
    const auto& data = *cases_[*current_].data;
    const auto before = committed_;
    const auto chosen = chosenFor(data.traced.model);
    const auto named = graph::named(data.chain, after);
    if (chosen && chosen->cuts == named.cuts && chosen->first_mode == named.first_mode) {
        show(after); // nothing to undo
        return;
    }
    undo_.push(new EditComposition(*this, data.traced.model, chosen, named, text));
    before_ = before;
    emit predictionChanged();
}

void Session::applyChosen(const std::string& model,
                          const std::optional<graph::NamedComposition>& chosen) {
    auto& all = project_.models[model].compositions;
    // The first is the current one; those with a name stay behind it.
    if (!all.empty() && all.front().name.empty()) {
        all.erase(all.begin());
    }
    if (chosen) {
        auto unnamed = *chosen;
        unnamed.name.clear();
        all.insert(all.begin(), unnamed);
    }
    if (current_ && cases_[*current_].data->traced.model == model) {
        show(compositionFor(cases_[*current_]));
        return;
    }
    // Undo of an edit of another model: what it changes must be on screen.
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        if (cases_[i].data->traced.model == model) {
            showCase(i);
            return;
        }
    }
}

void Session::show(const graph::Composition& composition) {
    dragging_ = false;
    composition_ = composition;
    committed_composition_ = composition;
    committed_.reset(); // until its prediction is here
    before_.reset();
    emit compositionChanged();
    requestPrediction(kReplicas);
}

void Session::requestPrediction(int replicas) {
    if (!current_) {
        return;
    }
    struct Answer {
        Expected<search::Prediction> prediction;
        std::optional<search::Prediction> conventional;
        std::optional<search::Prediction> monolith;
    };
    CaseState& state = cases_[*current_];
    const bool first = !state.conventional;
    predictions_.submit([this, predictor = state.predictor, composition = composition_, replicas,
                         first, index = *current_]() -> Deliver {
        auto answer =
            std::make_shared<Answer>(Answer{predictor->predict(composition, replicas), {}, {}});
        if (first) {
            if (auto conventional = predictor->predict(graph::fullyConventional(), 0)) {
                answer->conventional = std::move(*conventional);
            }
            if (auto monolith = predictor->predict(graph::monolith(), 0)) {
                answer->monolith = std::move(*monolith);
            }
        }
        return [this, answer, replicas, first, index] {
            if (first) {
                cases_[index].conventional = std::move(answer->conventional);
                cases_[index].monolith = std::move(answer->monolith);
            }
            if (!answer->prediction) {
                prediction_.reset();
                emit failed(answer->prediction.error());
            } else {
                prediction_ = std::move(*answer->prediction);
                if (replicas > 0 && !dragging_) {
                    committed_ = prediction_;
                    requestTimeline();
                }
            }
            emit predictionChanged();
        };
    });
    emit predictionChanged(); // it is busy now
}

void Session::requestTimeline() {
    const CaseState& state = cases_[*current_];
    timelines_.submit([this, data = state.data, predictor = state.predictor,
                       prediction = *prediction_]() -> Deliver {
        auto picture = std::make_shared<views::TimelinePredicted>(
            views::timelineOf(*data, prediction, [&](graph::Region region) {
                return predictor->simulateRegion(region, true);
            }));
        return [this, picture] {
            timeline_ = std::move(*picture);
            emit timelineChanged();
        };
    });
}

} // namespace kerf::app

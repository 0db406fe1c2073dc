// SPDX-License-Identifier: GPL-3.0-or-later
// The search part of a session: one case or all, results shown as they come.
#include "app/session.h"

namespace kerf::app {

namespace {
constexpr std::size_t kTop = 12;
} // namespace

void Session::searchCurrent() {
    if (current_) {
        search({*current_}, tr("Searching"));
    }
}

void Session::searchAll() {
    std::vector<std::size_t> order;
    if (current_) {
        order.push_back(*current_);
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        if (current_ != i) {
            order.push_back(i);
        }
    }
    if (!order.empty()) {
        search(std::move(order), tr("Searching all recordings"));
    }
}

void Session::search(std::vector<std::size_t> order, const QString& title) {
    struct Task {
        std::size_t index;
        std::shared_ptr<search::Predictor> predictor;
    };
    std::vector<Task> tasks;
    for (const std::size_t index : order) {
        tasks.push_back({index, cases_[index].predictor});
    }
    job_.start(title, [this, tasks](Progress& progress) -> Deliver {
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            Progress part;
            part.report = [&](double fraction, std::string_view what) {
                const double all =
                    (static_cast<double>(t) + fraction) / static_cast<double>(tasks.size());
                if (!progress.step(all, what)) {
                    part.cancelled.store(true);
                }
            };
            auto result = search::searchCase(*tasks[t].predictor, {}, kTop, part);
            if (progress.cancelled.load()) {
                return [this] { emit notice(tr("Search cancelled. Results so far are kept.")); };
            }
            if (!result) { // the other recordings can still be searched
                QMetaObject::invokeMethod(
                    this, [this, error = result.error()] { emit failed(error); },
                    Qt::QueuedConnection);
                continue;
            }
            // A project opened meanwhile has other predictors: then the result is nobody's.
            QMetaObject::invokeMethod(
                this,
                [this, task = tasks[t],
                 found = std::make_shared<search::SearchResult>(std::move(*result))] {
                    if (task.index < cases_.size() &&
                        cases_[task.index].predictor == task.predictor) {
                        took(task.index, std::move(*found));
                    }
                },
                Qt::QueuedConnection);
        }
        return [] {};
    });
}

void Session::took(std::size_t index, search::SearchResult result) {
    CaseState& state = cases_[index];
    state.result = std::move(result);
    emit resultsChanged();
    // Nothing chosen by hand yet: show what was found.
    if (current_ == index && !dragging_ && !chosenFor(state.data->traced.model)) {
        show(compositionFor(state));
    }
    emit predictionChanged(); // "best found" is known now
}

std::vector<search::SearchResult> Session::results() const {
    std::vector<search::SearchResult> all;
    for (const auto& state : cases_) {
        if (state.result) {
            all.push_back(*state.result);
        }
    }
    return all;
}

} // namespace kerf::app

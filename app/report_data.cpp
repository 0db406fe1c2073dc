// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report_data.h"

#include "app/cli/result_json.h"
#include "app/shown.h"

#include <QDate>

namespace kerf::app {

namespace {

std::string nameOf(sim::Policy policy) {
    switch (policy) {
    case sim::Policy::Balanced:
        return "balanced by cost";
    case sim::Policy::DynamicQueue:
        return "dynamic queue";
    case sim::Policy::RoundRobin:
        break;
    }
    return "round robin";
}

} // namespace

views::ReportData reportData(const project::Project& project, const std::vector<CaseState>& cases,
                             std::size_t chosen) {
    views::ReportData data;
    data.project = project.name.empty() ? project.file.filename().string() : project.name;
    data.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    data.version = KERF_VERSION;
    data.fusion_rules = project.fusion_rules;
    data.categories = categoryRows(cases);
    data.settings = {{"tiles to workers", nameOf(cases[chosen].data->policy)},
                     {"seed of replicas", std::to_string(search::kReplicaSeed)}};
    cli::Json results = cli::Json::array();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!cases[i].result) {
            continue;
        }
        if (i == chosen) {
            data.chosen = data.entries.size();
        }
        data.entries.push_back({cases[i].data, *cases[i].result});
        results.push_back(cli::toJson(*cases[i].data, *cases[i].result));
    }
    data.result_json = results.dump(1, ' ', false, cli::Json::error_handler_t::replace);
    return data;
}

views::TimelinePredicted bestTimeline(const CaseState& state) {
    return views::timelineOf(
        *state.data, state.result->candidates.front().prediction,
        [&](graph::Region region) { return state.predictor->simulateRegion(region, true); });
}

} // namespace kerf::app

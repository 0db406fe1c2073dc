// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/what_if_output.h"

#include "app/cli/composition_argument.h"

#include <algorithm>

namespace kerf::cli {

Expected<NamedWhatIf> predictWhatIf(const project::Project& project, const search::Case& theCase,
                                    const graph::Composition& asked, Progress& progress) {
    NamedWhatIf named;
    std::vector<graph::Composition> candidates;
    const auto add = [&](std::string name, const graph::Composition& composition) {
        auto normal = graph::normalised(theCase.chain, composition);
        if (std::find(candidates.begin(), candidates.end(), normal) == candidates.end()) {
            candidates.push_back(std::move(normal));
            named.candidates.push_back(std::move(name));
        }
    };
    add("conventional", graph::fullyConventional());
    add("monolith", graph::monolith());
    add("per-layer", perLayer(theCase.chain));
    if (const auto settings = project.models.find(theCase.traced.model);
        settings != project.models.end()) {
        for (const auto& saved : settings->second.compositions) {
            std::vector<std::string> missing;
            const auto composition = graph::resolved(theCase.chain, saved, &missing);
            if (missing.empty()) {
                add(saved.name.empty() ? "current" : saved.name, composition);
            }
        }
    }
    add("asked for", asked);
    auto whatIf = search::whatIf(theCase, asked, candidates, progress);
    if (!whatIf) {
        return tl::unexpected(whatIf.error());
    }
    named.what_if = std::move(*whatIf);
    return named;
}

Table whatIfTable() {
    return {{{"model", "model", false},
             {"batch", "batch", true},
             {"group", "group", false},
             {"what if", "name", false},
             {"TTFA ms", "predicted_us", true},
             {"change µs", "change_us", true},
             {"change %", "change", true},
             {"fastest then", "best", false},
             {"order", "order_changes", false},
             {"note", "notes", false}},
            {}};
}

void addRows(Table& table, const search::Case& theCase, const NamedWhatIf& whatIf) {
    for (const auto& row : whatIf.what_if.rows) {
        std::string notes;
        for (const auto& note : row.notes) {
            notes += (notes.empty() ? "" : "; ") + note;
        }
        table.rows.push_back(
            {text(theCase.traced.model), integer(theCase.traced.batch), text(row.group),
             text(row.name), number(row.predicted_us, 3, 1e-3), number(row.change_us, 1),
             percent(row.change(whatIf.what_if.predicted_us), 2), text(whatIf.candidates[row.best]),
             Cell{row.order_changes ? "changes" : "", row.order_changes ? "1" : "0"},
             text(std::move(notes))});
    }
}

Json toJson(const NamedWhatIf& whatIf) {
    Json rows = Json::array();
    for (const auto& row : whatIf.what_if.rows) {
        rows.push_back({{"group", row.group},
                        {"name", row.name},
                        {"predicted_us", row.predicted_us}, // NaN is written as null
                        {"change_us", row.change_us},
                        {"change", row.change(whatIf.what_if.predicted_us)},
                        {"best", whatIf.candidates[row.best]},
                        {"best_changes", row.best_changes},
                        {"order_changes", row.order_changes},
                        {"notes", row.notes}});
    }
    return {{"predicted_us", whatIf.what_if.predicted_us},
            {"best", whatIf.candidates[whatIf.what_if.best]},
            {"candidates", whatIf.candidates},
            {"rows", std::move(rows)}};
}

std::string programmaticLine(const search::Case& theCase,
                             const search::ProgrammaticBaseline& baseline) {
    return fmt::format("{} batch {}: conventional with programmatic launches est. {:.3f} ms ({} "
                       "gaps between kernels up to {:.3f} µs shorter; overlap of tail and start is "
                       "unknown and not counted)\n",
                       theCase.traced.model, theCase.traced.batch, baseline.us * 1e-3,
                       baseline.edges, baseline.per_edge_us);
}

} // namespace kerf::cli

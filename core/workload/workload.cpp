// SPDX-License-Identifier: GPL-3.0-or-later
// From a recording to a workload: units, stages, requests, path, entry gaps, layers.
#include "core/workload/workload.h"

#include "core/workload/stage_ops.h"
#include "core/workload/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kerf::workload {
namespace {

/// Consecutive units that make one execution of the path: [begin, end).
struct Request {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// An annotation counts as the one around requests when it holds at least this share of the units;
// warm-up outside it must not hide it.
constexpr double kRequestCoverage = 0.9;

/// Ranges of the outermost annotation that repeats and holds (nearly) all units; empty if none.
std::vector<Request> requestsByAnnotation(const trace::Recording& recording, const Units& units) {
    struct Candidate {
        std::set<AnnotationIndex> instances;
        std::vector<AnnotationIndex> ofUnit; ///< per unit
        std::size_t covered = 0;
    };
    std::map<std::string, Candidate> candidates;
    for (std::size_t u = 0; u < units.units.size(); ++u) {
        for (auto a = units.units[u].annotation; a != kNoAnnotation; a = units.parent[a]) {
            std::string name = recording.names[recording.annotations[a].name];
            name = name.substr(0, name.find('#'));
            Candidate& candidate = candidates[name];
            candidate.ofUnit.resize(units.units.size(), kNoAnnotation);
            candidate.covered += candidate.ofUnit[u] == kNoAnnotation ? 1 : 0;
            candidate.instances.insert(a);
            candidate.ofUnit[u] = a; // the outermost of the name stays
        }
    }
    const Candidate* best = nullptr;
    for (const auto& [name, candidate] : candidates) {
        const bool usable = candidate.instances.size() >= 2 &&
                            static_cast<double>(candidate.covered) >=
                                kRequestCoverage * static_cast<double>(units.units.size());
        if (usable && (best == nullptr || candidate.instances.size() < best->instances.size())) {
            best = &candidate;
        }
    }
    std::vector<Request> requests;
    if (best == nullptr) {
        return requests;
    }
    for (std::size_t u = 0; u < units.units.size(); ++u) {
        if (best->ofUnit[u] == kNoAnnotation) {
            continue;
        }
        if (requests.empty() || requests.back().end != u ||
            best->ofUnit[u - 1] != best->ofUnit[u]) {
            requests.push_back({u, u});
        }
        requests.back().end = u + 1;
    }
    return requests;
}

/// Ranges of the smallest period of the stage sequence (which may end within one); one range where
/// nothing repeats.
std::vector<Request> requestsByPeriod(const std::vector<std::size_t>& stages) {
    const std::size_t n = stages.size();
    std::vector<std::size_t> border(n + 1, 0); // of each prefix: its longest proper border (KMP)
    for (std::size_t i = 1, k = 0; i < n; ++i) {
        while (k > 0 && stages[i] != stages[k]) {
            k = border[k];
        }
        k += stages[i] == stages[k] ? 1 : 0;
        border[i + 1] = k;
    }
    std::size_t period = n - border[n];
    if (2 * period > n) {
        period = n;
    }
    std::vector<Request> requests;
    for (std::size_t begin = 0; begin + period <= n; begin += period) {
        requests.push_back({begin, begin + period});
    }
    return requests;
}

Path pathOf(const std::vector<std::size_t>& stages, const Request& request) {
    Path path;
    for (std::size_t u = request.begin; u < request.end; ++u) {
        if (!path.empty() && path.back().stage == stages[u]) {
            ++path.back().repeats;
        } else {
            path.push_back({stages[u], 1});
        }
    }
    return path;
}

/// The path that most requests take; the earliest of equally frequent ones.
void setPath(Workload& workload, const std::vector<std::size_t>& stages,
             const std::vector<Request>& requests) {
    std::vector<std::pair<Path, int>> paths;
    for (const Request& request : requests) {
        Path path = pathOf(stages, request);
        const auto known = std::find_if(paths.begin(), paths.end(),
                                        [&](const auto& p) { return p.first == path; });
        if (known == paths.end()) {
            paths.emplace_back(std::move(path), 1);
        } else {
            ++known->second;
        }
    }
    const auto most =
        std::max_element(paths.begin(), paths.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    workload.path = most->first;
    workload.requests = most->second;
    if (paths.size() > 1) {
        workload.notes.push_back(fmt::format("{} of {} requests take another path than the rest.",
                                             static_cast<int>(requests.size()) - most->second,
                                             requests.size()));
    }
}

void setEntryGaps(Workload& workload, const Units& units, const std::vector<std::size_t>& stages,
                  const std::vector<Request>& requests) {
    for (const Request& request : requests) {
        std::int64_t end = units.units[request.begin].end_ns;
        for (std::size_t u = request.begin + 1; u < request.end; ++u) {
            const Unit& unit = units.units[u];
            workload.stages[stages[u]].entry_gap_samples_us.push_back(
                static_cast<float>(static_cast<double>(unit.start_ns - end) / 1000));
            end = std::max(end, unit.end_ns);
        }
    }
    for (Stage& stage : workload.stages) {
        stage.entry_gap_us = robustCentre(stage.entry_gap_samples_us);
    }
}

} // namespace

Expected<Workload> buildWorkload(const trace::Recording& recording, std::string model, int batch) {
    if (recording.activities.empty()) {
        return fail("the recording holds no GPU work", recording.path,
                    "record with GPU activities switched on, over at least one request");
    }
    Workload workload;
    workload.model = std::move(model);
    workload.batch = batch;
    Units units = findUnits(recording);
    StagesOfUnits grouped = groupStages(recording, units);
    workload.stages = std::move(grouped.stages);
    workload.notes = std::move(units.notes);
    workload.notes.insert(workload.notes.end(), grouped.notes.begin(), grouped.notes.end());

    std::vector<Request> requests = requestsByAnnotation(recording, units);
    if (requests.empty()) {
        requests = requestsByPeriod(grouped.stage);
        workload.notes.push_back(
            requests.size() > 1
                ? fmt::format(
                      "No annotation encloses a request: the path is the smallest period of "
                      "the stages, found {} times.",
                      requests.size())
                : std::string("No annotation encloses a request and nothing repeats: the path is "
                              "everything in the recording."));
    }
    setPath(workload, grouped.stage, requests);
    setEntryGaps(workload, units, grouped.stage, requests);
    for (Stage& stage : workload.stages) {
        stage.fold = findFold(stage.ops);
    }
    return workload;
}

} // namespace kerf::workload

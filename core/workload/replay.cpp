// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/replay.h"

#include "core/workload/branches.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kerf::workload {
namespace {

/// Takes `cost` off the gap as far as it goes, the rest off the duration.
template <class Number> void takeOff(Number& gap, Number& duration, double cost) {
    const double fromGap = std::clamp(static_cast<double>(gap), 0.0, cost);
    gap = static_cast<Number>(gap - fromGap);
    duration = static_cast<Number>(std::max(0.0, duration - (cost - fromGap)));
}

Expected<Untraced::Timing> timingOf(const nlohmann::json& json, const std::string& where) {
    const auto p50 = json.find("p50");
    if (!json.is_object() || p50 == json.end() || !p50->is_number() || p50->get<double>() <= 0) {
        return fail("a timing without a positive number \"p50\"", where,
                    "give {\"p50\": µs, \"p95\": µs, \"samples\": [µs, …]}");
    }
    Untraced::Timing timing;
    timing.p50_us = p50->get<double>();
    if (const auto p95 = json.find("p95"); p95 != json.end() && p95->is_number()) {
        timing.p95_us = p95->get<double>();
    }
    if (const auto samples = json.find("samples"); samples != json.end() && samples->is_array()) {
        for (const auto& sample : *samples) {
            if (sample.is_number()) {
                timing.samples_us.push_back(sample.get<double>());
            }
        }
    }
    return timing;
}

/// The run of `model` at `batch`; null where there is none.
const nlohmann::json* findRun(const nlohmann::json& runs, const std::string& model, int batch) {
    for (const auto& run : runs) {
        const auto runModel = run.find("model");
        const auto runBatch = run.find("batch");
        if (run.is_object() && runModel != run.end() && runBatch != run.end() &&
            *runModel == model && *runBatch == batch) {
            return &run;
        }
    }
    return nullptr;
}

} // namespace

Workload corrected(const Workload& traced, const TracingCorrection& correction) {
    Workload result = traced;
    const double cost = correction.us_per_node;
    for (Stage& stage : result.stages) {
        for (std::size_t i = 0; i < stage.ops.size(); ++i) {
            Op& op = stage.ops[i];
            // The node before a stage's first op is in another launch: its gap is the entry gap.
            const bool entry = i == 0 && !stage.entry_gap_samples_us.empty();
            takeOff(entry ? stage.entry_gap_us : op.gap_us, op.duration_us, cost);
            if (entry) {
                for (float& gap : stage.entry_gap_samples_us) {
                    gap -= static_cast<float>(std::clamp(static_cast<double>(gap), 0.0, cost));
                }
                continue; // durations stay: entry gaps are µs long, far beyond the cost of a node
            }
            for (std::size_t k = 0; k < op.duration_samples_us.size(); ++k) {
                takeOff(op.gap_samples_us[k], op.duration_samples_us[k], cost);
            }
        }
    }
    return result;
}

double stageUs(const Stage& stage) {
    double end_us = 0;
    for (const Replayed& op : replayOps(stage)) {
        end_us = std::max(end_us, op.done_us);
    }
    return end_us;
}

double replayUs(const Workload& workload) {
    double sum_us = 0;
    bool first = true;
    for (const PathStep& step : workload.path) {
        const Stage& stage = workload.stages[step.stage];
        const double entries = step.repeats - (first ? 1 : 0);
        sum_us += step.repeats * stageUs(stage) + entries * stage.entry_gap_us;
        first = false;
    }
    return sum_us;
}

ReplayRow replay(const Workload& workload, const TracingCorrection& correction) {
    ReplayRow row{.model = workload.model, .batch = workload.batch};
    row.predicted_us = replayUs(workload);
    row.corrected_us = replayUs(corrected(workload, correction));
    if (workload.untraced.first_output) {
        row.measured_us = workload.untraced.first_output->p50_us;
    }
    return row;
}

Expected<Untraced> readUntraced(const std::string& path, const std::string& model, int batch) {
    std::ifstream file(path);
    if (!file) {
        return fail("the untraced timings cannot be opened", path, "check the path");
    }
    const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    const auto runs = json.is_object() ? json.find("runs") : json.end();
    if (json.is_discarded() || runs == json.end() || !runs->is_object()) {
        return fail("no untraced timings: expected an object \"runs\"", path,
                    "see docs/file-formats for the structure");
    }
    const nlohmann::json* run = findRun(*runs, model, batch);
    if (run == nullptr) {
        return fail(fmt::format("no untraced timings of {} at batch {}", model, batch), path,
                    "check the model's name and batch size");
    }
    Untraced untraced;
    if (const auto stages = run->find("uninstrumented_us");
        stages != run->end() && stages->is_object()) {
        for (const auto& [name, json_timing] : stages->items()) {
            auto timing = timingOf(json_timing, path + ", stage " + name);
            if (!timing) {
                return tl::unexpected(timing.error());
            }
            untraced.stages.emplace_back(name, std::move(*timing));
        }
    }
    if (const auto whole = run->find("first_output_uninstrumented_us"); whole != run->end()) {
        auto timing = timingOf(*whole, path + ", first_output_uninstrumented_us");
        if (!timing) {
            return tl::unexpected(timing.error());
        }
        untraced.first_output = std::move(*timing);
    }
    return untraced;
}

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
// From a project to cases that can be predicted.
#include "core/project/project.h"
#include "core/trace/health.h"
#include "core/trace/reader.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <tbb/parallel_for.h>

namespace kerf::project {

namespace {

/// A recording read and brought to a workload, before costs.
struct Loaded {
    workload::Workload traced;
    workload::Workload corrected;
    cost::Hardware hardware;
    std::vector<std::string> health;
    std::int64_t dropped = 0;
};

Expected<Loaded> load(const Project& project, const RecordingEntry& entry, Progress& progress) {
    const auto file = pathOf(project, entry);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        return fail(fmt::format("the recording of {} at batch {}, {}, does not exist", entry.model,
                                entry.batch, file.string()),
                    project.file.string(), "Put it there, or import the recordings again.");
    }
    auto recording = trace::readRecording(file, progress);
    if (!recording) {
        return tl::unexpected(recording.error());
    }
    auto traced = workload::buildWorkload(*recording, entry.model, entry.batch);
    if (!traced) {
        return tl::unexpected(traced.error());
    }
    traced->untraced = entry.untraced;
    if (const auto settings = project.models.find(entry.model);
        settings != project.models.end() && !settings->second.path.empty()) {
        auto path = workload::parsePath(*traced, settings->second.path);
        if (!path) {
            return tl::unexpected(path.error());
        }
        traced->path = std::move(*path);
    }
    const auto deviceName =
        recording->devices.empty() ? std::string() : recording->devices.front().name;
    auto hardware = project.hardware.empty()
                        ? cost::shippedHardware(deviceName)
                        : cost::readHardware(pathOf(project, project.hardware).string());
    if (!hardware) {
        return tl::unexpected(hardware.error());
    }
    Loaded loaded;
    loaded.corrected = workload::corrected(
        *traced, {hardware->tracing_us_per_node.value, hardware->tracing_us_per_node.source});
    loaded.traced = std::move(*traced);
    loaded.hardware = std::move(*hardware);
    if (!trace::isClean(recording->health)) {
        loaded.health = trace::describe(recording->health);
    }
    loaded.dropped = recording->health.dropped;
    return loaded;
}

Expected<std::vector<cost::BenchFile>> readBenchmarks(const Project& project) {
    std::vector<cost::BenchFile> files;
    for (const auto& name : project.benchmarks) {
        auto file = cost::readBench(pathOf(project, name).string());
        if (!file) {
            auto error = file.error();
            error.advice += fmt::format(" It is a benchmark file of {}.", project.file.string());
            return tl::unexpected(std::move(error));
        }
        if (!file->model.empty() &&
            std::none_of(project.recordings.begin(), project.recordings.end(),
                         [&](const auto& entry) { return entry.model == file->model; })) {
            return fail(fmt::format("benchmark file: is for the model \"{}\", of which the project "
                                    "has no recording",
                                    file->model),
                        file->file, "Correct \"model\", or take the file out of the project.");
        }
        files.push_back(std::move(*file));
    }
    return files;
}

/// Counters of each recording, by its index.
using CountersByRecording = std::map<std::size_t, std::shared_ptr<const cost::MatchedCounters>>;

Expected<CountersByRecording> readCounters(const Project& project,
                                           const std::vector<Expected<Loaded>>& loaded) {
    CountersByRecording counters;
    for (const auto& entry : project.counters) {
        const auto file = pathOf(project, entry.file).string();
        const auto found =
            std::find_if(project.recordings.begin(), project.recordings.end(), [&](const auto& r) {
                return r.model == entry.model && r.batch == entry.batch;
            });
        if (found == project.recordings.end()) {
            return fail(fmt::format("these counters are of {} at batch {}, of which the project "
                                    "has no recording",
                                    entry.model, entry.batch),
                        file, "Correct the model and batch size, or take the file out.");
        }
        const auto counted = cost::readNcu(file);
        if (!counted) {
            auto error = counted.error();
            error.advice += fmt::format(" It is a file of counters of {}.", project.file.string());
            return tl::unexpected(std::move(error));
        }
        const auto index = static_cast<std::size_t>(found - project.recordings.begin());
        auto matched =
            cost::matchCounters(*counted, loaded[index]->corrected, loaded[index]->hardware);
        if (!matched) {
            return tl::unexpected(matched.error());
        }
        auto kept = std::make_shared<const cost::MatchedCounters>(std::move(*matched));
        if (!counters.emplace(index, std::move(kept)).second) {
            return fail(fmt::format("is the second file of counters of {} at batch {}", entry.model,
                                    entry.batch),
                        file, "Keep one.");
        }
    }
    return counters;
}

std::shared_ptr<const cost::MatchedCounters> at(const CountersByRecording& counters,
                                                std::size_t recording) {
    const auto found = counters.find(recording);
    return found == counters.end() ? nullptr : found->second;
}

double relative(std::initializer_list<const cost::Constant*> constants) {
    double value = 0;
    double spread = 0;
    for (const auto* constant : constants) {
        value += constant->value;
        spread += constant->spread;
    }
    return value > 0 ? spread / value : 0;
}

/// One standard deviation of each cause of error, from the figures' own spreads.
search::ErrorModel errorsOf(const search::Case& theCase) {
    search::ErrorModel errors{};
    const auto at = [&](search::ErrorSource source) -> double& {
        return errors[static_cast<std::size_t>(source)];
    };
    const auto& first = theCase.traced.untraced.first_output;
    const double residual = theCase.replay.hasMeasurement()
                                ? std::abs(theCase.replay.correctedError())
                                : search::kUnknownReplayResidual;
    // p95 lies 1.645 standard deviations above the median of a normal distribution.
    const double runSpread = first && first->p50_us > 0
                                 ? std::max(first->p95_us / first->p50_us - 1, 0.0) / 1.645
                                 : 0.01;
    at(search::ErrorSource::ConventionalRun) = std::hypot(residual, runSpread);

    // A class's error is the time-weighted mean of its ops': they are estimated in the same way, so
    // their errors are taken as fully correlated.
    constexpr std::array<search::ErrorSource, 6> kByClass{
        search::ErrorSource::MegakernelProduct,     search::ErrorSource::MegakernelAttention,
        search::ErrorSource::MegakernelElementwise, search::ErrorSource::MegakernelConvolution,
        search::ErrorSource::MegakernelEmbedding,   search::ErrorSource::MegakernelCopy};
    std::array<double, 6> time{};
    std::array<double, 6> weighted{};
    for (const auto& op : theCase.chain.ops) {
        const auto index = static_cast<std::size_t>(workload::classOf(op.role));
        time[index] += op.conventional_us;
        weighted[index] += op.conventional_us * op.relative_error;
    }
    for (std::size_t i = 0; i < kByClass.size(); ++i) {
        at(kByClass[i]) = time[i] > 0 ? weighted[i] / time[i] : 0;
    }
    const auto& hardware = theCase.hardware;
    at(search::ErrorSource::Launch) =
        relative({&hardware.launch_gap_us, &hardware.prologue_us, &hardware.drain_us});
    at(search::ErrorSource::Event) = relative(
        {&hardware.event_one_way_us, &hardware.dispatch_us, &hardware.dependent_latency_us});
    return errors;
}

} // namespace

Expected<std::vector<std::shared_ptr<const search::Case>>> loadCases(const Project& project,
                                                                     Progress& progress) {
    const auto count = project.recordings.size();
    std::vector<Expected<Loaded>> loaded(count, fail("not read"));
    std::atomic<std::size_t> done{0};
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
        Progress own; // a recording's own progress is too fine for the user here
        own.report = [&](double, std::string_view) { own.cancelled = progress.cancelled.load(); };
        loaded[i] = load(project, project.recordings[i], own);
        progress.step(static_cast<double>(++done) / static_cast<double>(count),
                      "reading recordings");
    });
    std::vector<std::shared_ptr<const search::Case>> cases;
    for (std::size_t i = 0; i < count; ++i) {
        if (!loaded[i]) {
            return tl::unexpected(loaded[i].error());
        }
    }
    const auto benchmarks = readBenchmarks(project);
    if (!benchmarks) {
        return tl::unexpected(benchmarks.error());
    }
    const auto counters = readCounters(project, loaded);
    if (!counters) {
        return tl::unexpected(counters.error());
    }
    const auto& rules =
        project.fusion_rules.empty() ? graph::defaultFusionRules() : project.fusion_rules;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& entry = project.recordings[i];
        std::size_t reference = i;
        for (std::size_t j = 0; j < count; ++j) {
            if (project.recordings[j].model == entry.model &&
                project.recordings[j].batch < project.recordings[reference].batch) {
                reference = j;
            }
        }
        auto made = std::make_shared<search::Case>();
        made->traced = loaded[i]->traced;
        made->corrected = loaded[i]->corrected;
        made->hardware = loaded[i]->hardware;
        made->health = loaded[i]->health;
        made->dropped = loaded[i]->dropped;
        made->policy = project.policy;
        made->tree = workload::foldPath(made->corrected.path);
        made->replay = workload::replay(made->traced, {made->hardware.tracing_us_per_node.value,
                                                       made->hardware.tracing_us_per_node.source});
        if (const auto settings = project.models.find(entry.model);
            settings != project.models.end()) {
            const auto& given = settings->second.output;
            const auto output =
                search::outputOf(given, made->tree, entry.batch,
                                 fmt::format("{}, model {}", project.file.string(), entry.model));
            if (!output) {
                return tl::unexpected(output.error());
            }
            made->audio_ms_per_path = output->chunk_audio_ms;
            made->first_chunk_audio_ms = output->first_chunk_audio_ms;
            made->first_chunk_frames = output->first_chunk_frames;
            made->requests_per_last_pass = given.requests_per_last_pass;
            made->last_passes = output->last_passes;
        }
        made->fusion_rules = project.fusion_rules;
        made->programmatic_boundaries = project.programmatic_boundaries;
        if (reference != i) {
            made->reference =
                std::make_shared<const workload::Workload>(loaded[reference]->corrected);
        }
        auto table = cost::benchTable(*benchmarks, entry.model, made->hardware);
        if (!table) {
            return tl::unexpected(table.error());
        }
        made->benchmarks = std::make_shared<const cost::BenchTable>(std::move(*table));
        made->counters = at(*counters, i);
        made->reference_counters = at(*counters, reference);
        auto chain = graph::buildChain(made->corrected, loaded[reference]->corrected, made->tree,
                                       rules, made->hardware,
                                       {.benchmarks = made->benchmarks.get(),
                                        .counters = made->counters.get(),
                                        .reference_counters = made->reference_counters.get()});
        if (!chain) {
            return tl::unexpected(chain.error());
        }
        made->chain = std::move(*chain);
        made->health.insert(made->health.end(), made->chain.notes.begin(), made->chain.notes.end());
        made->errors = errorsOf(*made);
        cases.push_back(std::move(made));
    }
    return cases;
}

} // namespace kerf::project

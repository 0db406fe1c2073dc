// SPDX-License-Identifier: GPL-3.0-or-later
// What a person waits for, on the sample project: one boundary drag, the exact search of a
// recording, all recordings, the paired replicas.
#include "core/project/project.h"
#include "core/search/predictor.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace kerf;

namespace {

using Cases = std::vector<std::shared_ptr<const search::Case>>;

const Cases& sample() {
    static const Cases cases = [] {
        Progress progress;
        const auto project = project::readProject(KERF_SOURCE_DIR "/resources/sample/sample.kerf");
        auto loaded = project ? project::loadCases(*project, progress)
                              : Expected<Cases>(tl::unexpected(project.error()));
        if (!loaded) {
            std::cerr << loaded.error().what << '\n';
            std::exit(1);
        }
        return *loaded;
    }();
    return cases;
}

/// A megakernel boundary moved by one site: two regions that nobody has simulated yet.
void drag(benchmark::State& state, const std::shared_ptr<const search::Case>& theCase) {
    const auto sites = static_cast<graph::SiteIndex>(theCase->chain.sites.size());
    const graph::SiteIndex fixed = sites / 2;
    auto predictor = std::make_unique<search::Predictor>(theCase);
    graph::SiteIndex site = 0;
    double worst_ms = 0;
    for (auto _ : state) {
        if (site == fixed) {
            ++site;
        }
        if (site >= sites) {
            state.PauseTiming();
            predictor = std::make_unique<search::Predictor>(theCase); // forget all regions
            site = 0;
            state.ResumeTiming();
        }
        graph::Composition composition = graph::monolith();
        composition.cuts[fixed] = graph::Mode::Megakernel;
        composition.cuts[site++] = graph::Mode::Megakernel;
        const auto begin = std::chrono::steady_clock::now();
        const auto prediction = predictor->predict(composition, 0);
        benchmark::DoNotOptimize(prediction->ttfa_us);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        worst_ms = std::max(worst_ms, took.count());
    }
    state.counters["worst_ms"] = worst_ms;
}

void searchOne(benchmark::State& state, const std::shared_ptr<const search::Case>& theCase) {
    for (auto _ : state) {
        search::Predictor predictor(theCase);
        Progress progress;
        const auto found = search::searchCase(predictor, {}, 10, progress);
        benchmark::DoNotOptimize(found->candidates.size());
    }
}

void searchAll(benchmark::State& state) {
    for (auto _ : state) {
        for (const auto& theCase : sample()) {
            search::Predictor predictor(theCase);
            Progress progress;
            const auto found = search::searchCase(predictor, {}, 10, progress);
            benchmark::DoNotOptimize(found->candidates.size());
        }
    }
    state.counters["recordings"] = static_cast<double>(sample().size());
}

/// 200 replicas of a prediction whose regions are known: what releasing the mouse costs.
void replicas(benchmark::State& state) {
    search::Predictor predictor(sample().front());
    (void)predictor.predict(graph::monolith(), 0);
    for (auto _ : state) {
        const auto prediction = predictor.predict(graph::monolith(), 200);
        benchmark::DoNotOptimize(prediction->ttfa_interval_us.high);
    }
}

void registerAll() {
    for (const auto& theCase : sample()) {
        const std::string name =
            theCase->traced.model + "_b" + std::to_string(theCase->traced.batch);
        benchmark::RegisterBenchmark(("drag/" + name).c_str(), drag, theCase)
            ->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("search/" + name).c_str(), searchOne, theCase)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
    }
    benchmark::RegisterBenchmark("search_all", searchAll)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    benchmark::RegisterBenchmark("replicas_200", replicas)->Unit(benchmark::kMillisecond);
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    registerAll();
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Rectangles of a timeline lane: must not grow with the number of slices.
#include "views/timeline_rects.h"

#include <benchmark/benchmark.h>

namespace {

using namespace kerf::views;

void rectsOfLane(benchmark::State& state) {
    const std::vector<TimelineDetail> details(6);
    std::vector<TimelineSlice> slices;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        const auto start = static_cast<double>(i);
        slices.push_back({start, start + 0.8, static_cast<std::uint32_t>(i % 6)});
    }
    const TimeAxis axis{{0, static_cast<double>(state.range(0))}, 0, 1600};
    for (auto _ : state) {
        benchmark::DoNotOptimize(rectsOf(slices, details, axis));
    }
}
BENCHMARK(rectsOfLane)->Range(1'000, 1'000'000)->Unit(benchmark::kMicrosecond);

} // namespace

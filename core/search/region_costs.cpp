// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/region_costs.h"

#include "core/sim/beginnings.h"

#include <algorithm>
#include <mutex>
#include <oneapi/tbb/parallel_for.h>
#include <optional>

namespace kerf::search {

namespace {

ErrorSource sourceOf(workload::OpRole role) {
    switch (workload::classOf(role)) {
    case workload::OpClass::Product:
        return ErrorSource::MegakernelProduct;
    case workload::OpClass::Attention:
        return ErrorSource::MegakernelAttention;
    case workload::OpClass::Elementwise:
        return ErrorSource::MegakernelElementwise;
    case workload::OpClass::Convolution:
        return ErrorSource::MegakernelConvolution;
    case workload::OpClass::Embedding:
        return ErrorSource::MegakernelEmbedding;
    case workload::OpClass::Copy:
        return ErrorSource::MegakernelCopy;
    }
    return ErrorSource::MegakernelElementwise;
}

double& part(TimeParts& parts, ErrorSource source) {
    return parts[static_cast<std::size_t>(source)];
}

/// Shares the makespan out: events by the engine's blame, the rest by how much later each op ended
/// than the op before it.
TimeParts partsOf(const graph::Chain& chain, const graph::Shape& shape,
                  const sim::RegionResult& result, double boundaryUs) {
    TimeParts parts{};
    part(parts, ErrorSource::Launch) =
        boundaryUs + result.blame[static_cast<std::size_t>(sim::Bound::Prologue)];
    const double eventUs = result.blame[static_cast<std::size_t>(sim::Bound::Event)] +
                           result.blame[static_cast<std::size_t>(sim::Bound::Tail)];
    part(parts, ErrorSource::Event) = eventUs;
    const double workUs =
        result.makespan_us + boundaryUs - eventUs - part(parts, ErrorSource::Launch);

    std::vector<double> executions(shape.ops.size(), 1);
    for (const auto& loop : shape.loops) {
        for (auto i = loop.begin; i < loop.end; ++i) {
            executions[i] *= loop.iterations;
        }
    }
    double previousUs = 0;
    double sum = 0;
    std::vector<double> weights(shape.ops.size());
    for (std::size_t i = 0; i < shape.ops.size(); ++i) {
        weights[i] = executions[i] * std::max(result.ops[i].first_end_us - previousUs, 0.0);
        previousUs = std::max(previousUs, result.ops[i].first_end_us);
        sum += weights[i];
    }
    for (std::size_t i = 0; i < shape.ops.size() && sum > 0; ++i) {
        const auto& op = chain.ops[shape.ops[i]];
        part(parts, sourceOf(op.role)) += workUs * weights[i] / sum;
    }
    return parts;
}

} // namespace

double boundaryUs(const Case& theCase) {
    return cost::boundaryUs(theCase.hardware, theCase.programmatic_boundaries);
}

RegionCosts::RegionCosts(const graph::Chain& chain, const Case& theCase, std::size_t maxEntries)
    : chain_(chain), case_(theCase), max_entries_(std::max<std::size_t>(maxEntries, 16)) {}

Expected<RegionPrediction> RegionCosts::of(graph::Region region, graph::Mode mode) {
    const auto key = std::pair{region, mode};
    {
        const std::shared_lock lock(mutex_);
        if (const auto found = known_.find(key); found != known_.end()) {
            ++hits_;
            return found->second;
        }
    }
    ++misses_;
    auto made = mode == graph::Mode::Megakernel ? simulate(region)
                                                : Expected<RegionPrediction>(conventional(region));
    remember(region, mode, made);
    return made;
}

void RegionCosts::remember(graph::Region region, graph::Mode mode,
                           Expected<RegionPrediction> prediction) {
    const std::unique_lock lock(mutex_);
    if (known_.size() >= max_entries_) {
        known_.clear();
    }
    known_.emplace(std::pair{region, mode}, std::move(prediction));
}

void RegionCosts::prepare(const std::vector<graph::Region>& regions, Progress& progress) {
    // Only regions that start at the same cut begin alike.
    std::map<graph::SiteIndex, std::vector<graph::Region>> unknown;
    {
        const std::shared_lock lock(mutex_);
        for (const graph::Region& region : regions) {
            if (!known_.contains({region, graph::Mode::Megakernel})) {
                unknown[region.from].push_back(region);
            }
        }
    }
    std::vector<const std::vector<graph::Region>*> starts;
    for (const auto& [from, same_start] : unknown) {
        starts.push_back(&same_start);
    }
    std::atomic<std::size_t> done = 0;
    oneapi::tbb::parallel_for(std::size_t{0}, starts.size(), [&](std::size_t start) {
        std::vector<Program> programs;
        for (const graph::Region& region : *starts[start]) {
            ++misses_;
            if (auto program = programOf(region)) {
                programs.push_back(std::move(*program));
            } else {
                remember(region, graph::Mode::Megakernel, tl::unexpected(program.error()));
            }
        }
        while (!programs.empty() && !progress.cancelled.load(std::memory_order_relaxed)) {
            simulateFamily(programs);
        }
        progress.step(static_cast<double>(++done) / static_cast<double>(starts.size()),
                      "simulating regions");
    });
}

void RegionCosts::simulateFamily(std::vector<Program>& programs) {
    const auto longest =
        std::max_element(programs.begin(), programs.end(), [](const Program& a, const Program& b) {
            return a.shape.ops.size() < b.shape.ops.size();
        });
    const graph::Shape whole = longest->shape;
    const sim::Machine machine = longest->machine;
    std::vector<sim::Beginning> beginnings;
    std::vector<Program> family;
    std::vector<Program> others;
    for (Program& program : programs) {
        const auto& ops = program.shape.ops;
        std::optional<sim::Beginning> beginning;
        if (program.machine == machine && std::equal(ops.begin(), ops.end(), whole.ops.begin())) {
            beginning = sim::beginningOf(whole.loops, static_cast<sim::OpIndex>(ops.size()),
                                         program.shape.loops);
        }
        if (beginning) {
            beginnings.push_back(*beginning);
            family.push_back(std::move(program));
        } else {
            others.push_back(std::move(program));
        }
    }
    programs = std::move(others);
    const auto results =
        sim::simulateBeginnings(graph::lowerRegion(chain_, whole), machine, beginnings);
    for (std::size_t i = 0; i < family.size(); ++i) {
        remember(family[i].region, graph::Mode::Megakernel, results[i].map([&](const auto& result) {
            return predictionOf(family[i], result);
        }));
    }
}

CacheStats RegionCosts::stats() const {
    const std::shared_lock lock(mutex_);
    return {hits_.load(), misses_.load(), known_.size(), max_entries_};
}

Expected<RegionCosts::Program> RegionCosts::programOf(graph::Region region) const {
    const auto items = graph::opsOf(chain_, region);
    Program program{region, graph::shapeOf(items), graph::regionFootprint(chain_, items), {}};
    auto machine = cost::machineFor(case_.hardware, program.footprint, case_.policy);
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    program.machine = *machine;
    return program;
}

Expected<RegionPrediction> RegionCosts::simulate(graph::Region region) const {
    const auto program = programOf(region);
    if (!program) {
        return tl::unexpected(program.error());
    }
    return sim::simulate(graph::lowerRegion(chain_, program->shape), program->machine)
        .map([&](const auto& result) { return predictionOf(*program, result); });
}

RegionPrediction RegionCosts::predictionOf(const Program& program,
                                           const sim::RegionResult& result) const {
    RegionPrediction prediction;
    prediction.use = {program.region, graph::Mode::Megakernel, 1};
    prediction.boundary_us = boundaryUs(case_);
    prediction.us = prediction.boundary_us + result.makespan_us;
    prediction.workers = program.machine.workers;
    prediction.footprint = program.footprint;
    prediction.blame = result.blame;
    prediction.parts = partsOf(chain_, program.shape, result, prediction.boundary_us);
    return prediction;
}

RegionPrediction RegionCosts::conventional(graph::Region region) const {
    RegionPrediction prediction;
    prediction.use = {region, graph::Mode::Conventional, 1};
    prediction.us = graph::conventionalUs(chain_, graph::opsOf(chain_, region));
    part(prediction.parts, ErrorSource::ConventionalRun) = prediction.us;
    return prediction;
}

} // namespace kerf::search

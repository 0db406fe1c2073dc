// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/region_costs.h"

#include "core/graph/lower.h"

#include <algorithm>
#include <mutex>

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
TimeParts partsOf(const graph::Chain& chain, const sim::RegionGraph& program,
                  const sim::RegionResult& result, double boundaryUs) {
    TimeParts parts{};
    part(parts, ErrorSource::Launch) =
        boundaryUs + result.blame[static_cast<std::size_t>(sim::Bound::Prologue)];
    const double eventUs = result.blame[static_cast<std::size_t>(sim::Bound::Event)] +
                           result.blame[static_cast<std::size_t>(sim::Bound::Tail)];
    part(parts, ErrorSource::Event) = eventUs;
    const double workUs =
        result.makespan_us + boundaryUs - eventUs - part(parts, ErrorSource::Launch);

    std::vector<double> executions(program.ops.size(), 1);
    for (const auto& loop : program.loops) {
        for (auto i = loop.begin; i < loop.end; ++i) {
            executions[i] *= loop.iterations;
        }
    }
    double previousUs = 0;
    double sum = 0;
    std::vector<double> weights(program.ops.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        weights[i] = executions[i] * std::max(result.ops[i].first_end_us - previousUs, 0.0);
        previousUs = std::max(previousUs, result.ops[i].first_end_us);
        sum += weights[i];
    }
    for (std::size_t i = 0; i < program.ops.size() && sum > 0; ++i) {
        const auto& op = chain.ops[program.ops[i].source];
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
    const std::unique_lock lock(mutex_);
    if (known_.size() >= max_entries_) {
        known_.clear();
    }
    known_.emplace(key, made);
    return made;
}

Predictor::CacheStats RegionCosts::stats() const {
    const std::shared_lock lock(mutex_);
    return {hits_.load(), misses_.load(), known_.size()};
}

Expected<RegionCosts::Program> RegionCosts::programOf(graph::Region region) const {
    const auto items = graph::opsOf(chain_, region);
    Program program;
    program.footprint = graph::regionFootprint(chain_, items);
    auto machine = cost::machineFor(case_.hardware, program.footprint, case_.policy);
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    program.machine = *machine;
    program.graph = graph::lowerRegion(chain_, items);
    return program;
}

Expected<RegionPrediction> RegionCosts::simulate(graph::Region region) const {
    const auto program = programOf(region);
    if (!program) {
        return tl::unexpected(program.error());
    }
    const auto result = sim::simulate(program->graph, program->machine);
    if (!result) {
        return tl::unexpected(result.error());
    }
    RegionPrediction prediction;
    prediction.use = {region, graph::Mode::Megakernel, 1};
    prediction.boundary_us = boundaryUs(case_);
    prediction.us = prediction.boundary_us + result->makespan_us;
    prediction.workers = program->machine.workers;
    prediction.footprint = program->footprint;
    prediction.blame = result->blame;
    prediction.parts = partsOf(chain_, program->graph, *result, prediction.boundary_us);
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/predictor.h"

#include "core/graph/lower.h"
#include "core/search/programmatic.h"
#include "core/search/region_costs.h"

#include <fmt/format.h>
#include <limits>

namespace kerf::search {

namespace {

/// Mode in which the steady part's first op runs: that of the last cut before its first execution.
graph::Mode modeAtFirstOp(const graph::Chain& chain, const graph::Chain& steady,
                          const graph::Composition& composition) {
    std::size_t firstOp = 0;
    for (const auto& step : graph::unroll(steady)) {
        if (!step.is_site) {
            firstOp = step.index;
            break;
        }
    }
    auto mode = composition.first_mode;
    for (const auto& step : graph::unroll(chain)) {
        if (!step.is_site && step.index == firstOp) {
            break;
        }
        if (step.is_site) {
            const auto cut = composition.cuts.find(static_cast<graph::SiteIndex>(step.index));
            mode = cut == composition.cuts.end() ? mode : cut->second;
        }
    }
    return mode;
}

struct Summed {
    double us = 0;
    TimeParts parts{};
    double overlap_us = 0;
    double covered_us = 0;
    double conventional_us = 0;
    std::int64_t launches = 0;
    std::vector<RegionPrediction> regions;
};

/// Regions one after another; with programmatic boundaries less what overlaps between them.
Expected<Summed> sum(RegionCosts& costs, const Case& theCase,
                     const graph::Composition& composition) {
    Summed total;
    int megakernels = 0;
    const auto uses = graph::regionsOf(costs.chain(), composition);
    std::vector<graph::Region> fused;
    for (const auto& use : uses) {
        if (use.mode == graph::Mode::Megakernel) {
            fused.push_back(use.region);
        }
    }
    Progress progress;
    costs.prepare(fused, progress); // those beside a moved boundary in parallel
    for (const auto& use : uses) {
        auto region = costs.of(use.region, use.mode);
        if (!region) {
            return tl::unexpected(region.error());
        }
        region->use = use;
        const auto times = static_cast<double>(use.count);
        const auto items = graph::opsOf(costs.chain(), use.region);
        const double conventionalUs = times * graph::conventionalUs(costs.chain(), items);
        total.conventional_us += conventionalUs;
        if (use.mode == graph::Mode::Megakernel) {
            total.covered_us += conventionalUs;
            total.launches += use.count;
            region->label = fmt::format("megakernel {}", ++megakernels);
        } else {
            graph::forEachOp(items, [&](std::size_t op, double executions) {
                total.launches += use.count * static_cast<std::int64_t>(executions) *
                                  static_cast<std::int64_t>(costs.chain().ops[op].members.size());
            });
            region->label = "conventional";
        }
        total.us += times * region->us;
        for (std::size_t i = 0; i < kErrorSources; ++i) {
            total.parts[i] += times * region->parts[i];
        }
        total.regions.push_back(std::move(*region));
    }
    if (theCase.programmatic_boundaries) {
        total.overlap_us = overlapUs(theCase, costs.chain(), composition, total.regions);
        total.us -= total.overlap_us;
        total.parts[static_cast<std::size_t>(ErrorSource::Launch)] -= total.overlap_us;
    }
    return total;
}

/// The path up to the end of the first of its last stage's passes.
graph::Chain withOneLastPass(graph::Chain chain) {
    const auto loop = std::move(chain.items.back());
    chain.items.pop_back();
    chain.items.insert(chain.items.end(), loop.body.begin(), loop.body.end());
    return chain;
}

} // namespace

struct Predictor::Impl {
    std::shared_ptr<const Case> the_case;
    graph::Chain steady;
    graph::Chain first_released;
    RegionCosts costs;
    RegionCosts steady_costs;
    RegionCosts first_released_costs;

    Impl(std::shared_ptr<const Case> theCase, std::size_t entries)
        : the_case(std::move(theCase)), steady(graph::steadyPart(the_case->chain)),
          first_released(the_case->last_passes > 1 ? withOneLastPass(the_case->chain)
                                                   : graph::Chain{}),
          costs(the_case->chain, *the_case, entries), steady_costs(steady, *the_case, entries),
          first_released_costs(first_released, *the_case, entries) {}

    /// `prediction` with all but `streaming`.
    [[nodiscard]] Expected<StreamingMetrics> streamingOf(const Prediction& prediction,
                                                         double meanTtfaUs);
};

Expected<StreamingMetrics> Predictor::Impl::streamingOf(const Prediction& prediction,
                                                        double meanTtfaUs) {
    StreamingMetrics metrics;
    metrics.requests = the_case->corrected.batch;
    double firstUs = prediction.ttfa_us;
    if (the_case->last_passes > 1) {
        const auto first = sum(first_released_costs, *the_case, prediction.composition);
        if (!first) {
            return tl::unexpected(first.error());
        }
        firstUs = std::min(first->us, prediction.ttfa_us);
    }
    const auto times =
        requestTimesUs(firstUs, prediction.ttfa_us, the_case->last_passes,
                       std::max(the_case->requests_per_last_pass, 1), metrics.requests);
    metrics.first_request_us = firstUs;
    metrics.batch_p95_us = percentile(times, 0.95).value_or(prediction.ttfa_us);
    metrics.batch_p99_us = percentile(times, 0.99).value_or(0);
    if (prediction.ttfa_us > 0) { // a replica stretches all of its batch's times alike
        metrics.mean_batch_p95_us = metrics.batch_p95_us / prediction.ttfa_us * meanTtfaUs;
    }
    metrics.inter_chunk_us = prediction.steady_us;
    const double chunkMs = the_case->audio_ms_per_path;
    if (chunkMs > 0) {
        const double firstMs =
            the_case->first_chunk_audio_ms > 0 ? the_case->first_chunk_audio_ms : chunkMs;
        metrics.chunk_audio_us = chunkMs * 1e3;
        metrics.first_chunk_audio_us = firstMs * 1e3;
        metrics.playback = playbackOf(metrics.first_chunk_audio_us, metrics.chunk_audio_us,
                                      metrics.inter_chunk_us);
    }
    return metrics;
}

Predictor::Predictor(std::shared_ptr<const Case> theCase, std::size_t cacheEntries)
    : impl_(std::make_unique<Impl>(std::move(theCase), cacheEntries)) {}
Predictor::~Predictor() = default;

const Case& Predictor::theCase() const {
    return *impl_->the_case;
}

Expected<Prediction> Predictor::predict(const graph::Composition& composition, int replicas) {
    auto path = sum(impl_->costs, *impl_->the_case, composition);
    if (!path) {
        return tl::unexpected(path.error());
    }
    auto steadyComposition = composition;
    steadyComposition.first_mode =
        modeAtFirstOp(impl_->the_case->chain, impl_->steady, composition);
    const auto steady = sum(impl_->steady_costs, *impl_->the_case, steadyComposition);
    if (!steady) {
        return tl::unexpected(steady.error());
    }
    Prediction prediction;
    prediction.composition = composition;
    prediction.kind = graph::kindOf(composition);
    prediction.ttfa_us = path->us;
    prediction.parts = path->parts;
    prediction.overlap_us = path->overlap_us;
    prediction.coverage = path->conventional_us > 0 ? path->covered_us / path->conventional_us : 0;
    prediction.launches = path->launches;
    prediction.regions = std::move(path->regions);
    prediction.steady_us = steady->us;
    if (steady->us > 0) {
        prediction.throughput_per_s = impl_->the_case->corrected.batch * 1e6 / steady->us;
    }
    if (impl_->the_case->audio_ms_per_path > 0) {
        prediction.rtf = steady->us / 1e3 / impl_->the_case->audio_ms_per_path;
    }
    double meanUs = 0;
    if (replicas > 0) {
        const auto uncertain =
            quantify({prediction.parts}, impl_->the_case->errors, replicas, kReplicaSeed).front();
        prediction.ttfa_interval_us = uncertain.interval_us;
        meanUs = uncertain.mean_us;
    }
    auto streaming = impl_->streamingOf(prediction, meanUs);
    if (!streaming) {
        return tl::unexpected(streaming.error());
    }
    prediction.streaming = *streaming;
    return prediction;
}

Expected<double> Predictor::ttfaUs(const graph::Composition& composition) {
    return sum(impl_->costs, *impl_->the_case, composition).map([](const Summed& path) {
        return path.us;
    });
}

Expected<sim::RegionGraph> Predictor::regionGraph(graph::Region region) const {
    return impl_->costs.programOf(region).map([&](const auto& program) {
        return graph::lowerRegion(impl_->the_case->chain, program.shape);
    });
}

Expected<sim::RegionResult> Predictor::simulateRegion(graph::Region region, bool recordTiles) {
    const auto program = impl_->costs.programOf(region);
    if (!program) {
        return tl::unexpected(program.error());
    }
    return sim::simulate(graph::lowerRegion(impl_->the_case->chain, program->shape),
                         program->machine, {.record_tiles = recordTiles});
}

void Predictor::prepare(const std::vector<graph::Region>& regions, Progress& progress) {
    impl_->costs.prepare(regions, progress);
}

double Predictor::regionCostUs(graph::Region region, graph::Mode mode) {
    const auto prediction = impl_->costs.of(region, mode);
    return prediction ? prediction->us : std::numeric_limits<double>::infinity();
}

CacheStats Predictor::cacheStats() const {
    return impl_->costs.stats();
}

} // namespace kerf::search

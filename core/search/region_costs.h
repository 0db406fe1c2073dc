// SPDX-License-Identifier: GPL-3.0-or-later
// Region costs of one chain, kept so that a region is simulated once.
#pragma once

#include "core/graph/lower.h"
#include "core/search/predictor.h"

#include <map>
#include <shared_mutex>

namespace kerf::search {

/// What a megakernel's launch costs beside its simulation, by the case's kind of edge. µs.
[[nodiscard]] double boundaryUs(const Case& theCase);

/// Costs of the regions of one chain as megakernels and conventionally. Safe from several threads.
/// Bounded: when full, everything is forgotten and simulated again when asked.
class RegionCosts {
public:
    RegionCosts(const graph::Chain& chain, const Case& theCase, std::size_t maxEntries);

    /// One launch. `use.count` and `label` are left to the caller.
    /// Errors: a footprint that does not fit, an engine error.
    [[nodiscard]] Expected<RegionPrediction> of(graph::Region region, graph::Mode mode);
    /// Simulates those of the regions as megakernels that are not known, in parallel. Regions that
    /// begin alike on the same machine share a run; the costs are those of of(), bit for bit.
    void prepare(const std::vector<graph::Region>& regions, Progress& progress);
    [[nodiscard]] CacheStats stats() const;
    [[nodiscard]] const graph::Chain& chain() const { return chain_; }

    /// What the engine runs for a region.
    struct Program {
        graph::Region region;
        graph::Shape shape;
        cost::Footprint footprint;
        sim::Machine machine;
    };
    [[nodiscard]] Expected<Program> programOf(graph::Region region) const;

private:
    [[nodiscard]] Expected<RegionPrediction> simulate(graph::Region region) const;
    [[nodiscard]] RegionPrediction conventional(graph::Region region) const;
    [[nodiscard]] RegionPrediction predictionOf(const Program& program,
                                                const sim::RegionResult& result) const;
    /// Takes the longest program and all that are its beginnings out of `programs`, and simulates
    /// them.
    void simulateFamily(std::vector<Program>& programs);
    void remember(graph::Region region, graph::Mode mode, Expected<RegionPrediction> prediction);

    const graph::Chain& chain_;
    const Case& case_;
    std::size_t max_entries_;
    mutable std::shared_mutex mutex_;
    std::map<std::pair<graph::Region, graph::Mode>, Expected<RegionPrediction>> known_;
    mutable std::atomic<std::uint64_t> hits_{0};
    mutable std::atomic<std::uint64_t> misses_{0};
};

} // namespace kerf::search

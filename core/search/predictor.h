// SPDX-License-Identifier: GPL-3.0-or-later
// From a composition to its predicted time. No candidate is ever run.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/cost/machine.h"
#include "core/graph/build_chain.h"
#include "core/graph/composition.h"
#include "core/search/categories.h"
#include "core/search/metrics.h"
#include "core/search/search.h"
#include "core/search/uncertainty.h"
#include "core/sim/engine.h"
#include "core/workload/replay.h"

#include <memory>

namespace kerf::search {

/// Replay residual assumed where a recording has no untraced timing: the worst of the 21 recordings
/// in docs/validation/replay.md, rounded up.
inline constexpr double kUnknownReplayResidual = 0.02;
/// Seed of every replica drawn for a prediction; recorded with results.
inline constexpr std::uint64_t kReplicaSeed = 20261201;

/// One model at one batch size with everything a prediction needs. Immutable once made.
struct Case {
    workload::Workload traced;    ///< as recorded
    workload::Workload corrected; ///< tracing correction applied
    workload::PathTree tree;
    graph::Chain chain;
    cost::Hardware hardware;
    workload::ReplayRow replay;
    std::vector<std::string> health; ///< of the recording, one line a finding; empty: clean
    std::int64_t dropped = 0;
    sim::Policy policy = sim::Policy::RoundRobin;
    double audio_ms_per_path =
        0; ///< playable audio of a steady path's output; 0: text or not given
    double first_chunk_audio_ms = 0; ///< 0: as a steady pass
    int first_chunk_frames = 0;      ///< 0: not known
    int requests_per_last_pass = 0;  ///< see OutputSettings; the path ends with `last_passes` of it
    int last_passes = 1;
    ErrorModel errors{};
    graph::FusionRules fusion_rules; ///< that `chain` was built by; empty: the default rules
    std::shared_ptr<const workload::Workload>
        reference; ///< the model's smallest recorded batch size, corrected, from which
                   ///< `chain` took its weights; null: `corrected`
    std::shared_ptr<const cost::BenchTable> benchmarks; ///< that `chain` was costed by; null: none
    std::shared_ptr<const cost::MatchedCounters> counters;           ///< the same
    std::shared_ptr<const cost::MatchedCounters> reference_counters; ///< those of `reference`
    bool programmatic_boundaries =
        false; ///< regions are launched with programmatic edges; see docs/cost-model.md
};

struct RegionPrediction {
    graph::RegionUse use;
    double us = 0;          ///< one launch, boundary included
    double boundary_us = 0; ///< of which launch gap, prologue and drain
    TimeParts parts{};      ///< of one launch
    int workers = 0;        ///< 0: conventional
    cost::Footprint footprint;
    sim::Blame blame{}; ///< of one launch; zero: conventional
    std::string label;  ///< "megakernel 1", "conventional"
};

struct Prediction {
    graph::Composition composition;
    graph::Kind kind = graph::Kind::Conventional;
    double ttfa_us = 0;        ///< request to first output of the whole batch
    Interval ttfa_interval_us; ///< 90 %
    TimeParts parts{};
    double overlap_us = 0;     ///< already taken off: prologues hidden under the tails before them
                               ///< (programmatic boundaries only; estimated)
    double coverage = 0;       ///< share of the conventional path's time inside megakernel regions
    std::int64_t launches = 0; ///< of regions and, in conventional ones, recorded ops
    double steady_us = 0;      ///< a steady-state pass, see graph::steadyPart
    double throughput_per_s = 0; ///< steady passes a second × batch
    double rtf = 0; ///< steady compute time / audio time (below 1: faster than real time);
                    ///< 0: unknown
    StreamingMetrics streaming;
    std::vector<RegionPrediction> regions;
};

/// Use of the regions kept by a predictor since it was made.
struct CacheStats {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0; ///< simulated or summed up
    std::size_t entries = 0;  ///< kept now
    std::size_t capacity = 0; ///< most that are kept
    /// Hits among all asked; 0 when nothing was asked.
    [[nodiscard]] double hitRate() const {
        const auto asked = static_cast<double>(hits + misses);
        return asked > 0 ? static_cast<double>(hits) / asked : 0;
    }
};

/// Predicts compositions of one case; keeps the regions it has simulated, so that a moved boundary
/// simulates only the regions beside it. Safe to call from several threads.
class Predictor {
public:
    explicit Predictor(std::shared_ptr<const Case> theCase, std::size_t cacheEntries = 200'000);
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;

    [[nodiscard]] const Case& theCase() const;
    /// Exact: every region simulated whole. Intervals from `replicas` paired replicas (0: none).
    [[nodiscard]] Expected<Prediction> predict(const graph::Composition& composition,
                                               int replicas = 200);
    /// Only `Prediction::ttfa_us`. µs.
    [[nodiscard]] Expected<double> ttfaUs(const graph::Composition& composition);
    /// One region with its tiles, for the timeline and the tile view.
    [[nodiscard]] Expected<sim::RegionResult> simulateRegion(graph::Region region,
                                                             bool recordTiles);
    [[nodiscard]] Expected<sim::RegionGraph> regionGraph(graph::Region region) const;
    /// Simulates many regions as megakernels faster than one by one, with the same costs; ends
    /// early when cancelled. For the search.
    void prepare(const std::vector<graph::Region>& regions, Progress& progress);
    /// One launch of a region, µs; +infinity where it cannot run. For the search.
    [[nodiscard]] double regionCostUs(graph::Region region, graph::Mode mode);

    [[nodiscard]] CacheStats cacheStats() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct Candidate {
    Prediction prediction;
    Uncertain uncertain; ///< among the reported candidates
    bool ties_best = false;
    std::string regions; ///< compact: "c M×3" with M a megakernel, c conventional, in path order
};

struct SearchResult {
    std::string model;
    int batch = 1;
    std::vector<Candidate> candidates; ///< best first; always holds conventional, monolith, the
                                       ///< best pure and the best mixed composition
    double conventional_programmatic_us = 0; ///< see conventionalProgrammatic; estimated
    std::uint64_t regions_evaluated = 0;
    CacheStats cache; ///< of the predictor, after the search
    double seconds = 0;
};

/// The best compositions of a case: exact DP on region costs, the `top` of pure and of mixed
/// re-simulated whole and re-ranked. Errors: cancelled; contradicting constraints.
[[nodiscard]] Expected<SearchResult> searchCase(Predictor& predictor,
                                                const Constraints& constraints, std::size_t top,
                                                Progress& progress);

} // namespace kerf::search

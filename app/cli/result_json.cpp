// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/result_json.h"

namespace kerf::cli {

namespace {

std::string modeName(graph::Mode mode) {
    return mode == graph::Mode::Megakernel ? "megakernel" : "conventional";
}

Json cutsOf(const search::Case& theCase, const graph::Composition& composition) {
    Json cuts = Json::array();
    for (const auto& [site, mode] : composition.cuts) {
        cuts.push_back({{"site", theCase.chain.sites[static_cast<std::size_t>(site)].key},
                        {"mode", modeName(mode)}});
    }
    return cuts;
}

Json regionsOf(const search::Prediction& prediction) {
    Json regions = Json::array();
    for (const auto& region : prediction.regions) {
        Json blame = Json::object();
        for (std::size_t b = 0; b < sim::kBounds; ++b) {
            blame[std::string(toString(static_cast<sim::Bound>(b)))] = region.blame[b];
        }
        regions.push_back({{"label", region.label},
                           {"mode", modeName(region.use.mode)},
                           {"launches", region.use.count},
                           {"us", region.us},
                           {"boundary_us", region.boundary_us},
                           {"workers", region.workers},
                           {"blame_us", std::move(blame)}});
    }
    return regions;
}

/// Figures that need the audio of an output are null without it.
Json streamingOf(const search::Case& theCase, const search::StreamingMetrics& metrics) {
    const bool audio = metrics.chunk_audio_us > 0;
    const auto known = [](bool isKnown, auto value) {
        return isKnown ? Json(value) : Json(nullptr);
    };
    return {
        {"requests", metrics.requests},
        {"first_request_us", metrics.first_request_us},
        {"batch_p95_us", metrics.batch_p95_us},
        {"batch_p99_us", known(metrics.batch_p99_us > 0, metrics.batch_p99_us)},
        {"mean_batch_p95_us", known(metrics.mean_batch_p95_us > 0, metrics.mean_batch_p95_us)},
        {"first_chunk_frames", known(theCase.first_chunk_frames > 0, theCase.first_chunk_frames)},
        {"first_chunk_audio_us", known(audio, metrics.first_chunk_audio_us)},
        {"chunk_audio_us", known(audio, metrics.chunk_audio_us)},
        {"inter_chunk_us", metrics.inter_chunk_us},
        {"underrun_us", known(audio, metrics.playback.underrun_us)},
        {"stalls_at_chunk",
         known(metrics.playback.stalls_at_chunk > 0, metrics.playback.stalls_at_chunk)}};
}

Json withoutRegions(const search::Case& theCase, const search::Prediction& prediction) {
    return {{"kind", toString(prediction.kind)},
            {"ttfa_us", prediction.ttfa_us},
            {"interval_us", {prediction.ttfa_interval_us.low, prediction.ttfa_interval_us.high}},
            {"overlap_us", prediction.overlap_us},
            {"coverage", prediction.coverage},
            {"launches", prediction.launches},
            {"steady_us", prediction.steady_us},
            {"throughput_per_s", prediction.throughput_per_s},
            {"rtf", prediction.rtf > 0 ? Json(prediction.rtf) : Json(nullptr)},
            {"streaming", streamingOf(theCase, prediction.streaming)},
            {"first_mode", modeName(prediction.composition.first_mode)},
            {"cuts", cutsOf(theCase, prediction.composition)}};
}

} // namespace

Json toJson(const search::Case& theCase, const search::Prediction& prediction) {
    Json json = withoutRegions(theCase, prediction);
    json["seed"] = search::kReplicaSeed;
    json["region_details"] = regionsOf(prediction);
    return json;
}

Json toJson(const search::Case& theCase, const search::Candidate& candidate) {
    const auto& prediction = candidate.prediction;
    Json json{{"kind", toString(prediction.kind)}, {"regions", candidate.regions}};
    json.update(withoutRegions(theCase, prediction));
    json["interval_us"] = {candidate.uncertain.interval_us.low,
                           candidate.uncertain.interval_us.high};
    json["p_best"] = candidate.uncertain.p_best;
    json["ties_best"] = candidate.ties_best;
    return json;
}

Json toJson(const search::Case& theCase, const search::SearchResult& result) {
    Json candidates = Json::array();
    for (const auto& candidate : result.candidates) {
        candidates.push_back(toJson(theCase, candidate));
    }
    return {{"model", result.model},
            {"batch", result.batch},
            {"best", candidates.empty() ? Json(nullptr) : candidates.front()},
            {"candidates", candidates},
            {"conventional_programmatic_us", result.conventional_programmatic_us},
            {"seed", search::kReplicaSeed},
            {"seconds", result.seconds},
            {"regions_evaluated", result.regions_evaluated},
            {"region_cache",
             {{"hits", result.cache.hits},
              {"misses", result.cache.misses},
              {"entries", result.cache.entries},
              {"capacity", result.cache.capacity}}}};
}

} // namespace kerf::cli

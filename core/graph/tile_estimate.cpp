// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/tile_estimate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace kerf::graph {

using workload::OpRole;

namespace {

// Everything here is an estimate, not a measurement: shown as such, with the relative errors below.
constexpr double kTileBytes = 32.0 * 1024; // a ring stage, as in data/h200/gemv_chain.json
constexpr int kRingBytes = 6 * 32 * 1024;  // ring of a streaming worker, there too
constexpr double kArithmeticBound = 1.35;  // time over streaming time that tells them apart
constexpr double kLibraryAdvantage = 1.15; // megakernel tile against a library's, bound by
                                           // arithmetic; published 1.0 … 1.8 on H100
constexpr double kStreamedError = 0.25;    // bytes from durations: −2 … +41 % on llama-1b
constexpr double kCountedError = 0.1; // bytes counted, activations among them; consumer time is
                                      // still the share above. A choice, not measured
constexpr double kArithmeticError = 0.2;
constexpr double kKeptBlocksError = 0.3; // attention, gathers, …: same blocks, other kernel
constexpr int kBulkCopySharedBytes = 64 * 1024; // kernels with such rings stream by bulk copies

bool hasWeights(OpRole role) {
    return role == OpRole::Product || role == OpRole::Convolution;
}

/// Highest rate that one block can draw, GB/s: a lone block of the largest measured thread count,
/// for kernels that keep a deep ring of bulk copies in flight; else the curve of its own thread
/// count.
double blockGbps(const cost::Footprint& footprint, const cost::Hardware& hardware) {
    const double threads =
        footprint.shared_bytes >= kBulkCopySharedBytes && !hardware.bandwidth.empty()
            ? hardware.bandwidth.back().threads
            : footprint.threads;
    return cost::readBandwidthGbps(hardware, 1, threads);
}

double streamGbps(const RecordedKernel& kernel, const cost::Hardware& hardware) {
    const int resident =
        std::max(1, cost::blocksPerSm(kernel.footprint, hardware)) * hardware.sm_count;
    const double blocks = std::min<double>(kernel.blocks, resident);
    return std::min(blocks * blockGbps(kernel.footprint, hardware), hardware.memory_gbps.value);
}

/// Work of a kernel beyond launching it, µs.
double workUs(double durationUs, double emptyUs) {
    return std::max(durationUs - emptyUs, 0.0);
}

int readNumber(std::string_view& text) {
    int value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{}) {
        return 0;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// Consumer time that helper kernels add to each worker, µs. Kernels with few blocks are recomputed
/// by every worker, those with many are spread over them: in both cases a worker spends the
/// kernel's time.
double helperUs(const EstimateInput& input, const FusionRules& rules,
                const std::vector<OpRole>& done) {
    double sum = 0;
    for (std::size_t i = 0; i < input.members.size(); ++i) {
        const auto& member = input.members[i];
        const bool isDone = std::find(done.begin(), done.end(), member.role) != done.end();
        if (i != input.anchor && !isDone) {
            sum += ruleFor(rules, member.role).compute_factor *
                   workUs(member.duration_us, input.empty_kernel_us);
        }
    }
    return sum;
}

} // namespace

void addHelpers(sim::TileOp& tile, const EstimateInput& input, const FusionRules& rules,
                const std::vector<OpRole>& done, int workers) {
    const double tilesAWorker = std::ceil(static_cast<double>(tile.tiles) / workers);
    tile.compute_us += helperUs(input, rules, done) / std::max(tilesAWorker, 1.0);
}

BlockTile blockTileOf(std::string_view kernelName) {
    // The first AxB (or AxBxC) whose numbers are plausible tile edges.
    for (std::size_t i = 1; i < kernelName.size(); ++i) {
        const char before = kernelName[i - 1];
        const bool edge = before == '_' || before == 'e'; // "_64x8", "tilesize64x64x64"
        if (!edge || kernelName[i] < '1' || kernelName[i] > '9') {
            continue;
        }
        auto rest = kernelName.substr(i);
        const int a = readNumber(rest);
        if (a < 8 || a > 512 || rest.empty() || rest.front() != 'x') {
            continue;
        }
        rest.remove_prefix(1);
        const int b = readNumber(rest);
        if (b >= 8 && b <= 512) {
            return {a, b};
        }
    }
    return {};
}

TileEstimate estimateTiles(const EstimateInput& input, const FusionRules& rules,
                           const cost::Hardware& hardware) {
    const auto& anchor = input.members[input.anchor];
    TileEstimate estimate;
    estimate.footprint = anchor.footprint;
    auto& tile = estimate.tile;

    const double fixedUs = input.empty_kernel_us;
    const double anchorWorkUs = workUs(anchor.duration_us, fixedUs);
    double estimatedBytes = 0;
    if (hasWeights(anchor.role)) {
        const double streamUs = workUs(input.reference_anchor_us, fixedUs + hardware.ramp_us.value);
        estimatedBytes = streamUs * streamGbps(input.reference_anchor, hardware) * 1e3;
    }
    const auto& counters = input.counters ? input.counters : input.reference_counters;
    const bool counted = hasWeights(anchor.role) && counters;
    const double weightBytes = counted ? counters->read_bytes : estimatedBytes;
    estimate.tier = counted ? Tier::Counters : Tier::Estimated;
    const bool sharesKnown =
        input.counters && input.counters->dram_share && input.counters->sm_share;
    // Without shares the recorded time is held against what it was at the smallest batch, never
    // against counted bytes: a kernel may stream below the bandwidth and do so at every batch.
    const double streamingUs = estimatedBytes / (streamGbps(anchor, hardware) * 1e3);
    const bool memoryBound =
        sharesKnown ? *input.counters->dram_share >= *input.counters->sm_share
                    : anchorWorkUs <= kArithmeticBound * streamingUs + hardware.ramp_us.value;
    const bool streamed = weightBytes >= kTileBytes && memoryBound;

    if (streamed) {
        tile.tiles = static_cast<std::uint32_t>(std::ceil(weightBytes / kTileBytes));
        estimate.footprint.shared_bytes = std::max(estimate.footprint.shared_bytes, kRingBytes);
        tile.load_bytes = weightBytes / tile.tiles;
        // Measured at batch 1; that larger batches keep this rate (by tensor cores) is assumed.
        tile.compute_us = tile.load_bytes / (hardware.on_chip_gbps_per_sm.value * 1e3);
        // Activations: rows of the input that every worker reads once. The inner dimension follows
        // from the weights and the output rows that the block tile and the grid imply.
        const auto shape = blockTileOf(input.reference_anchor.name);
        const double rows = shape.a > 0 ? static_cast<double>(input.reference_anchor.blocks) *
                                              std::max(shape.a, shape.b)
                                        : std::sqrt(weightBytes / 2);
        const auto here = blockTileOf(anchor.name);
        const int tokens =
            std::max(input.batch, std::min(here.a, here.b) > 8 ? std::min(here.a, here.b) : 1);
        tile.worker_dependent_bytes = tokens * (weightBytes / 2 / rows) * 2;
        estimate.relative_error = counted ? kCountedError : kStreamedError;
        estimate.source =
            counted
                ? fmt::format("counters: {:.1f} MB read from memory ({}), {} tiles of {:.0f} KB; "
                              "consumer time est.",
                              weightBytes / 1e6,
                              input.counters ? "at this batch" : "at batch of reference",
                              tile.tiles, tile.load_bytes / 1024)
                : fmt::format("est. from the recording: {:.1f} MB of weights ({:.1f} µs at "
                              "batch of reference, {:.0f} GB/s), "
                              "{} tiles of {:.0f} KB",
                              weightBytes / 1e6, input.reference_anchor_us,
                              streamGbps(input.reference_anchor, hardware), tile.tiles,
                              tile.load_bytes / 1024);
    } else {
        const int resident =
            std::max(1, cost::blocksPerSm(anchor.footprint, hardware)) * hardware.sm_count;
        const double waves = std::ceil(static_cast<double>(anchor.blocks) / resident);
        tile.tiles = std::max<std::uint32_t>(anchor.blocks, 1);
        // A persistent worker runs one tile at a time where the recorded kernel had several blocks
        // an SM.
        const double atOnce = std::min<double>(anchor.blocks, resident);
        const double workers = std::min<double>(anchor.blocks, hardware.sm_count);
        const double factor = hasWeights(anchor.role) ? kLibraryAdvantage : 1.0;
        tile.compute_us = factor * anchorWorkUs / waves * workers / atOnce;
        if (tile.tiles > kMaxTilesAnOp) { // fewer, larger tiles: same work, bounded simulation
            tile.compute_us *= static_cast<double>(tile.tiles) / kMaxTilesAnOp;
            tile.tiles = kMaxTilesAnOp;
        }
        estimate.relative_error = hasWeights(anchor.role) ? kArithmeticError : kKeptBlocksError;
        estimate.source =
            fmt::format("est. from the recording: {} blocks of {:.2f} µs kept as tiles",
                        anchor.blocks, anchorWorkUs / waves);
        if (sharesKnown && counted) {
            estimate.source +=
                fmt::format("; counters: bound by arithmetic ({:.0f} % of the SMs' "
                            "peak, {:.0f} % of the memory's)",
                            100 * *input.counters->sm_share, 100 * *input.counters->dram_share);
        }
    }
    addHelpers(tile, input, rules, {}, hardware.sm_count);
    return estimate;
}

} // namespace kerf::graph

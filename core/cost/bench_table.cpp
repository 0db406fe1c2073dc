// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/bench_table.h"

#include "core/cost/machine.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

namespace kerf::cost {
namespace {

using workload::OpRole;

double consumerUs(const BenchEntry& entry) {
    return entry.compute_us + entry.signal_us;
}

/// Least time of the op alone on the GPU, µs.
double aloneUs(const BenchEntry& entry, const sim::Machine& machine) {
    const double bytes = entry.tiles * (entry.load_bytes + entry.dependent_bytes);
    const double waves = std::ceil(static_cast<double>(entry.tiles) / machine.workers);
    return std::max(bytes / (machine.memory_gbps * 1e3), waves * consumerUs(entry));
}

/// An entry beside its time alone, for choosing among footprints.
struct Variant {
    BenchTable::Point point;
    double alone_us = 0;
};

Expected<Variant> variantOf(const BenchEntry& entry, const BenchFile& file,
                            const Hardware& hardware) {
    const auto machine = machineFor(hardware, entry.footprint);
    if (!machine) {
        return fail("benchmark file: " + machine.error().what, entry.place,
                    "Correct the footprint, or leave the entry out.");
    }
    if (entry.load_bytes > machine->ring_bytes) {
        return fail(fmt::format("benchmark file: a tile loads {:.0f} bytes ahead, but its worker "
                                "has {:.0f} bytes of shared memory for them",
                                entry.load_bytes, machine->ring_bytes),
                    entry.place,
                    "Give smaller tiles, or the shared memory that the kernel really needs.");
    }
    const auto name = std::filesystem::path(file.file).filename().string();
    // The place without its folders: "bench.json, ops[3]".
    const auto place = name + entry.place.substr(std::min(file.file.size(), entry.place.size()));
    return Variant{{entry, fmt::format("{} ({}, driver {}, {}: {})", place, file.gpu, file.driver,
                                       file.date, file.how)},
                   aloneUs(entry, *machine)};
}

bool isBetter(const Variant& a, const Variant& b) {
    const auto rank = [](const Variant& v) {
        const auto& f = v.point.entry.footprint;
        return std::tuple(v.alone_us, f.shared_bytes, f.threads * f.registers, f.threads);
    };
    return rank(a) < rank(b);
}

/// All entries of one key or role → the best of each batch size.
Expected<BenchTable::ByBatch> bestOf(const std::vector<Variant>& variants) {
    const auto& first = variants.front().point.entry;
    std::map<int, Variant> best;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const auto& entry = variants[i].point.entry;
        if (entry.fused != first.fused || entry.role != first.role) {
            return fail(fmt::format("benchmark file: is for the same op as {}, but \"role\" or "
                                    "\"fused\" differ",
                                    first.place),
                        entry.place, "Entries of one op describe the same fusion.");
        }
        for (std::size_t j = 0; j < i; ++j) {
            const auto& other = variants[j].point.entry;
            if (entry.batch == other.batch && entry.footprint == other.footprint) {
                return fail(fmt::format("benchmark file: has the same op, batch {} and footprint "
                                        "as {}",
                                        entry.batch, other.place),
                            entry.place, "Keep one of them.");
            }
        }
        const auto [it, fresh] = best.try_emplace(entry.batch, variants[i]);
        if (!fresh && isBetter(variants[i], it->second)) {
            it->second = variants[i];
        }
    }
    BenchTable::ByBatch points;
    for (auto& [batch, variant] : best) {
        points.emplace(batch, std::move(variant.point));
    }
    return points;
}

double relativeError(const BenchEntry& entry) {
    const double measured = entry.compute_us > 0 ? entry.spread_us / entry.compute_us : 0;
    return std::max(measured, kLeastBenchError);
}

BenchCost costOf(const BenchTable::Point& point) {
    const auto& entry = point.entry;
    BenchCost cost;
    cost.tile.tiles = entry.tiles;
    cost.tile.load_bytes = entry.load_bytes;
    cost.tile.dependent_bytes = entry.dependent_bytes;
    cost.tile.worker_dependent_bytes = entry.worker_dependent_bytes;
    cost.tile.compute_us = consumerUs(entry);
    cost.footprint = entry.footprint;
    cost.relative_error = relativeError(entry);
    cost.fused = entry.fused;
    cost.source = fmt::format("benchmarked: {}", point.source);
    return cost;
}

/// As for the ops of a region (graph::regionFootprint): the registers of the greedier, spread over
/// the threads of both.
Footprint holdingBoth(const Footprint& a, const Footprint& b) {
    auto both = maximum(a, b);
    const int registers = std::max(a.threads * a.registers, b.threads * b.registers);
    both.registers = (registers + both.threads - 1) / both.threads;
    return both;
}

/// Sums over tiles are interpolated, not single tiles: a weight matrix stays as large as it is
/// however it is cut. Rounding tiles up keeps a tile's loads within the larger of both.
BenchCost between(const BenchTable::Point& a, const BenchTable::Point& b, int batch) {
    const double t = static_cast<double>(batch - a.entry.batch) / (b.entry.batch - a.entry.batch);
    const auto low = costOf(a);
    const auto high = costOf(b);
    const auto linear = [t](double x, double y) { return x + (y - x) * t; };
    const double exactTiles = linear(low.tile.tiles, high.tile.tiles);
    BenchCost cost = high;
    cost.tile.tiles = static_cast<std::uint32_t>(std::ceil(exactTiles));
    for (const auto part :
         {&sim::TileOp::load_bytes, &sim::TileOp::dependent_bytes, &sim::TileOp::compute_us}) {
        cost.tile.*part =
            linear(low.tile.tiles * low.tile.*part, high.tile.tiles * high.tile.*part) /
            cost.tile.tiles;
    }
    cost.tile.worker_dependent_bytes =
        linear(low.tile.worker_dependent_bytes, high.tile.worker_dependent_bytes);
    cost.footprint = holdingBoth(low.footprint, high.footprint);
    cost.relative_error = linear(low.relative_error, high.relative_error);
    cost.source = fmt::format("benchmarked, interpolated between batch {} and {}: {}; {}",
                              a.entry.batch, b.entry.batch, a.source, b.source);
    return cost;
}

BenchCost beyond(const BenchTable::Point& nearest, int batch) {
    auto cost = costOf(nearest);
    const double doublings = std::abs(std::log2(static_cast<double>(batch) / nearest.entry.batch));
    cost.relative_error += kBenchErrorPerDoubling * doublings;
    cost.extrapolated_from = nearest.entry.batch;
    cost.source = fmt::format("benchmarked, extrapolated from batch {} to {}: {}",
                              nearest.entry.batch, batch, nearest.source);
    return cost;
}

} // namespace

Expected<BenchTable> benchTable(std::span<const BenchFile> files, const std::string& model,
                                const Hardware& hardware) {
    std::map<std::string, std::vector<Variant>> by_key;
    std::map<OpRole, std::vector<Variant>> by_role;
    for (const auto& file : files) {
        if (!file.model.empty() && file.model != model) {
            continue;
        }
        if (file.gpu != hardware.name) {
            return fail(fmt::format("benchmark file: was measured on {}, but the costs of {} are "
                                    "asked for",
                                    file.gpu, hardware.name),
                        file.file, "Take it out of the project, or benchmark on that GPU.");
        }
        for (const auto& entry : file.ops) {
            auto variant = variantOf(entry, file, hardware);
            if (!variant) {
                return tl::unexpected(variant.error());
            }
            auto& list = entry.key.empty() ? by_role[*entry.role] : by_key[entry.key];
            list.push_back(std::move(*variant));
        }
    }
    BenchTable table;
    for (const auto& [key, variants] : by_key) {
        auto points = bestOf(variants);
        if (!points) {
            return tl::unexpected(points.error());
        }
        table.by_key.emplace(key, std::move(*points));
    }
    for (const auto& [role, variants] : by_role) {
        auto points = bestOf(variants);
        if (!points) {
            return tl::unexpected(points.error());
        }
        table.by_role.emplace(role, std::move(*points));
    }
    return table;
}

Expected<std::optional<BenchCost>> benchCost(const BenchTable& table, const std::string& key,
                                             OpRole role, int batch) {
    const BenchTable::ByBatch* points = nullptr;
    if (const auto found = table.by_key.find(key); found != table.by_key.end()) {
        points = &found->second;
    } else if (const auto same = table.by_role.find(role); same != table.by_role.end()) {
        points = &same->second;
    } else {
        return std::optional<BenchCost>{};
    }
    const auto& first = points->begin()->second.entry;
    if (first.role && *first.role != role) {
        return fail(fmt::format("benchmark file: says that \"{}\" is of role {}, but it is of role "
                                "{}",
                                key, workload::toString(*first.role), workload::toString(role)),
                    first.place, "List the ops with `kerf info PROJECT --ops`.");
    }
    const auto above = points->lower_bound(batch);
    if (above != points->end() && above->first == batch) {
        return costOf(above->second);
    }
    if (above == points->begin()) {
        return beyond(above->second, batch);
    }
    const auto below = std::prev(above);
    return above == points->end() ? beyond(below->second, batch)
                                  : between(below->second, above->second, batch);
}

std::vector<std::string> unusedKeys(const BenchTable& table, const std::set<std::string>& keys) {
    std::vector<std::string> unused;
    for (const auto& [key, points] : table.by_key) {
        if (!keys.contains(key)) {
            unused.push_back(fmt::format("{} ({})", key, points.begin()->second.entry.place));
        }
    }
    return unused;
}

} // namespace kerf::cost

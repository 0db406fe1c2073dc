// SPDX-License-Identifier: GPL-3.0-or-later
// The predicted path: regions laid one after another, their simulated tiles repeated each launch.
#include "views/timeline_model.h"

#include <algorithm>
#include <fmt/format.h>

namespace kerf::views {
namespace {

/// Shorter stretches without tiles are waits, not left-out iterations.
constexpr double kLeastUnrecorded_us = 20;

std::vector<TimelineDetail> detailsOf(const search::Case& theCase) {
    std::vector<TimelineDetail> details;
    for (const auto& op : theCase.chain.ops) {
        TimelineDetail detail;
        detail.title = op.label;
        detail.role = std::string(toString(op.role));
        detail.op_class = workload::classOf(op.role);
        detail.registers = static_cast<std::uint32_t>(std::max(op.footprint.registers, 0));
        detail.shared_bytes = static_cast<std::uint32_t>(std::max(op.footprint.shared_bytes, 0));
        detail.block = {static_cast<std::uint32_t>(std::max(op.footprint.threads, 0)), 1, 1};
        detail.grid = {op.tile.tiles, 1, 1};
        if (op.stage < theCase.traced.stages.size()) {
            const auto& stage = theCase.traced.stages[op.stage];
            detail.stage = stage.name;
            for (const std::size_t member : op.members) {
                if (member < stage.ops.size()) {
                    detail.kernel += (detail.kernel.empty() ? "" : " + ") +
                                     workload::shortName(stage.ops[member].kernel);
                }
            }
        }
        details.push_back(std::move(detail));
    }
    return details;
}

/// The chain op of each op of a lowered region: the leaves of its items in order.
void appendLeaves(const std::vector<graph::Item>& items, std::vector<std::uint32_t>& leaves) {
    for (const auto& item : items) {
        if (item.kind == graph::Item::Kind::Loop) {
            appendLeaves(item.body, leaves);
        } else if (item.kind == graph::Item::Kind::Op) {
            leaves.push_back(static_cast<std::uint32_t>(item.index));
        }
    }
}

/// Executions of ops, loops unrolled.
std::size_t opCount(const std::vector<graph::Item>& items) {
    std::size_t count = 0;
    for (const auto& item : items) {
        if (item.kind == graph::Item::Kind::Loop) {
            count += opCount(item.body) * static_cast<std::size_t>(item.count);
        } else if (item.kind == graph::Item::Kind::Op) {
            ++count;
        }
    }
    return count;
}

std::size_t groupOf(int worker, int workers) {
    std::size_t group = 0;
    while (group + 1 < kWorkerGroups && worker >= firstWorkerOf(group + 1, workers)) {
        ++group;
    }
    return group;
}

/// Adds one worker busy with `op_class` over start…end to the bins.
void addBusy(std::vector<float>& bins, double start_us, double end_us, double length_us,
             std::size_t op_class) {
    const double perBin = length_us / static_cast<double>(kProfileBins);
    const double first = std::clamp(start_us / perBin, 0.0, static_cast<double>(kProfileBins));
    const double last = std::clamp(end_us / perBin, 0.0, static_cast<double>(kProfileBins));
    for (auto bin = static_cast<std::size_t>(first); static_cast<double>(bin) < last; ++bin) {
        const double from = std::max(first, static_cast<double>(bin));
        const double to = std::min(last, static_cast<double>(bin + 1));
        bins[bin * kOpClasses + op_class] += static_cast<float>(to - from);
    }
}

/// Stretches of at least kLeastUnrecorded_us in which no worker has a tile.
std::vector<std::pair<double, double>> stretchesWithout(std::vector<std::pair<double, double>> busy,
                                                        double length_us) {
    std::ranges::sort(busy);
    std::vector<std::pair<double, double>> holes;
    double covered = 0;
    busy.emplace_back(length_us, length_us);
    for (const auto& [start, end] : busy) {
        if (start - covered >= kLeastUnrecorded_us) {
            holes.emplace_back(covered, start);
        }
        covered = std::max(covered, end);
    }
    return holes;
}

RegionPicture pictureOf(const sim::RegionResult& result, const std::vector<std::uint32_t>& leaves,
                        const std::vector<TimelineDetail>& details,
                        const search::RegionPrediction& region, std::size_t mostTiles) {
    RegionPicture picture;
    picture.length_us = std::max(result.makespan_us, 1e-6);
    picture.workers = std::max(region.workers, 1);
    for (auto& bins : picture.profile.workers) {
        bins.assign(kProfileBins * kOpClasses, 0.0F);
    }
    picture.capped = result.records.size() > mostTiles;
    const bool incomplete = picture.capped || result.simulated_tiles < result.tiles;
    std::vector<std::pair<double, double>> busy;
    for (std::size_t i = 0; i < std::min(result.records.size(), mostTiles); ++i) {
        const auto& record = result.records[i];
        const std::uint32_t detail = record.op < leaves.size() ? leaves[record.op] : 0;
        if (detail >= details.size()) {
            continue;
        }
        const std::size_t group = groupOf(static_cast<int>(record.worker), picture.workers);
        picture.tiles[group].push_back({record.load_start_us, record.load_end_us, record.start_us,
                                        record.end_us, detail, record.worker, record.bound,
                                        record.critical});
        picture.longest_tile_us =
            std::max(picture.longest_tile_us, record.end_us - record.start_us);
        addBusy(picture.profile.workers[group], record.start_us, record.end_us, picture.length_us,
                static_cast<std::size_t>(details[detail].op_class));
        if (incomplete) {
            busy.emplace_back(record.start_us, record.end_us);
        }
    }
    for (auto& tiles : picture.tiles) {
        std::ranges::sort(tiles, {}, &TimelineTile::start_us);
    }
    if (incomplete) {
        picture.unrecorded_us = stretchesWithout(std::move(busy), picture.length_us);
    }
    return picture;
}

/// Builds the launches one after another.
class Layout {
public:
    Layout(const search::Case& theCase, const search::Prediction& prediction,
           const SimulateRegion& simulate, std::size_t mostTiles)
        : case_(theCase), prediction_(prediction), simulate_(simulate), tiles_left_(mostTiles),
          picture_of_(prediction.regions.size(), kNotYet) {
        result_.details = detailsOf(theCase);
        result_.kernels.name = "kernels";
        for (const auto& region : prediction.regions) {
            result_.region_labels.push_back(region.label);
            if (region.workers > 0) {
                const bool same = result_.workers == 0 || result_.workers == region.workers;
                result_.workers = same ? region.workers : -1;
            }
        }
    }

    TimelinePredicted run(const graph::Composition& composition) {
        graph::SiteIndex from = graph::kPathStart;
        std::vector<std::uint32_t> ops;
        for (const auto& step : graph::unroll(case_.chain)) {
            if (!step.is_site) {
                ops.push_back(static_cast<std::uint32_t>(step.index));
                continue;
            }
            const auto site = static_cast<graph::SiteIndex>(step.index);
            if (composition.cuts.contains(site)) {
                launch(from, site, ops);
                ops.clear();
                from = site;
            }
        }
        launch(from, graph::pathEnd(case_.chain), ops);
        result_.total_us = now_us_;
        result_.note = note();
        return std::move(result_);
    }

private:
    static constexpr std::ptrdiff_t kNotYet = -2;

    /// The predicted region between two cuts. In nested loops several can lie between the same two:
    /// then the one with as many ops as the walk has just passed.
    std::size_t indexOf(graph::SiteIndex from, graph::SiteIndex to, std::size_t ops) const {
        const auto& regions = prediction_.regions;
        std::size_t best = regions.size();
        for (std::size_t i = 0; i < regions.size(); ++i) {
            const auto& region = regions[i].use.region;
            if (region.from != from || region.to != to) {
                continue;
            }
            if (best == regions.size() || opCount(graph::opsOf(case_.chain, region)) == ops) {
                best = i;
            }
        }
        return best;
    }

    void launch(graph::SiteIndex from, graph::SiteIndex to, const std::vector<std::uint32_t>& ops) {
        if (ops.empty()) {
            return;
        }
        const std::size_t index = indexOf(from, to, ops.size());
        if (index >= prediction_.regions.size()) {
            ++unknown_;
            return;
        }
        const auto& predicted = prediction_.regions[index];
        RegionLaunch launch{
            now_us_, now_us_ + predicted.us, predicted.boundary_us, predicted.use.mode, index, -1};
        if (predicted.use.mode == graph::Mode::Conventional) {
            addKernels(launch, ops);
        } else {
            launch.picture = picture(index);
        }
        now_us_ = launch.end_us;
        result_.launches.push_back(launch);
    }

    void addKernels(const RegionLaunch& launch, const std::vector<std::uint32_t>& ops) {
        double sum = 0;
        for (const std::uint32_t op : ops) {
            sum += case_.chain.ops[op].conventional_us;
        }
        // Scaled, so that the blocks end where the prediction says that the region ends.
        const double scale = sum > 0 ? (launch.end_us - launch.start_us) / sum : 0;
        double at = launch.start_us;
        for (const std::uint32_t op : ops) {
            const auto& chainOp = case_.chain.ops[op];
            const double gap =
                std::clamp(chainOp.conventional_first_gap_us, 0.0, chainOp.conventional_us);
            const double end = at + chainOp.conventional_us * scale;
            result_.kernels.slices.push_back({at + gap * scale, end, op});
            at = end;
        }
    }

    std::ptrdiff_t picture(std::size_t index) {
        if (picture_of_[index] != kNotYet) {
            return picture_of_[index];
        }
        picture_of_[index] = -1;
        const auto& predicted = prediction_.regions[index];
        if (tiles_left_ == 0) {
            without_tiles_.push_back(predicted.label);
            return -1;
        }
        const auto simulated = simulate_(predicted.use.region);
        if (!simulated) {
            failed_.push_back(predicted.label);
            return -1;
        }
        std::vector<std::uint32_t> leaves;
        appendLeaves(graph::opsOf(case_.chain, predicted.use.region), leaves);
        result_.pictures.push_back(
            pictureOf(*simulated, leaves, result_.details, predicted, tiles_left_));
        tiles_left_ -= std::min(tiles_left_, simulated->records.size());
        if (result_.pictures.back().capped) {
            without_tiles_.push_back(predicted.label + " (in part)");
        }
        picture_of_[index] = static_cast<std::ptrdiff_t>(result_.pictures.size()) - 1;
        return picture_of_[index];
    }

    std::string note() const {
        std::string text;
        const auto add = [&](const std::string& part) {
            text += (text.empty() ? "" : "; ") + part;
        };
        if (!without_tiles_.empty()) {
            add(fmt::format("too many tiles, not drawn: {}", fmt::join(without_tiles_, ", ")));
        }
        if (std::ranges::any_of(result_.pictures,
                                [](const auto& p) { return !p.unrecorded_us.empty(); })) {
            add("hatched: iterations that repeat the ones before, not drawn");
        }
        if (!failed_.empty()) {
            add(fmt::format("not simulated: {}", fmt::join(failed_, ", ")));
        }
        if (unknown_ > 0) {
            add(fmt::format("{} launches are not in the prediction", unknown_));
        }
        return text;
    }

    const search::Case& case_;
    const search::Prediction& prediction_;
    const SimulateRegion& simulate_;
    std::size_t tiles_left_;
    std::vector<std::ptrdiff_t> picture_of_;
    TimelinePredicted result_;
    double now_us_ = 0;
    std::size_t unknown_ = 0;
    std::vector<std::string> without_tiles_;
    std::vector<std::string> failed_;
};

} // namespace

int firstWorkerOf(std::size_t group, int workers) {
    return static_cast<int>(static_cast<std::size_t>(std::max(workers, 0)) * group / kWorkerGroups);
}

TimelinePredicted timelineOf(const search::Case& theCase, const search::Prediction& prediction,
                             const SimulateRegion& simulate, std::size_t mostTiles) {
    return Layout(theCase, prediction, simulate, mostTiles).run(prediction.composition);
}

} // namespace kerf::views

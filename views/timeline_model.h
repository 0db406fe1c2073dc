// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline shows: one recorded request, and the simulated candidate on the same axis.
#pragma once

#include "core/search/predictor.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace kerf::views {

/// What is known about an op; shared by all slices that show it.
struct TimelineDetail {
    std::string title;  ///< "qkv", "nvjet 64x8"
    std::string stage;  ///< "talker_step"
    std::string role;   ///< "product"
    std::string kernel; ///< full name; of the first recorded op for a fusion group
    workload::OpClass op_class = workload::OpClass::Elementwise;
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers = 0;    ///< a thread
    std::uint32_t shared_bytes = 0; ///< a block
    std::uint64_t bytes = 0;        ///< copies and memsets
};

/// A block of a lane. µs from the request's start.
struct TimelineSlice {
    double start_us = 0;
    double end_us = 0;
    std::uint32_t detail = 0; ///< index into the details beside it
};

/// A row of slices, sorted by start.
struct TimelineLane {
    std::string name;
    std::vector<TimelineSlice> slices;
};

/// One request of the path as recorded.
struct TimelineRecorded {
    std::vector<TimelineDetail> details; ///< stages first, then the ops of each
    TimelineLane stages;                 ///< detail = stage
    std::vector<TimelineLane> streams;   ///< kernels, a lane a stream
    TimelineLane copies;                 ///< memcpys and memsets of all streams
    double total_us = 0;                 ///< first output
    std::string note;                    ///< which request this is, or why it is not a single one
};

/// The request with the median span of all that the recording holds whole, put together again from
/// the samples of its ops; where there is none, the path with every op at its robust centre (said
/// in the note). Times as traced, so a little longer than untraced.
[[nodiscard]] TimelineRecorded recordedOf(const search::Case& theCase);

/// One executed tile; µs from its region's start.
struct TimelineTile {
    float load_start_us = 0;
    float load_end_us = 0;
    float start_us = 0;
    float end_us = 0;
    std::uint32_t detail = 0;
    std::uint32_t worker = 0;
    sim::Bound bound = sim::Bound::Compute;
    bool critical = false;
};

inline constexpr std::size_t kWorkerGroups = 4;
inline constexpr std::size_t kOpClasses = 6;
inline constexpr std::size_t kProfileBins = 2048;

/// Mean number of busy workers by op class in equal bins of a region's time: what is drawn where
/// tiles are narrower than pixels.
struct BusyProfile {
    /// [bin × kOpClasses + class], one vector a worker group.
    std::array<std::vector<float>, kWorkerGroups> workers;
};

/// The tiles of one distinct region, drawn once a launch.
struct RegionPicture {
    double length_us = 0; ///< of a launch, without its boundary
    int workers = 0;
    std::array<std::vector<TimelineTile>, kWorkerGroups> tiles; ///< sorted by start
    float longest_tile_us = 0;
    BusyProfile profile;
    std::vector<std::pair<double, double>> unrecorded_us; ///< stretches without records: iterations
                                                          ///< skipped as repeats, or beyond the cap
    bool capped = false;                                  ///< more tiles than are kept
};

/// One launch of a region.
struct RegionLaunch {
    double start_us = 0; ///< boundary included
    double end_us = 0;
    double boundary_us = 0; ///< launch gap, prologue and drain, drawn at its start
    graph::Mode mode = graph::Mode::Megakernel;
    std::size_t region = 0;      ///< index into Prediction::regions
    std::ptrdiff_t picture = -1; ///< index into pictures; −1: conventional or not simulated
};

/// The predicted path. total_us equals Prediction::ttfa_us up to rounding.
struct TimelinePredicted {
    std::vector<TimelineDetail> details; ///< one a ChainOp
    std::vector<std::string> region_labels;
    std::vector<RegionPicture> pictures;
    std::vector<RegionLaunch> launches; ///< in time order, without holes
    TimelineLane kernels;               ///< ops of conventional regions
    int workers = 0; ///< of every megakernel region; 0: none, −1: regions differ
    double total_us = 0;
    std::string note; ///< what the picture leaves out; empty: nothing
};

/// Most tiles that are kept over all regions; later regions are drawn as blocks.
inline constexpr std::size_t kMostTiles = 200'000;

/// Simulates one region with its tiles recorded.
using SimulateRegion = std::function<Expected<sim::RegionResult>(graph::Region)>;

/// Lays the regions of a prediction one after another along the walk. Each distinct megakernel
/// region is simulated once; one that fails is drawn without tiles and named in the note. Takes as
/// long as the simulations: call it off the GUI thread.
[[nodiscard]] TimelinePredicted timelineOf(const search::Case& theCase,
                                           const search::Prediction& prediction,
                                           const SimulateRegion& simulate,
                                           std::size_t mostTiles = kMostTiles);

/// First worker of a group, and of the one past the last. Groups differ by one worker at most.
[[nodiscard]] int firstWorkerOf(std::size_t group, int workers);

} // namespace kerf::views

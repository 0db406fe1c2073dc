// SPDX-License-Identifier: GPL-3.0-or-later
// First step from a recording to stages: which activities were launched together, and under what
// name.
#pragma once

#include "core/trace/recording.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kerf::workload {

using AnnotationIndex = std::uint32_t; ///< index into Recording::annotations
inline constexpr AnnotationIndex kNoAnnotation = std::numeric_limits<AnnotationIndex>::max();

enum class UnitKind : std::uint8_t {
    Graph, ///< one graph launch
    Range, ///< kernels launched one by one inside one annotated range, or between two graphs
    Run,   ///< activities between two gaps
};

/// What was launched as one: becomes one instance of a stage.
struct Unit {
    UnitKind kind = UnitKind::Graph;
    std::string name; ///< innermost host annotation around the launch, without "#12"; may be empty
    AnnotationIndex annotation = kNoAnnotation;
    std::vector<std::uint32_t> activities; ///< indices into Recording::activities, by start
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0; ///< latest end
};

struct Units {
    std::vector<Unit> units;             ///< by start
    std::vector<AnnotationIndex> parent; ///< of each annotation: the host annotation around it
    std::vector<std::string> notes;
};

/// Activities are split into runs at idle times of this much, where nothing else tells them apart:
/// ten times the median gap, and never less than 20 µs (a graph launch takes about 10 µs, a kernel
/// launched from a busy host up to 20).
inline constexpr double kRunGapFactor = 10;
inline constexpr std::int64_t kRunGapFloor_ns = 20'000;

/// Groups the activities of the busiest device.
[[nodiscard]] Units findUnits(const trace::Recording& recording);

} // namespace kerf::workload

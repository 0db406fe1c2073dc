// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/recording.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::trace {

/// Unordered pairs of kernels on one stream of one device and process with
/// max(starts) < min(ends). O(n log n).
[[nodiscard]] std::int64_t sameStreamOverlaps(std::span<const Activity> activities);

/// Activities whose correlation no host call has (same process, where both sides know theirs).
/// One flag an activity.
[[nodiscard]] std::vector<bool> withoutHostCall(const Recording& recording);

/// cudaGraphLaunch, cuGraphLaunch or hipGraphLaunch, also with a version or per-thread suffix.
[[nodiscard]] bool isGraphLaunch(std::string_view api_call);

/// Fills what health counts in a complete recording: zero durations, overlaps, missing host calls.
void measureHealth(Recording& recording);

/// True when nothing is missing or doubtful.
[[nodiscard]] bool isClean(const Health& health);

/// Health for a person: one sentence a finding, the gravest first; one reassuring line when clean.
[[nodiscard]] std::vector<std::string> describe(const Health& health);

} // namespace kerf::trace

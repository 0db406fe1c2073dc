// SPDX-License-Identifier: GPL-3.0-or-later
// A recording for other tools.
#pragma once

#include "core/trace/recording.h"

#include <string>

namespace kerf::trace {

/// Chrome trace JSON, which Perfetto, chrome://tracing and Kerf itself open: activities, host
/// calls, annotations, devices, versions. Health is not part of the format. Always valid JSON:
/// bytes of a name that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string toChromeTrace(const Recording& recording);

/// One row an activity, host call or annotation, in this order; RFC 4180 with a header, "\n" as the
/// line end. start_ns is absolute where the recording knows its base, else relative to it. Fields
/// that a kind does not have are empty.
[[nodiscard]] std::string toCsv(const Recording& recording);

} // namespace kerf::trace

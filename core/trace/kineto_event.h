// SPDX-License-Identifier: GPL-3.0-or-later
// The two kinds of records that a Kineto trace is made of. Called by the Kineto reader only.
#pragma once

#include "core/trace/lazy_json.h"
#include "core/trace/recording_builder.h"

#include <string>
#include <vector>

namespace kerf::trace {

/// Fills `event` from an element of traceEvents that is an object. `name_buffer` holds the name
/// where it has escapes, and must outlive the event.
[[nodiscard]] simdjson::error_code readEvent(simdjson::ondemand::value element, ChromeEvent& event,
                                             std::string& name_buffer);

/// Appends an element of deviceProperties; passes over one that is no object.
[[nodiscard]] simdjson::error_code readDevice(simdjson::ondemand::value element,
                                              std::vector<Device>& devices);

} // namespace kerf::trace

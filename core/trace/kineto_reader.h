// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome trace JSON as PyTorch's Kineto writes it; see docs/formats/kineto.md.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/trace/recording.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace kerf::trace {

inline constexpr std::string_view kKinetoFormat = "kineto-chrome-json";

/// A JSON object or list that has the marks of a Chrome trace in its head.
[[nodiscard]] bool recognisesKineto(std::span<const std::byte> head);

/// Reads a trace, plain or gzip. A trace without GPU work is read too: whether that is enough is
/// the caller's decision.
/// Errors: as loadFile; damaged or truncated JSON (with the byte); no traceEvents; cancelled.
[[nodiscard]] Expected<Recording> readKineto(const std::filesystem::path& path, Progress& progress);

} // namespace kerf::trace

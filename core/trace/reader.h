// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/trace/recording.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace kerf::trace {

/// One file format. `recognises` sees the first 64 KiB of the (decompressed) content.
struct Reader {
    std::string_view name;
    bool (*recognises)(std::span<const std::byte> head);
    Expected<Recording> (*read)(const std::filesystem::path&, Progress&);
};

/// Every format that Kerf reads: the one place where a new one is added.
[[nodiscard]] std::span<const Reader> readers();

/// Reads `path` with the reader that recognises its content. Plain or gzip.
/// Errors: missing, empty, unreadable or truncated file; content that no reader recognises;
/// a file without GPU work; cancelled.
[[nodiscard]] Expected<Recording> readRecording(const std::filesystem::path& path,
                                                Progress& progress);

} // namespace kerf::trace

// SPDX-License-Identifier: GPL-3.0-or-later
// Kerf's own recordings, as kerf-record writes them; see docs/formats/kerfrec.md.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/trace/recording.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace kerf::trace {

inline constexpr std::string_view kKerfrecFormat = "kerfrec";

/// How every SQLite file begins.
inline constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

/// An SQLite file with the application id "KERF".
[[nodiscard]] bool recognisesKerfrec(std::span<const std::byte> head);

/// Reads a recording, also one whose writer was killed (with the -wal file beside it). One without
/// GPU work is read too.
/// Errors: a file that cannot be opened; another format version; a damaged or cut-off database
/// (with the table); cancelled.
[[nodiscard]] Expected<Recording> readKerfrec(const std::filesystem::path& path,
                                              Progress& progress);

} // namespace kerf::trace

// SPDX-License-Identifier: GPL-3.0-or-later
// Loads a trace file, plain or gzip, into memory.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kerf::trace {

/// Bytes that may be read behind the end of a FileContent (what simdjson asks for).
inline constexpr std::size_t kContentPadding = 64;

/// Largest unpacked content that is read: simdjson's limit.
inline constexpr std::uint64_t kMaxContentBytes = 0xFFFFFFFF;

/// The unpacked content of a file.
struct FileContent {
    std::string buffer;      ///< content, then kContentPadding zero bytes
    std::size_t size = 0;    ///< bytes of content
    bool compressed = false; ///< the file is gzip; offsets below are into the unpacked content

    [[nodiscard]] std::string_view text() const { return {buffer.data(), size}; }
};

/// Reads all of `path` and unpacks gzip (recognised by content, several members allowed).
/// Reports progress from 0 to `share_of_progress`.
/// Errors: missing file, folder, unreadable, empty, truncated or damaged gzip (with the byte),
/// more than `limit` bytes, cancelled.
[[nodiscard]] Expected<FileContent> loadFile(const std::filesystem::path& path, Progress& progress,
                                             double share_of_progress = 1.0,
                                             std::uint64_t limit = kMaxContentBytes);

/// The first `bytes` bytes of the unpacked content (fewer where the file is shorter).
/// Errors as loadFile; a gzip file that ends early is no error as long as it gives a byte.
[[nodiscard]] Expected<std::string> loadHead(const std::filesystem::path& path, std::size_t bytes);

/// "FILE, byte N", or "FILE, byte N of the unpacked content".
[[nodiscard]] std::string placeIn(const std::filesystem::path& path, const FileContent& content,
                                  std::size_t offset);

} // namespace kerf::trace

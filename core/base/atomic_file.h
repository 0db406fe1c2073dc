// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <filesystem>
#include <string_view>

namespace kerf {

/// Writes `content` to a temporary beside `file`, flushes it to the disk and renames it: after a
/// crash the file holds either the old or the new content. Errors: not writable, disk full (what,
/// where).
[[nodiscard]] Expected<void> writeFileAtomically(const std::filesystem::path& file,
                                                 std::string_view content);

} // namespace kerf

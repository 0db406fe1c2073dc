// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that join an open project.
#pragma once

#include "core/project/project.h"

namespace kerf::app {

/// `base` with the recordings of `added`; file names absolute, since neither may be saved yet.
/// Errors: a model and batch size that `base` already has (names both).
[[nodiscard]] Expected<project::Project> merged(const project::Project& base,
                                                const project::Project& added);

/// `base` with the untraced timings of a file for every recording that the file names.
/// Errors: unreadable; it names none of the recordings.
[[nodiscard]] Expected<project::Project> withUntraced(const project::Project& base,
                                                      const std::filesystem::path& file);

} // namespace kerf::app

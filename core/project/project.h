// SPDX-License-Identifier: GPL-3.0-or-later
// The project file (*.kerf): what was recorded, what the user decided. See docs/formats/project.md.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/graph/composition.h"
#include "core/graph/fusion_rules.h"
#include "core/search/predictor.h"

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kerf::project {

inline constexpr int kProjectVersion = 1;

struct RecordingEntry {
    std::string file; ///< relative to the project file where possible
    std::string model;
    int batch = 1;
    workload::Untraced untraced; ///< copied from the untraced file at import
};

/// Counters of the kernels of one recording.
struct CounterEntry {
    std::string file; ///< ncu CSV; relative as recordings are
    std::string model;
    int batch = 1;
};

struct ModelSettings {
    std::string path; ///< text form (workload::formatPath); empty: as found
    search::OutputSettings output;
    std::vector<graph::NamedComposition> compositions; ///< saved by the user; the first is current
};

struct Project {
    std::filesystem::path file; ///< where it was read from or saved to; empty: never saved
    std::string name;
    std::vector<RecordingEntry> recordings; ///< sorted by model, then batch
    std::map<std::string, ModelSettings> models;
    std::vector<CounterEntry> counters;
    std::vector<std::string> benchmarks; ///< benchmark files; relative as recordings are
    std::string hardware; ///< a hardware file, or empty: the shipped one for the recorded device
    graph::FusionRules fusion_rules; ///< empty: the default rules
    sim::Policy policy = sim::Policy::RoundRobin;
    bool programmatic_boundaries = false;           ///< see search::Case
    nlohmann::json view = nlohmann::json::object(); ///< window layout and the like; not read here
    nlohmann::json unknown = nlohmann::json::object(); ///< fields of other versions, kept on saving
};

/// Errors: unreadable; not JSON (byte); not a Kerf project; newer version; wrong type (field
/// named).
[[nodiscard]] Expected<Project> readProject(const std::filesystem::path& file);
/// Writes to a temporary beside `file` and renames. Recording paths are made relative to it.
[[nodiscard]] Expected<void> writeProject(const Project& project,
                                          const std::filesystem::path& file);

/// Model and batch from a file name like "llama-1b_b8.json.gz". Empty model where it has no such
/// form.
struct NameParts {
    std::string model;
    int batch = 0;
};
[[nodiscard]] NameParts partsOfFileName(const std::filesystem::path& file);

/// A new project of these recordings. Empty `model` and `batch` 0: from each file's name.
/// `untracedFile` may be empty. Errors: no model or batch to be had (names the file and the
/// options); two files for the same model and batch; reading errors.
struct ImportOptions {
    std::string model;
    int batch = 0;
    std::filesystem::path untraced_file;
    std::vector<std::filesystem::path> benchmark_files; ///< each is read and checked
    std::vector<CounterEntry> counters;                 ///< likewise
};
[[nodiscard]] Expected<Project> importRecordings(const std::vector<std::filesystem::path>& files,
                                                 const ImportOptions& options, Progress& progress);

/// Absolute path of a recording, or of any other file, of the project.
[[nodiscard]] std::filesystem::path pathOf(const Project& project, const RecordingEntry& entry);
[[nodiscard]] std::filesystem::path pathOf(const Project& project, const std::string& file);

/// Reads every recording and prepares prediction, in the order of `project.recordings`, in
/// parallel. Errors: a missing recording (names file and project), reading errors, an unknown GPU.
[[nodiscard]] Expected<std::vector<std::shared_ptr<const search::Case>>>
loadCases(const Project& project, Progress& progress);

} // namespace kerf::project

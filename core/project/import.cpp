// SPDX-License-Identifier: GPL-3.0-or-later
// A new project from recordings.
#include "core/cost/bench_file.h"
#include "core/cost/ncu_csv.h"
#include "core/project/project.h"
#include "core/trace/reader.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace kerf::project {
namespace {

/// The first that is not empty.
std::string firstOf(std::initializer_list<std::string> texts) {
    const auto found = std::find_if(texts.begin(), texts.end(),
                                    [](const std::string& text) { return !text.empty(); });
    return found == texts.end() ? std::string() : *found;
}

tl::unexpected<Error> notNamed(const std::filesystem::path& file) {
    return fail("has no model and batch size in its name", file.string(),
                "Name it MODEL_bBATCH" + file.extension().string() +
                    ", or say --model and --batch.");
}

} // namespace

NameParts partsOfFileName(const std::filesystem::path& file) {
    auto name = file.filename().string();
    name = name.substr(0, std::min(name.find(".json"), name.find(".kerfrec")));
    const auto mark = name.rfind("_b");
    if (mark == std::string::npos || mark == 0) {
        return {};
    }
    int batch = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, status] = std::from_chars(name.data() + mark + 2, end, batch);
    if (status != std::errc{} || rest != end || batch < 1) {
        return {};
    }
    return {name.substr(0, mark), batch};
}

Expected<Project> importRecordings(const std::vector<std::filesystem::path>& files,
                                   const ImportOptions& options, Progress& progress) {
    Project project;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto& file = files[i];
        const auto parts = partsOfFileName(file);
        const bool labelled = file.extension() == ".kerfrec"; // may say them inside
        const bool named = !firstOf({options.model, parts.model}).empty() &&
                           std::max(options.batch, parts.batch) > 0;
        if (!named && !labelled) {
            return notNamed(file);
        }
        // The whole file is read here so that a bad one is refused now, not when it is next opened.
        Progress own;
        own.report = [&](double fraction, std::string_view what) {
            const double done =
                (static_cast<double>(i) + fraction) / static_cast<double>(files.size());
            if (!progress.step(done, what)) {
                own.cancelled = true;
            }
        };
        const auto recording = trace::readRecording(file, own);
        if (!recording) {
            return tl::unexpected(recording.error());
        }
        RecordingEntry entry;
        entry.model = firstOf({options.model, recording->model, parts.model});
        entry.batch = options.batch > 0      ? options.batch
                      : recording->batch > 0 ? recording->batch
                                             : parts.batch;
        if (entry.model.empty() || entry.batch < 1) {
            return notNamed(file);
        }
        std::error_code ignored;
        entry.file = std::filesystem::absolute(file, ignored).lexically_normal().string();
        if (!options.untraced_file.empty()) {
            auto untraced =
                workload::readUntraced(options.untraced_file.string(), entry.model, entry.batch);
            if (!untraced) {
                return tl::unexpected(untraced.error());
            }
            entry.untraced = std::move(*untraced);
        }
        project.models.try_emplace(entry.model);
        project.recordings.push_back(std::move(entry));
    }
    std::sort(project.recordings.begin(), project.recordings.end(),
              [](const RecordingEntry& a, const RecordingEntry& b) {
                  return std::tie(a.model, a.batch) < std::tie(b.model, b.batch);
              });
    const auto twice = std::adjacent_find(project.recordings.begin(), project.recordings.end(),
                                          [](const RecordingEntry& a, const RecordingEntry& b) {
                                              return a.model == b.model && a.batch == b.batch;
                                          });
    if (twice != project.recordings.end()) {
        return fail(fmt::format("and {} are both {} at batch {}", std::next(twice)->file,
                                twice->model, twice->batch),
                    twice->file, "Import one of them, or name them apart.");
    }
    for (const auto& file : options.benchmark_files) {
        const auto bench = cost::readBench(file.string());
        if (!bench) {
            return tl::unexpected(bench.error());
        }
        std::error_code ignored;
        project.benchmarks.push_back(
            std::filesystem::absolute(file, ignored).lexically_normal().string());
    }
    for (auto entry : options.counters) {
        const auto counted = cost::readNcu(entry.file);
        if (!counted) {
            return tl::unexpected(counted.error());
        }
        std::error_code ignored;
        entry.file = std::filesystem::absolute(entry.file, ignored).lexically_normal().string();
        project.counters.push_back(std::move(entry));
    }
    return project;
}

} // namespace kerf::project

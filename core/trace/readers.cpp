// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/file_content.h"
#include "core/trace/kerfrec_reader.h"
#include "core/trace/kineto_reader.h"
#include "core/trace/reader.h"

#include <algorithm>
#include <array>
#include <string>

namespace kerf::trace {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

constexpr std::array kReaders = {
    Reader{kKinetoFormat, recognisesKineto, readKineto},
    Reader{kKerfrecFormat, recognisesKerfrec, readKerfrec},
};

/// What the content of a file that no reader takes looks like.
Error notRecognised(const std::filesystem::path& path, std::string_view head) {
    const auto has = [head](std::string_view word) {
        return head.find(word) != std::string_view::npos;
    };
    const auto first = head.find_first_not_of(" \t\r\n");
    const char begin = first == std::string_view::npos ? ' ' : head[first];
    if (begin == '{' && has("\"nodes\"") && has("\"schema\"")) {
        return {"this is a PyTorch execution trace: it lists operators and has no timeline",
                path.string(), "Export a timeline with torch.profiler's export_chrome_trace."};
    }
    if (begin == '{' || begin == '[') {
        return {"this JSON is not a timeline: its first 64 KiB have no \"traceEvents\"",
                path.string(), "Export a timeline with torch.profiler's export_chrome_trace."};
    }
    if (head.starts_with(kSqliteMagic)) {
        return {"this is an SQLite database that kerf-record did not write", path.string(),
                "Kerf reads .kerfrec files of kerf-record, and Kineto (Chrome trace) JSON."};
    }
    std::string shown;
    for (const char c : head.substr(0, 24)) {
        shown += c >= ' ' && c < 0x7f ? c : '?';
    }
    return {fmt::format("no reader knows this content; at byte 0 it begins \"{}\"", shown),
            path.string(),
            "Kerf reads Kineto (Chrome trace) JSON, plain or gzip, and .kerfrec files."};
}

/// Says what a timeline without GPU work lacks.
Error noGpuWork(const Recording& recording) {
    const std::string where = recording.path;
    const auto left_out = recording.health.invalid_values + recording.health.negative_durations;
    if (left_out > 0) {
        return {fmt::format("none of its {} GPU activities has usable times: {}", left_out,
                            recording.health.notes.front()),
                where, "Record it again."};
    }
    return {fmt::format("there is no GPU work: none of its {} events is a kernel, memcpy or memset",
                        recording.file.trace_events),
            where,
            recording.api_calls.empty()
                ? "Record with ProfilerActivity.CUDA on a machine with a GPU."
                : fmt::format("It has {} host calls; the GPU side was not recorded. Check that "
                              "CUPTI works and that the profiled steps end with a synchronisation.",
                              recording.api_calls.size())};
}

} // namespace

std::span<const Reader> readers() {
    return kReaders;
}

Expected<Recording> readRecording(const std::filesystem::path& path, Progress& progress) {
    const auto head = loadHead(path, kHeadBytes);
    if (!head) {
        return tl::unexpected(head.error());
    }
    const auto reader = std::ranges::find_if(kReaders, [&](const Reader& candidate) {
        return candidate.recognises(std::as_bytes(std::span(*head)));
    });
    if (reader == kReaders.end()) {
        return tl::unexpected(notRecognised(path, *head));
    }
    auto recording = reader->read(path, progress);
    if (recording && recording->activities.empty()) {
        return tl::unexpected(noGpuWork(*recording));
    }
    return recording;
}

} // namespace kerf::trace

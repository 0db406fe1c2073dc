// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/recording_builder.h"

#include "core/trace/health.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <tuple>
#include <utility>

namespace kerf::trace {
namespace {

bool sameLetters(std::string_view text, std::string_view lower) {
    return std::ranges::equal(text, lower, [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
    });
}

template <class T> T orZero(std::int64_t value) {
    return std::in_range<T>(value) ? static_cast<T>(value) : T{0};
}

} // namespace

void RecordingBuilder::add(const ChromeEvent& event) {
    ++recording_.file.trace_events;
    if (event.phase != "X") {
        return;
    }
    ++recording_.file.complete_events;
    // files of 2020 and 2021 write "Kernel", "Memcpy", "Memset" and "Runtime"
    const auto is = [&](std::string_view category) {
        return sameLetters(event.category, category);
    };
    if (is("kernel")) {
        addActivity(event, ActivityKind::Kernel);
    } else if (is("gpu_memcpy") || is("memcpy")) {
        addActivity(event, ActivityKind::Memcpy);
    } else if (is("gpu_memset") || is("memset")) {
        addActivity(event, ActivityKind::Memset);
    } else if (is("cuda_runtime") || is("cuda_driver") || is("runtime") || is("hip_runtime")) {
        addApiCall(event);
    } else if (is("user_annotation")) {
        addAnnotation(event, false);
    } else if (is("gpu_user_annotation")) {
        addAnnotation(event, true);
    }
}

std::optional<RecordingBuilder::Times> RecordingBuilder::times(const ChromeEvent& event,
                                                               Fault& invalid, Fault& negative) {
    const auto record = [&](Fault& fault, std::string_view key, std::string_view text,
                            std::string_view what) {
        if (fault.count++ == 0) {
            fault.first = fmt::format("event {} (byte {}): \"{}\" {} {}", event.index, event.offset,
                                      key, text, what);
        }
    };
    const auto read = [&](std::string_view key,
                          std::string_view text) -> std::optional<std::int64_t> {
        const auto ns = nanosecondsOf(text);
        if (!ns) {
            record(invalid, key, text, text.empty() ? "is missing" : toString(ns.error()));
            return std::nullopt;
        }
        return *ns;
    };
    const auto start_ns = read("ts", event.start_us);
    if (!start_ns) {
        return std::nullopt;
    }
    const auto duration_ns = read("dur", event.duration_us);
    if (!duration_ns) {
        return std::nullopt;
    }
    if (*duration_ns < 0) {
        record(negative, "dur", event.duration_us, "is negative");
        return std::nullopt;
    }
    std::int64_t end_ns = 0;
    if (__builtin_add_overflow(*start_ns, *duration_ns, &end_ns)) {
        record(invalid, "dur", event.duration_us, "ends out of range");
        return std::nullopt;
    }
    return Times{*start_ns, *duration_ns};
}

void RecordingBuilder::addActivity(const ChromeEvent& event, ActivityKind kind) {
    const auto negative_before = negative_.count;
    const auto when = times(event, invalid_, negative_);
    if (!when) {
        if (kind == ActivityKind::Kernel && negative_.count > negative_before) {
            ++recording_.health.negative_duration_kernels;
        }
        return;
    }
    const auto device = event.device ? event.device : event.process;
    const auto stream = event.stream ? event.stream : event.track;
    if ((!device || !stream) && unplaced_.count++ == 0) {
        unplaced_.first = fmt::format("event {} (byte {})", event.index, event.offset);
    }
    Activity activity;
    activity.start_ns = when->start_ns;
    activity.duration_ns = when->duration_ns;
    activity.name = names_.intern(event.name);
    activity.kind = kind;
    activity.device = orZero<std::int32_t>(device.value_or(0));
    activity.stream = stream.value_or(0);
    activity.correlation = orZero<std::uint64_t>(event.correlation);
    activity.graph_node_id = orZero<std::uint64_t>(event.graph_node_id);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        activity.grid[axis] = orZero<std::uint32_t>(event.grid[axis]);
        activity.block[axis] = orZero<std::uint32_t>(event.block[axis]);
    }
    activity.registers_per_thread = orZero<std::uint32_t>(event.registers_per_thread);
    activity.shared_bytes = orZero<std::uint32_t>(event.shared_bytes);
    activity.bytes = orZero<std::uint64_t>(event.bytes);
    activity.has_external_id = event.has_external_id;
    recording_.activities.push_back(activity);
}

void RecordingBuilder::addApiCall(const ChromeEvent& event) {
    if (const auto when = times(event, other_invalid_, other_negative_)) {
        recording_.api_calls.push_back({.start_ns = when->start_ns,
                                        .duration_ns = when->duration_ns,
                                        .name = names_.intern(event.name),
                                        .correlation = orZero<std::uint64_t>(event.correlation),
                                        .process = event.process.value_or(-1),
                                        .thread = event.track.value_or(0)});
    }
}

void RecordingBuilder::addAnnotation(const ChromeEvent& event, bool on_gpu) {
    if (const auto when = times(event, other_invalid_, other_negative_)) {
        const auto device = event.device ? event.device : event.process;
        const auto stream = event.stream ? event.stream : event.track;
        recording_.annotations.push_back(
            {.start_ns = when->start_ns,
             .duration_ns = when->duration_ns,
             .name = names_.intern(event.name),
             .on_gpu = on_gpu,
             .process = on_gpu ? -1 : event.process.value_or(-1),
             .device = on_gpu ? orZero<std::int32_t>(device.value_or(0)) : -1,
             .track = (on_gpu ? stream : event.track).value_or(0)});
    }
}

void RecordingBuilder::addNotes() {
    auto& notes = recording_.health.notes;
    const auto note = [&notes](const Fault& fault, std::string_view what) {
        if (fault.count > 0) {
            notes.push_back(fmt::format("{} {}; the first is {}.", fault.count, what, fault.first));
        }
    };
    note(invalid_, "GPU activities with unreadable times were left out");
    note(negative_, "GPU activities with negative durations were left out");
    note(other_invalid_, "host calls or annotations with unreadable times were left out");
    note(other_negative_, "host calls or annotations with negative durations were left out");
    note(unplaced_, "GPU activities name no device or no stream and count as device or stream 0");
}

Recording RecordingBuilder::finish() {
    Recording& recording = recording_;
    std::ranges::stable_sort(recording.activities, {}, [](const Activity& activity) {
        return std::pair(activity.start_ns, activity.stream);
    });
    std::ranges::stable_sort(recording.api_calls, {}, &ApiCall::start_ns);
    std::ranges::stable_sort(recording.annotations, {}, [](const Annotation& annotation) {
        return std::pair(annotation.start_ns, -annotation.duration_ns);
    });
    recording.names = names_.take();
    recording.health.negative_durations = negative_.count;
    recording.health.invalid_values = invalid_.count;
    measureHealth(recording);
    addNotes();
    return std::move(recording_);
}

} // namespace kerf::trace

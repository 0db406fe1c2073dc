// SPDX-License-Identifier: GPL-3.0-or-later
// From single events of a Chrome trace to a Recording: what counts, what is left out, and why.
#pragma once

#include "core/trace/decimal_time.h"
#include "core/trace/name_table.h"
#include "core/trace/recording.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kerf::trace {

/// One entry of traceEvents, as far as Kerf needs it. Texts need to live until add() returns.
struct ChromeEvent {
    std::size_t index = 0;  ///< place in the list
    std::size_t offset = 0; ///< byte at which it begins
    std::string_view phase;
    std::string_view category;
    std::string_view name;
    std::string_view start_us;    ///< as written; empty where missing
    std::string_view duration_us; ///< as written; empty where missing
    std::optional<std::int64_t> process;
    std::optional<std::int64_t> track; ///< "tid": a thread, or a GPU stream
    // from "args"
    std::optional<std::int64_t> device;
    std::optional<std::int64_t> stream;
    std::int64_t correlation = 0;
    std::int64_t graph_node_id = 0;
    std::int64_t bytes = 0;
    std::int64_t registers_per_thread = 0;
    std::int64_t shared_bytes = 0;
    std::array<std::int64_t, 3> grid{};
    std::array<std::int64_t, 3> block{};
    bool has_external_id = false;
};

/// Collects events in any order.
class RecordingBuilder {
public:
    /// Takes what Kerf uses of `event` and counts the rest.
    void add(const ChromeEvent& event);

    /// Facts of the file's header go straight in here.
    [[nodiscard]] Recording& recording() { return recording_; }

    /// Sorts, completes health, and hands the recording over.
    [[nodiscard]] Recording finish();

private:
    struct Times {
        std::int64_t start_ns = 0;
        std::int64_t duration_ns = 0;
    };
    struct Fault {
        std::int64_t count = 0;
        std::string first; ///< where and what
    };

    std::optional<Times> times(const ChromeEvent& event, Fault& invalid, Fault& negative);
    void addActivity(const ChromeEvent& event, ActivityKind kind);
    void addApiCall(const ChromeEvent& event);
    void addAnnotation(const ChromeEvent& event, bool on_gpu);
    void addNotes();

    Recording recording_;
    NameTable names_;
    Fault invalid_;        ///< activities with unreadable times
    Fault negative_;       ///< activities with negative durations
    Fault other_invalid_;  ///< host calls and annotations with unreadable times
    Fault other_negative_; ///< host calls and annotations with negative durations
    Fault unplaced_;       ///< activities that name no device or no stream
};

} // namespace kerf::trace

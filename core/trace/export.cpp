// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/export.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kerf::trace {
namespace {

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// ns as µs with all digits: 1234 → 1.234.
std::string microseconds(std::int64_t ns) {
    const std::uint64_t size =
        ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

std::string_view kindName(ActivityKind kind) {
    switch (kind) {
    case ActivityKind::Kernel:
        return "kernel";
    case ActivityKind::Memcpy:
        return "memcpy";
    case ActivityKind::Memset:
        return "memset";
    }
    return "";
}

class ChromeTrace {
public:
    explicit ChromeTrace(const Recording& recording) : recording_(recording) {
        for (const std::string& name : recording.names) {
            names_.push_back(quoted(name));
        }
    }

    std::string write() {
        append(R"({{"schemaVersion": 1, "displayTimeUnit": "ns")");
        if (recording_.base_time_ns) {
            append(R"(, "baseTimeNanoseconds": {})", *recording_.base_time_ns);
        }
        for (const auto& [key, value] : recording_.versions) {
            append(", {}: {}", quoted(key), quoted(value));
        }
        writeDevices();
        append(R"(, "traceEvents": [)");
        writeTrackNames();
        for (const Activity& activity : recording_.activities) {
            writeActivity(activity);
        }
        for (const ApiCall& call : recording_.api_calls) {
            begin("cuda_runtime", call.name, call.process, call.thread, call.start_ns,
                  call.duration_ns);
            append(R"(, "args": {{"correlation": {}}}}})", call.correlation);
        }
        for (const Annotation& range : recording_.annotations) {
            begin(range.on_gpu ? "gpu_user_annotation" : "user_annotation", range.name,
                  range.on_gpu ? range.device : range.process, range.track, range.start_ns,
                  range.duration_ns);
            append("}}");
        }
        append("\n]}}\n");
        return std::move(out_);
    }

private:
    template <class... Values>
    void append(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
    }

    void nextEvent() {
        append("{}\n", first_ ? "" : ",");
        first_ = false;
    }

    void begin(std::string_view category, NameIndex name, std::int64_t process, std::int64_t track,
               std::int64_t start_ns, std::int64_t duration_ns) {
        nextEvent();
        append(R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {})",
               category, names_[name], process, track, microseconds(start_ns),
               microseconds(duration_ns));
    }

    void writeActivity(const Activity& activity) {
        const std::string_view category = activity.kind == ActivityKind::Kernel   ? "kernel"
                                          : activity.kind == ActivityKind::Memcpy ? "gpu_memcpy"
                                                                                  : "gpu_memset";
        begin(category, activity.name, activity.device, activity.stream, activity.start_ns,
              activity.duration_ns);
        append(R"(, "args": {{"device": {}, "stream": {}, "correlation": {})", activity.device,
               activity.stream, activity.correlation);
        if (activity.graph_node_id != 0) {
            append(R"(, "graph node id": {})", activity.graph_node_id);
        }
        if (activity.kind == ActivityKind::Kernel) {
            const auto& grid = activity.grid;
            const auto& block = activity.block;
            append(R"(, "grid": [{}, {}, {}], "block": [{}, {}, {}], "registers per thread": {})",
                   grid[0], grid[1], grid[2], block[0], block[1], block[2],
                   activity.registers_per_thread);
            append(R"(, "shared memory": {})", activity.shared_bytes);
        } else {
            append(R"(, "bytes": {})", activity.bytes);
        }
        append("}}}}");
    }

    void writeDevices() {
        if (recording_.devices.empty()) {
            return;
        }
        append(R"(, "deviceProperties": [)");
        std::string_view separator;
        for (const Device& device : recording_.devices) {
            append(R"({}{{"id": {}, "name": {}, "numSms": {}, "computeMajor": {}, )", separator,
                   device.id, quoted(device.name), device.sm_count, device.compute_major);
            append(R"("computeMinor": {}, "maxThreadsPerMultiprocessor": {}, )",
                   device.compute_minor, device.max_threads_per_sm);
            append(R"("regsPerMultiprocessor": {}, "sharedMemPerMultiprocessor": {}, )",
                   device.registers_per_sm, device.shared_bytes_per_sm);
            append(R"("sharedMemPerBlockOptin": {}, "totalGlobalMem": {}}})",
                   device.shared_bytes_per_block_optin, device.memory_bytes);
            separator = ", ";
        }
        append("]");
    }

    /// What a viewer shows beside a track.
    void writeTrackNames() {
        std::set<std::int32_t> devices;
        std::set<std::pair<std::int32_t, std::int64_t>> streams;
        for (const Activity& activity : recording_.activities) {
            devices.insert(activity.device);
            streams.emplace(activity.device, activity.stream);
        }
        for (const std::int32_t device : devices) {
            nextEvent();
            append(
                R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "args": {{"name": "GPU {}"}}}})",
                device, device);
        }
        for (const auto& [device, stream] : streams) {
            nextEvent();
            append(
                R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "stream {}"}}}})",
                device, stream, stream);
        }
    }

    const Recording& recording_;
    std::vector<std::string> names_; ///< as JSON strings
    std::string out_;
    bool first_ = true;
};

std::string csvField(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string field = "\"";
    for (const char c : text) {
        field += c == '"' ? "\"\"" : std::string(1, c);
    }
    return field + '"';
}

} // namespace

std::string toChromeTrace(const Recording& recording) {
    return ChromeTrace(recording).write();
}

std::string toCsv(const Recording& recording) {
    std::string out = "kind,name,start_ns,duration_ns,device,stream,process,thread,correlation,"
                      "graph_node_id,grid_x,grid_y,grid_z,block_x,block_y,block_z,"
                      "registers_per_thread,shared_bytes,bytes\n";
    const std::int64_t base_ns = recording.base_time_ns.value_or(0);
    const auto known = [](std::int64_t value) {
        return value == -1 ? std::string() : std::to_string(value);
    };
    const auto begin = [&](std::string_view kind, NameIndex name, std::int64_t start_ns,
                           std::int64_t duration_ns) {
        fmt::format_to(std::back_inserter(out), "{},{},{},{}", kind,
                       csvField(recording.names[name]), base_ns + start_ns, duration_ns);
    };
    for (const Activity& activity : recording.activities) {
        begin(kindName(activity.kind), activity.name, activity.start_ns, activity.duration_ns);
        fmt::format_to(std::back_inserter(out), ",{},{},{},,{},{}", activity.device,
                       activity.stream, known(activity.process), activity.correlation,
                       activity.graph_node_id);
        if (activity.kind == ActivityKind::Kernel) {
            fmt::format_to(std::back_inserter(out), ",{},{},{},{},{},{},{},{},\n", activity.grid[0],
                           activity.grid[1], activity.grid[2], activity.block[0], activity.block[1],
                           activity.block[2], activity.registers_per_thread, activity.shared_bytes);
        } else {
            fmt::format_to(std::back_inserter(out), ",,,,,,,,,{}\n", activity.bytes);
        }
    }
    for (const ApiCall& call : recording.api_calls) {
        begin("api_call", call.name, call.start_ns, call.duration_ns);
        fmt::format_to(std::back_inserter(out), ",,,{},{},{},,,,,,,,,,\n", known(call.process),
                       call.thread, call.correlation);
    }
    for (const Annotation& range : recording.annotations) {
        begin(range.on_gpu ? "gpu_annotation" : "annotation", range.name, range.start_ns,
              range.duration_ns);
        if (range.on_gpu) {
            fmt::format_to(std::back_inserter(out), ",{},{},,,,,,,,,,,,,\n", range.device,
                           range.track);
        } else {
            fmt::format_to(std::back_inserter(out), ",,,{},{},,,,,,,,,,,\n", known(range.process),
                           range.track);
        }
    }
    return out;
}

} // namespace kerf::trace

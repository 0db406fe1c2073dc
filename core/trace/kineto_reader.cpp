// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/kineto_reader.h"

#include "core/trace/decimal_time.h"
#include "core/trace/file_content.h"
#include "core/trace/json_text.h"
#include "core/trace/recording_builder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <simdjson.h>
#include <string>
#include <utility>

namespace kerf::trace {
namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

static_assert(kContentPadding >= simdjson::SIMDJSON_PADDING);

constexpr double kLoadShare = 0.4; // of the progress; unpacking takes about as long as parsing
constexpr int kMaxNesting = 200;   // deeper values than any trace has would exhaust the stack
constexpr std::size_t kEventsPerStep = 4096;

/// Key as written. Keys that matter have no escapes.
std::string_view keyOf(const od::field& field) {
    const char* begin = field.key().raw();
    const char* end = begin;
    while (*end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    return {begin, static_cast<std::size_t>(end - begin)};
}

/// Calls `use(field)` for each field, and stops at the first error.
template <class Use> error_code eachField(od::object object, Use use) {
    for (auto result : object) {
        od::field field;
        if (const auto error = std::move(result).get(field)) {
            return error;
        }
        if (const auto error = use(field)) {
            return error;
        }
    }
    return SUCCESS;
}

/// Calls `use(element)` for each element, and stops at the first error.
template <class Use> error_code eachElement(od::array array, Use use) {
    for (auto result : array) {
        od::value element;
        if (const auto error = std::move(result).get(element)) {
            return error;
        }
        if (const auto error = use(element)) {
            return error;
        }
    }
    return SUCCESS;
}

/// Walks through a value of any type and gives a scalar's text as written, quotes included; empty
/// for a container. The fast parser skips values unread, so a fault in them would stay unnoticed.
error_code read(od::value value, std::string_view& text, int nesting = 0) {
    text = {};
    if (nesting > kMaxNesting) {
        return simdjson::DEPTH_ERROR;
    }
    std::string_view token = value.raw_json_token();
    const auto readInner = [nesting](od::value inner) {
        std::string_view unused;
        return read(inner, unused, nesting + 1);
    };
    if (token.front() == '{') {
        od::object object;
        if (const auto error = value.get_object().get(object)) {
            return error;
        }
        return eachField(object, [&](od::field& field) { return readInner(field.value()); });
    }
    if (token.front() == '[') {
        od::array array;
        if (const auto error = value.get_array().get(array)) {
            return error;
        }
        return eachElement(array, readInner);
    }
    while (static_cast<unsigned char>(token.back()) <= ' ') { // the token's own bytes end this
        token.remove_suffix(1);
    }
    if (token.front() != '"' && !isJsonScalar(token)) {
        return simdjson::TAPE_ERROR;
    }
    text = token;
    return SUCCESS;
}

std::string_view withoutQuotes(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::int64_t> integer(std::string_view text) {
    text = withoutQuotes(text); // old files quote thread numbers
    const auto value = integerOf(text);
    return value ? std::optional(*value) : std::nullopt;
}

/// A "tid": 7, "7", or "stream 7" in files of 2020 and 2021.
std::optional<std::int64_t> track(std::string_view text) {
    text = withoutQuotes(text);
    constexpr std::string_view kStream = "stream ";
    return integer(text.starts_with(kStream) ? text.substr(kStream.size()) : text);
}

error_code readTriple(od::value value, std::array<std::int64_t, 3>& triple) {
    od::array array;
    if (std::string_view(value.raw_json_token()).front() != '[') {
        std::string_view unused;
        return read(value, unused);
    }
    if (const auto error = value.get_array().get(array)) {
        return error;
    }
    std::size_t at = 0;
    return eachElement(array, [&](od::value element) {
        std::string_view text;
        const auto error = read(element, text);
        if (!error && at < triple.size()) {
            triple[at++] = integer(text).value_or(0);
        }
        return error;
    });
}

error_code readArguments(od::value value, ChromeEvent& event) {
    if (std::string_view(value.raw_json_token()).front() != '{') {
        std::string_view unused;
        return read(value, unused);
    }
    od::object object;
    if (const auto error = value.get_object().get(object)) {
        return error;
    }
    return eachField(object, [&](od::field& field) -> error_code {
        const auto key = keyOf(field);
        if (key == "grid") {
            return readTriple(field.value(), event.grid);
        }
        if (key == "block") {
            return readTriple(field.value(), event.block);
        }
        std::string_view text;
        if (const auto error = read(field.value(), text)) {
            return error;
        }
        const auto number = [&text] { return integer(text).value_or(0); };
        if (key == "device") {
            event.device = integer(text);
        } else if (key == "stream") {
            event.stream = integer(text);
        } else if (key == "correlation") {
            event.correlation = number();
        } else if (key == "graph node id") {
            event.graph_node_id = number();
        } else if (key == "bytes") {
            event.bytes = number();
        } else if (key == "registers per thread") {
            event.registers_per_thread = number();
        } else if (key == "shared memory") {
            event.shared_bytes = number();
        } else if (key == "External id" || key == "external id") {
            event.has_external_id = true;
        }
        return SUCCESS;
    });
}

/// Reads one file; lives as long as that takes.
class KinetoReader {
public:
    KinetoReader(const std::filesystem::path& path, Progress& progress)
        : path_(path), progress_(progress) {}

    Expected<Recording> read() {
        auto loaded = loadFile(path_, progress_, kLoadShare);
        if (!loaded) {
            return tl::unexpected(loaded.error());
        }
        content_ = std::move(*loaded);
        constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
        skipped_ = content_.text().starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;

        od::document document;
        error_code error = iterate(document);
        if (error == simdjson::UNESCAPED_CHARS || error == simdjson::UTF8_ERROR) {
            repairs_ = repairJson({content_.buffer.data(), content_.size});
            error = iterate(document);
        }
        if (!error) {
            error = readDocument(document);
        }
        if (failure_) {
            return tl::unexpected(*failure_);
        }
        if (error) {
            return damaged(error, document);
        }
        return finish();
    }

private:
    [[nodiscard]] std::string_view text() const { return content_.text().substr(skipped_); }

    [[nodiscard]] std::size_t offsetOf(const char* position) const {
        return static_cast<std::size_t>(position - content_.buffer.data());
    }

    error_code iterate(od::document& document) {
        return parser_.iterate(text().data(), text().size(), text().size() + kContentPadding)
            .get(document);
    }

    tl::unexpected<Error> damaged(error_code error, od::document& document) const {
        if (const auto fault = findJsonFault(text())) {
            return fail(fmt::format("the JSON is damaged: {}", fault->what),
                        placeIn(path_, content_, fault->offset + skipped_),
                        "Export or copy the trace again.");
        }
        const char* location = nullptr;
        if (document.current_location().get(location)) {
            location = text().data();
        }
        return fail(fmt::format("the JSON cannot be read: {}", simdjson::error_message(error)),
                    placeIn(path_, content_, offsetOf(location)),
                    "Export or copy the trace again.");
    }

    /// For failures that are not the JSON's.
    error_code stop(std::string what, std::string where, std::string advice = {}) {
        failure_ = Error{std::move(what), std::move(where), std::move(advice)};
        return simdjson::UNEXPECTED_ERROR;
    }

    error_code readDocument(od::document& document) {
        od::json_type type{};
        if (const auto error = document.type().get(type)) {
            return error;
        }
        error_code error = simdjson::INCORRECT_TYPE;
        if (type == od::json_type::array) {
            builder_.recording().file.top_level = "array";
            od::array events;
            error = document.get_array().get(events);
            error = error ? error : readEvents(events);
        } else if (type == od::json_type::object) {
            builder_.recording().file.top_level = "object";
            od::object object;
            error = document.get_object().get(object);
            error = error ? error : eachField(object, [this](od::field& field) {
                return readHeaderField(field);
            });
        }
        if (error) {
            return error;
        }
        const char* location = nullptr;
        if (document.current_location().get(location) == SUCCESS) {
            return simdjson::TRAILING_CONTENT;
        }
        if (!has_events_) {
            return stop("there is no \"traceEvents\": this JSON is not a timeline", path_.string(),
                        "Export it with torch.profiler's export_chrome_trace.");
        }
        return SUCCESS;
    }

    error_code readHeaderField(od::field& field) {
        const auto key = keyOf(field);
        od::value value = field.value();
        if (key == "traceEvents" || key == "deviceProperties") {
            const std::string_view token = value.raw_json_token();
            if (token.front() == '[') {
                od::array array;
                const auto error = value.get_array().get(array);
                return error                  ? error
                       : key == "traceEvents" ? readEvents(array)
                                              : readDevices(array);
            }
            if (key == "traceEvents") {
                return stop("\"traceEvents\" is not a list",
                            placeIn(path_, content_, offsetOf(token.data())),
                            "Export it with torch.profiler's export_chrome_trace.");
            }
        }
        std::string_view text;
        if (const auto error = trace::read(value, text)) {
            return error;
        }
        Recording& recording = builder_.recording();
        if (key == "schemaVersion") {
            recording.file.schema_version = integer(text);
        } else if (key == "displayTimeUnit" && !text.empty()) {
            recording.file.display_time_unit = unescapeJson(withoutQuotes(text));
        } else if (key == "baseTimeNanoseconds") {
            recording.base_time_ns = integer(text);
            if (!recording.base_time_ns) {
                recording.health.notes.push_back(
                    fmt::format("baseTimeNanoseconds is {}, not a number: absolute times are "
                                "unknown.",
                                text));
            }
        } else if (isToolVersion(key) && !text.empty()) {
            recording.versions[std::string(key)] = unescapeJson(withoutQuotes(text));
        }
        return SUCCESS;
    }

    static bool isToolVersion(std::string_view key) {
        constexpr std::string_view kTools[] = {"cupti_", "cuda_", "hip_", "roctracer_",
                                               "rocprofiler_"};
        return key.ends_with("_version") &&
               std::ranges::any_of(kTools, [key](auto tool) { return key.starts_with(tool); });
    }

    error_code readDevices(od::array devices) {
        return eachElement(devices, [this](od::value element) { return readDevice(element); });
    }

    error_code readDevice(od::value element) {
        if (std::string_view(element.raw_json_token()).front() != '{') {
            std::string_view unused;
            return trace::read(element, unused);
        }
        od::object object;
        if (const auto error = element.get_object().get(object)) {
            return error;
        }
        Device device;
        const auto error = eachField(object, [&device](od::field& field) {
            const auto key = keyOf(field);
            std::string_view text;
            const auto fault = trace::read(field.value(), text);
            const auto set = [&text](std::int32_t& member) {
                const auto value = integer(text).value_or(0);
                member = std::in_range<std::int32_t>(value) ? static_cast<std::int32_t>(value) : 0;
            };
            if (key == "id") {
                set(device.id);
            } else if (key == "name") {
                device.name = unescapeJson(withoutQuotes(text));
            } else if (key == "numSms") {
                set(device.sm_count);
            } else if (key == "computeMajor") {
                set(device.compute_major);
            } else if (key == "computeMinor") {
                set(device.compute_minor);
            } else if (key == "maxThreadsPerMultiprocessor") {
                set(device.max_threads_per_sm);
            } else if (key == "regsPerMultiprocessor") {
                set(device.registers_per_sm);
            } else if (key == "sharedMemPerMultiprocessor") {
                set(device.shared_bytes_per_sm);
            } else if (key == "sharedMemPerBlockOptin") {
                set(device.shared_bytes_per_block_optin);
            } else if (key == "totalGlobalMem") {
                device.memory_bytes = integer(text).value_or(0);
            }
            return fault;
        });
        builder_.recording().devices.push_back(std::move(device));
        return error;
    }

    error_code readEvents(od::array events) {
        has_events_ = true;
        return eachElement(events, [this](od::value element) { return readEvent(element); });
    }

    error_code readEvent(od::value element) {
        ChromeEvent event;
        const std::string_view token = element.raw_json_token();
        event.index = event_index_++;
        event.offset = offsetOf(token.data());
        if (event.index % kEventsPerStep == 0) {
            const double done =
                static_cast<double>(event.offset) / static_cast<double>(content_.size);
            if (!progress_.step(kLoadShare + (1 - kLoadShare) * done, "reading events")) {
                return stop("reading was cancelled", path_.string());
            }
        }
        if (token.front() != '{') {
            std::string_view unused;
            return trace::read(element, unused);
        }
        od::object object;
        if (const auto error = element.get_object().get(object)) {
            return error;
        }
        std::string name;
        const auto error = eachField(object, [&](od::field& field) -> error_code {
            const auto key = keyOf(field);
            if (key == "args") {
                return readArguments(field.value(), event);
            }
            std::string_view text;
            if (const auto fault = trace::read(field.value(), text)) {
                return fault;
            }
            if (key == "ph") {
                event.phase = withoutQuotes(text);
            } else if (key == "cat") {
                event.category = withoutQuotes(text);
            } else if (key == "name") {
                event.name = withoutQuotes(text);
                if (event.name.find('\\') != std::string_view::npos) {
                    name = unescapeJson(event.name);
                    event.name = name;
                }
            } else if (key == "ts") {
                event.start_us = text;
            } else if (key == "dur") {
                event.duration_us = text;
            } else if (key == "pid") {
                event.process = integer(text);
            } else if (key == "tid") {
                event.track = track(text);
            }
            return SUCCESS;
        });
        if (!error) {
            builder_.add(event);
        }
        return error;
    }

    Recording finish() {
        Recording& recording = builder_.recording();
        recording.path = path_.string();
        recording.format = kKinetoFormat;
        recording.file.content_bytes = static_cast<std::int64_t>(content_.size);
        if (repairs_.control_characters > 0) {
            recording.health.notes.push_back(
                fmt::format("{} control characters inside strings were read as spaces.",
                            repairs_.control_characters));
        }
        if (repairs_.invalid_utf8 > 0) {
            recording.health.notes.push_back(fmt::format(
                "{} bytes that are not UTF-8 were read as '?'.", repairs_.invalid_utf8));
        }
        return builder_.finish();
    }

    std::filesystem::path path_;
    Progress& progress_;
    FileContent content_;
    std::size_t skipped_ = 0; ///< byte order mark
    od::parser parser_;
    RecordingBuilder builder_;
    JsonRepairs repairs_;
    bool has_events_ = false;
    std::size_t event_index_ = 0;
    std::optional<Error> failure_;
};

bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

} // namespace

bool recognisesKineto(std::span<const std::byte> head) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    const auto first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
    if (first == std::string_view::npos) {
        return false;
    }
    if (text[first] == '[') {
        return contains(text, "\"ph\"");
    }
    return text[first] == '{' &&
           (contains(text, "\"traceEvents\"") || contains(text, "\"deviceProperties\"") ||
            contains(text, "\"displayTimeUnit\"") || contains(text, "\"baseTimeNanoseconds\""));
}

Expected<Recording> readKineto(const std::filesystem::path& path, Progress& progress) {
    return KinetoReader(path, progress).read();
}

} // namespace kerf::trace

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/kineto_reader.h"

#include "core/trace/file_content.h"
#include "core/trace/json_fault.h"
#include "core/trace/json_text.h"
#include "core/trace/kineto_event.h"
#include "core/trace/lazy_json.h"
#include "core/trace/recording_builder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace kerf::trace {
namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

static_assert(kContentPadding >= simdjson::SIMDJSON_PADDING);

constexpr double kLoadShare = 0.4; // of the progress; unpacking takes about as long as parsing
constexpr std::size_t kEventsPerStep = 4096;

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
            error = error ? error : lazy::eachField(object, [this](od::field& field) {
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
        const auto key = lazy::keyOf(field);
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
        if (const auto error = lazy::read(value, text)) {
            return error;
        }
        Recording& recording = builder_.recording();
        if (key == "schemaVersion") {
            recording.file.schema_version = lazy::integer(text);
        } else if (key == "displayTimeUnit" && !text.empty()) {
            recording.file.display_time_unit = unescapeJson(lazy::withoutQuotes(text));
        } else if (key == "baseTimeNanoseconds") {
            recording.base_time_ns = lazy::integer(text);
            if (!recording.base_time_ns) {
                recording.health.notes.push_back(
                    fmt::format("baseTimeNanoseconds is {}, not a number: absolute times are "
                                "unknown.",
                                text));
            }
        } else if (isToolVersion(key) && !text.empty()) {
            recording.versions[std::string(key)] = unescapeJson(lazy::withoutQuotes(text));
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
        return lazy::eachElement(devices, [this](od::value element) {
            return readDevice(element, builder_.recording().devices);
        });
    }

    error_code readEvents(od::array events) {
        has_events_ = true;
        return lazy::eachElement(events, [this](od::value element) { return readEvent(element); });
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
            return lazy::skip(element);
        }
        std::string name;
        const auto error = trace::readEvent(element, event, name);
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

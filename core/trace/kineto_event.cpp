// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/kineto_event.h"

#include "core/trace/json_text.h"

#include <array>
#include <utility>

namespace kerf::trace {
namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

/// A "tid": 7, "7", or "stream 7" in files of 2020 and 2021.
std::optional<std::int64_t> trackOf(std::string_view text) {
    text = lazy::withoutQuotes(text);
    constexpr std::string_view kStream = "stream ";
    return lazy::integer(text.starts_with(kStream) ? text.substr(kStream.size()) : text);
}

error_code readTriple(od::value value, std::array<std::int64_t, 3>& triple) {
    od::array array;
    if (!lazy::isContainer(value, '[')) {
        return lazy::skip(value);
    }
    if (const auto error = value.get_array().get(array)) {
        return error;
    }
    std::size_t at = 0;
    return lazy::eachElement(array, [&](od::value element) {
        std::string_view text;
        const auto error = lazy::read(element, text);
        if (!error && at < triple.size()) {
            triple[at++] = lazy::integer(text).value_or(0);
        }
        return error;
    });
}

error_code readArguments(od::value value, ChromeEvent& event) {
    if (!lazy::isContainer(value, '{')) {
        return lazy::skip(value);
    }
    od::object object;
    if (const auto error = value.get_object().get(object)) {
        return error;
    }
    return lazy::eachField(object, [&](od::field& field) -> error_code {
        const auto key = lazy::keyOf(field);
        if (key == "grid") {
            return readTriple(field.value(), event.grid);
        }
        if (key == "block") {
            return readTriple(field.value(), event.block);
        }
        std::string_view text;
        if (const auto error = lazy::read(field.value(), text)) {
            return error;
        }
        const auto number = [&text] { return lazy::integer(text).value_or(0); };
        if (key == "device") {
            event.device = lazy::integer(text);
        } else if (key == "stream") {
            event.stream = lazy::integer(text);
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

} // namespace

error_code readEvent(od::value element, ChromeEvent& event, std::string& name_buffer) {
    od::object object;
    if (const auto error = element.get_object().get(object)) {
        return error;
    }
    return lazy::eachField(object, [&](od::field& field) -> error_code {
        const auto key = lazy::keyOf(field);
        if (key == "args") {
            return readArguments(field.value(), event);
        }
        std::string_view text;
        if (const auto fault = lazy::read(field.value(), text)) {
            return fault;
        }
        if (key == "ph") {
            event.phase = lazy::withoutQuotes(text);
        } else if (key == "cat") {
            event.category = lazy::withoutQuotes(text);
        } else if (key == "name") {
            event.name = lazy::withoutQuotes(text);
            if (event.name.find('\\') != std::string_view::npos) {
                name_buffer = unescapeJson(event.name);
                event.name = name_buffer;
            }
        } else if (key == "ts") {
            event.start_us = text;
        } else if (key == "dur") {
            event.duration_us = text;
        } else if (key == "pid") {
            event.process = lazy::integer(text);
        } else if (key == "tid") {
            event.track = trackOf(text);
        }
        return SUCCESS;
    });
}

error_code readDevice(od::value element, std::vector<Device>& devices) {
    if (!lazy::isContainer(element, '{')) {
        return lazy::skip(element);
    }
    od::object object;
    if (const auto error = element.get_object().get(object)) {
        return error;
    }
    Device device;
    const auto error = lazy::eachField(object, [&device](od::field& field) {
        const auto key = lazy::keyOf(field);
        std::string_view text;
        const auto fault = lazy::read(field.value(), text);
        const auto set = [&text](std::int32_t& member) {
            const auto value = lazy::integer(text).value_or(0);
            member = std::in_range<std::int32_t>(value) ? static_cast<std::int32_t>(value) : 0;
        };
        if (key == "id") {
            set(device.id);
        } else if (key == "name") {
            device.name = unescapeJson(lazy::withoutQuotes(text));
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
            device.memory_bytes = lazy::integer(text).value_or(0);
        }
        return fault;
    });
    devices.push_back(std::move(device));
    return error;
}

} // namespace kerf::trace

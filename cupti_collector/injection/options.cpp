// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/injection/options.h"

#include <charconv>
#include <cstring>

namespace kerf::collector {
namespace {

constexpr const char* kPrefix = "KERF_RECORD_";

/// Calls visit(name, member) for every option.
template <class Record, class Visit> void eachOption(Record& options, Visit&& visit) {
    visit("OUTPUT", options.output);
    visit("PASS", options.pass);
    visit("CUPTI", options.cupti);
    visit("OWNER", options.owner);
    visit("BUFFER_MB", options.buffer_mb);
    visit("VERBOSE", options.verbose);
    visit("API_CALLS", options.api_calls);
    visit("SYNCHRONIZATIONS", options.synchronizations);
    visit("RANGE", options.range);
    visit("DELAY_MS", options.delay_ms);
    visit("DURATION_MS", options.duration_ms);
    visit("PROFILER_API", options.profiler_api);
    visit("MODEL", options.model);
    visit("BATCH", options.batch);
    visit("COMMAND", options.command);
}

std::string textOf(const std::string& value) {
    return value;
}
template <class Number> std::string textOf(Number value) {
    return std::to_string(value);
}

void parse(const char* text, std::string& value) {
    value = text;
}
template <class Number> void parse(const char* text, Number& value) {
    std::int64_t number = 0;
    const char* end = text + std::strlen(text);
    if (const auto read = std::from_chars(text, end, number);
        read.ec == std::errc() && read.ptr == end) {
        value = static_cast<Number>(number);
    }
}

} // namespace

std::map<std::string, std::string> toEnvironment(const Options& options) {
    std::map<std::string, std::string> variables;
    eachOption(options, [&](const char* name, const auto& value) {
        variables[std::string(kPrefix) + name] = textOf(value);
    });
    return variables;
}

Options fromEnvironment(const char* (*get)(const char* name)) {
    Options options;
    eachOption(options, [&](const char* name, auto& value) {
        if (const char* text = get((std::string(kPrefix) + name).c_str()); text != nullptr) {
            parse(text, value);
        }
    });
    return options;
}

std::vector<std::string> filesOf(const Options& options, std::int64_t process) {
    const auto slash = options.output.rfind('/');
    const auto dot = options.output.rfind('.');
    const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    const auto at = has_suffix ? dot : options.output.size();
    const auto with = [&](const std::string& middle) {
        return options.output.substr(0, at) + "." + middle + options.output.substr(at);
    };
    std::vector<std::string> files;
    if (process == options.owner || options.owner == 0) {
        files.push_back(options.output);
    }
    files.push_back(with(std::to_string(process)));
    constexpr int kMostExecs = 9;
    for (int i = 2; i <= kMostExecs; ++i) {
        files.push_back(with(std::to_string(process) + "-" + std::to_string(i)));
    }
    return files;
}

} // namespace kerf::collector

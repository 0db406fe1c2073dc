// SPDX-License-Identifier: GPL-3.0-or-later
// What kerf-record asks of the library inside the program, handed on as environment variables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kerf::collector {

struct Options {
    std::string output;        ///< *.kerfrec
    std::string pass = "node"; ///< "node", "graph" or "off": how launches of graphs are traced
    std::string cupti;         ///< library; empty: looked for
    std::int64_t owner = 0;    ///< process that writes `output` itself; others add their number
    int buffer_mb = 256;       ///< most memory for records that are not written yet
    bool verbose = false;
    bool api_calls = true;
    bool synchronizations = true;
    // When to record: all of these must allow it. Empty or 0: no condition.
    std::string range; ///< while a pushed NVTX range of that name is open
    int delay_ms = 0;
    int duration_ms = 0;
    bool profiler_api = false; ///< between cudaProfilerStart and cudaProfilerStop
    // Labels for the file.
    std::string model;
    std::string batch;
    std::string command;
};

/// Environment variables that say it; with fromEnvironment() the same options again.
[[nodiscard]] std::map<std::string, std::string> toEnvironment(const Options& options);
/// `get` is as getenv. What is missing or no number keeps its default.
[[nodiscard]] Options fromEnvironment(const char* (*get)(const char* name));

/// Where process `process` writes: the first of these that is not there yet. The owner's is
/// `output`; others, and programs that the owner becomes by exec, add their process number.
[[nodiscard]] std::vector<std::string> filesOf(const Options& options, std::int64_t process);

} // namespace kerf::collector

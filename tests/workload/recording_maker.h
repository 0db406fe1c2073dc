// SPDX-License-Identifier: GPL-3.0-or-later
// Writes small recordings by hand.
#pragma once

#include "core/trace/recording.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kerf::test {

/// A host that launches and a GPU that runs after it, each with its own clock. Times in ns.
struct RecordingMaker {
    trace::Recording recording;
    std::int64_t host_ns = 0;
    std::int64_t gpu_ns = 1'000'000;
    std::int64_t duration_ns = 2'000; ///< of each kernel
    std::int64_t gap_ns = 500;        ///< between kernels
    std::uint64_t correlation = 0;

    trace::NameIndex name(const std::string& text) {
        auto& names = recording.names;
        const auto known = std::find(names.begin(), names.end(), text);
        if (known != names.end()) {
            return static_cast<trace::NameIndex>(known - names.begin());
        }
        names.push_back(text);
        return static_cast<trace::NameIndex>(names.size() - 1);
    }

    void call(const std::string& api) {
        trace::ApiCall call;
        call.start_ns = host_ns;
        call.duration_ns = 10;
        call.name = name(api);
        call.correlation = ++correlation;
        recording.api_calls.push_back(call);
        host_ns += 100;
    }

    void run(const std::string& kernel, std::uint64_t cause) {
        trace::Activity activity;
        activity.start_ns = gpu_ns;
        activity.duration_ns = duration_ns;
        activity.name = name(kernel);
        activity.kind = kernel.starts_with("Memset") ? trace::ActivityKind::Memset
                                                     : trace::ActivityKind::Kernel;
        activity.correlation = cause;
        recording.activities.push_back(activity);
        gpu_ns += duration_ns + gap_ns;
    }

    void idle(std::int64_t ns) { gpu_ns += ns; }

    /// One graph launch that runs `kernels`.
    void graph(const std::vector<std::string>& kernels) {
        call("cudaGraphLaunch");
        for (const auto& kernel : kernels) {
            run(kernel, correlation);
        }
    }

    /// Kernels launched one by one.
    void eager(const std::vector<std::string>& kernels) {
        for (const auto& kernel : kernels) {
            call("cudaLaunchKernel");
            run(kernel, correlation);
        }
    }

    /// Runs `body` inside a host annotation.
    template <class Body> void annotated(const std::string& text, Body body) {
        const std::size_t index = recording.annotations.size();
        recording.annotations.emplace_back();
        recording.annotations[index].start_ns = host_ns++;
        recording.annotations[index].name = name(text);
        body();
        recording.annotations[index].duration_ns =
            host_ns++ - recording.annotations[index].start_ns;
    }
};

} // namespace kerf::test

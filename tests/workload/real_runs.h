// SPDX-License-Identifier: GPL-3.0-or-later
// The real recordings: 21 reference runs where shared/data is there, two of them in tests/data.
#pragma once

#include "core/trace/reader.h"
#include "core/workload/replay.h"
#include "core/workload/workload.h"
#include "shared_data.h"

#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kerf::test {

struct RealRun {
    std::string name; ///< "llama-1b_b1"
    std::string model;
    int batch = 1;
    std::filesystem::path trace;
    std::filesystem::path untraced;
    nlohmann::json facts; ///< its entry in runs.json
};

inline std::vector<RealRun> realRuns() {
    std::vector<RealRun> runs;
    const auto h200 = sharedData() / "h200";
    const bool shared = std::filesystem::exists(h200);
    const auto untraced = shared ? h200 / "runs.json" : testData() / "untraced.json";
    std::ifstream file(untraced);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    for (const auto& [name, facts] : json["runs"].items()) {
        const auto folder = shared ? h200 / "conventional" : testData();
        runs.push_back(
            {name, facts["model"], facts["batch"], folder / (name + ".json.gz"), untraced, facts});
    }
    return runs;
}

inline trace::Recording read(const RealRun& run) {
    Progress progress;
    auto recording = trace::readRecording(run.trace, progress);
    if (!recording) {
        qFatal("%s", toString(recording.error()).c_str());
    }
    return *recording;
}

/// The workload with its untraced timings.
inline workload::Workload load(const RealRun& run) {
    auto result = workload::buildWorkload(read(run), run.model, run.batch);
    auto untraced = workload::readUntraced(run.untraced.string(), run.model, run.batch);
    if (!result || !untraced) {
        qFatal("%s cannot be loaded", run.name.c_str());
    }
    result->untraced = *untraced;
    return *result;
}

/// One row a run: the run as its index into realRuns().
inline void addRealRuns() {
    QTest::addColumn<int>("run");
    const auto runs = realRuns();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        QTest::newRow(runs[i].name.c_str()) << static_cast<int>(i);
    }
}

} // namespace kerf::test

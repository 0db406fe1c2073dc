// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/calibration.h"
#include "lab/common/lab_error.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kerf::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kConstants = {
    "launch_gap_us",
    "launch_gap_pdl_us",
    "memset_us",
    "prologue_us",
    "event_one_way_us",
    "dispatch_us",
    "queue_pop_us",
    "dependent_latency_us",
    "ramp_us",
    "memory_gbps",
    "l2_gbps",
    "bulk_gbps_per_sm",
    "on_chip_gbps_per_sm",
    "drain_us",
};
/// Loads by threads, in threads a block.
constexpr std::array kReadThreads = {256, 512, 1024};

double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) {
        return value;
    }
    const double digits = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
    return std::round(value * digits) / digits;
}

std::string sourceText(const Calibration& calibration, const std::string& how) {
    const Environment& at = calibration.environment;
    return "measured by kerf-lab calibrate on one " + at.gpu + ", driver " + at.driver + ", CUDA " +
           at.cuda + ", " + at.date + (at.quick ? " (quick)" : "") + ": " + how;
}

Json figureJson(const Calibration& calibration, const Figure& figure) {
    if (!std::isfinite(figure.value.median) || figure.value.median <= 0) {
        throw LabError("calibrate: " + figure.name + " came out as " +
                       std::to_string(figure.value.median) +
                       "; it must be positive. Is another program using the GPU? Run again.");
    }
    return {{"value", rounded(figure.value.median)},
            {"spread", rounded(figure.value.spread)},
            {"source", sourceText(calibration, figure.how)},
            {"estimated", false}};
}

Json pointsJson(const Series& series) {
    Json points = Json::array();
    for (const Point& point : series.points) {
        points.push_back({point.x, rounded(point.y.median)});
    }
    return points;
}

double largestSpread(const Series& series) {
    double largest = 0;
    for (const Point& point : series.points) {
        largest = std::max(largest, point.y.spread);
    }
    return largest;
}

Json limitsJson(const Calibration& calibration) {
    const Limits& limits = calibration.limits;
    return {{"sm_count", limits.sm_count},
            {"l2_bytes", limits.l2_bytes},
            {"registers_per_sm", limits.registers_per_sm},
            {"shared_bytes_per_sm", limits.shared_bytes_per_sm},
            {"shared_bytes_per_block_max", limits.shared_bytes_per_block_max},
            {"shared_bytes_reserved_per_block", limits.shared_bytes_reserved_per_block},
            {"max_threads_per_sm", limits.max_threads_per_sm},
            {"max_blocks_per_sm", limits.max_blocks_per_sm},
            {"source", "device properties, read by kerf-lab, " + calibration.environment.date}};
}

Json constantsJson(const Calibration& calibration, const Json& base) {
    const Json kept = base.value("constants", Json::object());
    Json constants = Json::object();
    for (const char* name : kConstants) {
        if (const Figure* figure = findFigure(calibration, name)) {
            constants[name] = figureJson(calibration, *figure);
        } else if (kept.contains(name)) {
            constants[name] = kept[name];
        } else {
            throw LabError(std::string("calibrate: ") + name +
                           " was not measured; give a hardware file that has it with --base.");
        }
    }
    // Needs a profiler, which the lab does not use.
    constants["tracing_us_per_node"] =
        kept.contains("tracing_us_per_node")
            ? kept["tracing_us_per_node"]
            : Json{{"value", 0.132},
                   {"spread", 0.13},
                   {"source", "not measured by kerf-lab; that of an H200 with CUDA 13.0, see "
                              "docs/validation/replay.md"},
                   {"estimated", true}};
    return constants;
}

Json barrierJson(const Calibration& calibration, const Json& base) {
    if (const Series* series = findSeries(calibration, "barrier_us_by_workers")) {
        return {{"points", pointsJson(*series)},
                {"spread", rounded(largestSpread(*series))},
                {"source", sourceText(calibration, series->how)},
                {"estimated", false}};
    }
    if (!base.contains("barrier_us_by_workers")) {
        throw LabError("calibrate: the grid barrier was not measured; give --base.");
    }
    return base["barrier_us_by_workers"];
}

Json readBandwidthJson(const Calibration& calibration, const Json& base) {
    Json curves = Json::array();
    double spread = 0;
    std::string how;
    for (const int threads : kReadThreads) {
        if (const Series* series =
                findSeries(calibration, "read_gbps_" + std::to_string(threads) + "_threads")) {
            curves.push_back({{"threads", threads}, {"points", pointsJson(*series)}});
            spread = std::max(spread, largestSpread(*series));
            how = series->how;
        }
    }
    if (!curves.empty()) {
        return {{"curves", curves},
                {"spread", rounded(spread)},
                {"source", sourceText(calibration, how)},
                {"estimated", false}};
    }
    if (!base.contains("read_bandwidth_gbps")) {
        throw LabError("calibrate: read bandwidth was not measured; give --base.");
    }
    return base["read_bandwidth_gbps"];
}

/// Everything that was found, also what Kerf does not read.
Json calibrationJson(const Calibration& calibration) {
    const Environment& at = calibration.environment;
    Json figures = Json::object();
    for (const Figure& figure : calibration.figures) {
        figures[figure.name] = {{"value", rounded(figure.value.median)},
                                {"spread", rounded(figure.value.spread)},
                                {"unit", figure.unit},
                                {"repeats", figure.value.count},
                                {"how", figure.how}};
    }
    Json series = Json::object();
    for (const Series& one : calibration.series) {
        Json points = Json::array();
        for (const Point& point : one.points) {
            points.push_back({point.x, rounded(point.y.median), rounded(point.y.spread)});
        }
        series[one.name] = {{"x", one.x}, {"unit", one.unit}, {"points", points}, {"how", one.how}};
    }
    return {{"gpu", at.gpu},
            {"driver", at.driver},
            {"cuda", at.cuda},
            {"date", at.date},
            {"quick", at.quick},
            {"sm_clock_before_mhz", rounded(at.sm_clock_before_mhz)},
            {"sm_clock_after_mhz", rounded(at.sm_clock_after_mhz)},
            {"memory_clock_mhz", at.memory_clock_mhz},
            {"figures", figures},
            {"series", series}};
}

Json parseBase(const Calibration& calibration, const std::string& base_json) {
    if (base_json.empty()) {
        return Json::object();
    }
    Json base = Json::parse(base_json, nullptr, /*allow_exceptions=*/false);
    if (base.is_discarded() || !base.is_object() || base.value("format", "") != "kerf-hardware") {
        throw LabError("calibrate: --base is not a hardware file (docs/formats/hardware.md).");
    }
    if (base.value("name", "") != calibration.environment.gpu) {
        throw LabError("calibrate: --base is of \"" + base.value("name", "") +
                       "\", this GPU is \"" + calibration.environment.gpu +
                       "\"; figures of one do not hold for the other.");
    }
    return base;
}

} // namespace

const Figure* findFigure(const Calibration& calibration, const std::string& name) {
    for (const Figure& figure : calibration.figures) {
        if (figure.name == name) {
            return &figure;
        }
    }
    return nullptr;
}

const Series* findSeries(const Calibration& calibration, const std::string& name) {
    for (const Series& series : calibration.series) {
        if (series.name == name) {
            return &series;
        }
    }
    return nullptr;
}

std::string hardwareJson(const Calibration& calibration, const std::string& base_json) {
    const Json base = parseBase(calibration, base_json);
    const Json file = {{"format", "kerf-hardware"},
                       {"version", 1},
                       {"name", calibration.environment.gpu},
                       {"limits", limitsJson(calibration)},
                       {"constants", constantsJson(calibration, base)},
                       {"barrier_us_by_workers", barrierJson(calibration, base)},
                       {"read_bandwidth_gbps", readBandwidthJson(calibration, base)},
                       {"calibration", calibrationJson(calibration)}};
    return file.dump(2) + "\n";
}

} // namespace kerf::lab

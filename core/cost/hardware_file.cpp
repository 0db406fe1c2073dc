// SPDX-License-Identifier: GPL-3.0-or-later
// Reads hardware files; the format is described in docs/formats/hardware.md.
#include "core/cost/hardware.h"
#include "core/cost/shipped_hardware.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace kerf::cost {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::string_view kAdvice =
    "See docs/formats/hardware.md for the fields of a hardware file.";

/// Takes figures out of the file; keeps the first thing that is wrong.
class FigureReader {
public:
    explicit FigureReader(std::string where) : where_(std::move(where)) {}

    template <class Integer> void limit(const Json& limits, const char* name, Integer& into) {
        const auto it = limits.find(name);
        if (it == limits.end() || !it->is_number_integer() || it->get<std::int64_t>() <= 0 ||
            it->get<std::int64_t>() > std::int64_t{1} << (sizeof(Integer) * 8 - 2)) {
            wrong(fmt::format("\"limits.{}\" must be a positive whole number", name));
            return;
        }
        into = it->get<Integer>();
    }

    void constant(const Json& constants, const char* name, Constant& into) {
        const auto it = constants.find(name);
        const std::string path = fmt::format("constants.{}", name);
        if (it == constants.end() || !it->is_object()) {
            wrong(fmt::format("\"{}\" is missing", path));
            return;
        }
        into.value = positive(*it, "value", path);
        into.spread = it->contains("spread") ? notNegative(*it, "spread", path) : 0;
        into.estimated = flag(*it, path);
        into.source = text(*it, path);
    }

    Curve curve(const Json& holder, const std::string& path) {
        Curve points;
        const auto it = holder.find("points");
        if (it == holder.end() || !it->is_array() || it->empty()) {
            wrong(fmt::format("\"{}.points\" must be a list of [workers, figure]", path));
            return points;
        }
        for (const Json& pair : *it) {
            const bool numbers =
                pair.is_array() && pair.size() == 2 && pair[0].is_number() && pair[1].is_number();
            if (!numbers || !(pair[0].get<double>() > 0) || !(pair[1].get<double>() > 0)) {
                wrong(fmt::format("\"{}.points[{}]\" must be two positive numbers", path,
                                  points.size()));
                return points;
            }
            const CurvePoint point{pair[0].get<double>(), pair[1].get<double>()};
            if (!points.empty() && point.x <= points.back().x) {
                wrong(fmt::format("\"{}.points[{}]\": workers must ascend", path, points.size()));
                return points;
            }
            points.push_back(point);
        }
        return points;
    }

    std::string text(const Json& holder, const std::string& path) {
        const auto it = holder.find("source");
        if (it == holder.end() || !it->is_string() || it->get_ref<const std::string&>().empty()) {
            wrong(fmt::format("\"{}.source\" is missing: say where the figure comes from", path));
            return {};
        }
        return it->get<std::string>();
    }

    void wrong(std::string what) {
        if (!error) {
            error = Error{"hardware file: " + std::move(what), where_, std::string(kAdvice)};
        }
    }

    std::optional<Error> error;

private:
    double number(const Json& holder, const char* key, const std::string& path, bool zero_allowed) {
        const auto it = holder.find(key);
        if (it != holder.end() && it->is_number()) {
            const double value = it->get<double>();
            if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) {
                return value;
            }
        }
        wrong(fmt::format("\"{}.{}\" must be a {} number", path, key,
                          zero_allowed ? "non-negative" : "positive"));
        return 0;
    }
    double positive(const Json& holder, const char* key, const std::string& path) {
        return number(holder, key, path, false);
    }
    double notNegative(const Json& holder, const char* key, const std::string& path) {
        return number(holder, key, path, true);
    }
    bool flag(const Json& holder, const std::string& path) {
        const auto it = holder.find("estimated");
        if (it == holder.end()) {
            return false;
        }
        if (!it->is_boolean()) {
            wrong(fmt::format("\"{}.estimated\" must be true or false", path));
            return false;
        }
        return it->get<bool>();
    }

    std::string where_;
};

void readLimits(FigureReader& read, const Json& file, Hardware& hardware) {
    const Json limits = file.value("limits", Json::object());
    if (!limits.is_object()) {
        read.wrong("\"limits\" must be an object");
        return;
    }
    read.limit(limits, "sm_count", hardware.sm_count);
    read.limit(limits, "l2_bytes", hardware.l2_bytes);
    read.limit(limits, "registers_per_sm", hardware.registers_per_sm);
    read.limit(limits, "shared_bytes_per_sm", hardware.shared_bytes_per_sm);
    read.limit(limits, "shared_bytes_per_block_max", hardware.shared_bytes_per_block_max);
    read.limit(limits, "shared_bytes_reserved_per_block", hardware.shared_bytes_reserved_per_block);
    read.limit(limits, "max_threads_per_sm", hardware.max_threads_per_sm);
    read.limit(limits, "max_blocks_per_sm", hardware.max_blocks_per_sm);
}

void readConstants(FigureReader& read, const Json& file, Hardware& hardware) {
    const Json constants = file.value("constants", Json::object());
    if (!constants.is_object()) {
        read.wrong("\"constants\" must be an object");
        return;
    }
    read.constant(constants, "launch_gap_us", hardware.launch_gap_us);
    read.constant(constants, "launch_gap_pdl_us", hardware.launch_gap_pdl_us);
    read.constant(constants, "memset_us", hardware.memset_us);
    read.constant(constants, "prologue_us", hardware.prologue_us);
    read.constant(constants, "event_one_way_us", hardware.event_one_way_us);
    read.constant(constants, "dispatch_us", hardware.dispatch_us);
    read.constant(constants, "queue_pop_us", hardware.queue_pop_us);
    read.constant(constants, "dependent_latency_us", hardware.dependent_latency_us);
    read.constant(constants, "ramp_us", hardware.ramp_us);
    read.constant(constants, "memory_gbps", hardware.memory_gbps);
    read.constant(constants, "l2_gbps", hardware.l2_gbps);
    read.constant(constants, "bulk_gbps_per_sm", hardware.bulk_gbps_per_sm);
    read.constant(constants, "on_chip_gbps_per_sm", hardware.on_chip_gbps_per_sm);
    read.constant(constants, "drain_us", hardware.drain_us);
    read.constant(constants, "tracing_us_per_node", hardware.tracing_us_per_node);
}

void readCurves(FigureReader& read, const Json& file, Hardware& hardware) {
    const Json barrier = file.value("barrier_us_by_workers", Json::object());
    const Json bandwidth = file.value("read_bandwidth_gbps", Json::object());
    if (!barrier.is_object() || !bandwidth.is_object()) {
        read.wrong("\"barrier_us_by_workers\" and \"read_bandwidth_gbps\" must be objects");
        return;
    }
    hardware.barrier_us_by_workers = read.curve(barrier, "barrier_us_by_workers");
    hardware.barrier_source = read.text(barrier, "barrier_us_by_workers");
    hardware.bandwidth_source = read.text(bandwidth, "read_bandwidth_gbps");
    const auto curves = bandwidth.find("curves");
    if (curves == bandwidth.end() || !curves->is_array() || curves->empty()) {
        read.wrong("\"read_bandwidth_gbps.curves\" must be a list with at least one curve");
        return;
    }
    for (const Json& entry : *curves) {
        const std::string path =
            fmt::format("read_bandwidth_gbps.curves[{}]", hardware.bandwidth.size());
        if (!entry.is_object() || !entry.contains("threads") ||
            !entry["threads"].is_number_integer() || entry["threads"].get<int>() <= 0 ||
            (!hardware.bandwidth.empty() &&
             entry["threads"].get<int>() <= hardware.bandwidth.back().threads)) {
            read.wrong(fmt::format("\"{}.threads\" must be positive and ascending", path));
            return;
        }
        hardware.bandwidth.push_back({entry["threads"].get<int>(), read.curve(entry, path)});
    }
}

} // namespace

Expected<Hardware> parseHardware(const std::string& json, const std::string& where) {
    const Json file = Json::parse(json, nullptr, /*allow_exceptions=*/false);
    if (file.is_discarded() || !file.is_object()) {
        return fail("hardware file: not valid JSON", where,
                    "The file may be cut off; fetch or write it again.");
    }
    const auto format = file.find("format");
    if (format == file.end() || *format != "kerf-hardware") {
        return fail("hardware file: \"format\" is not \"kerf-hardware\"", where,
                    std::string(kAdvice));
    }
    const auto version = file.find("version");
    if (version == file.end() || *version != kVersion) {
        return fail(
            fmt::format("hardware file: version {} is not known; this Kerf reads version {}",
                        version == file.end() ? "(missing)" : version->dump(), kVersion),
            where, "Use a newer Kerf, or write the file again with this one.");
    }
    Hardware hardware;
    FigureReader read(where);
    if (const auto name = file.find("name"); name != file.end() && name->is_string()) {
        hardware.name = name->get<std::string>();
    } else {
        read.wrong("\"name\" must be the device's name");
    }
    readLimits(read, file, hardware);
    readConstants(read, file, hardware);
    readCurves(read, file, hardware);
    if (read.error) {
        return tl::unexpected<Error>(std::move(*read.error));
    }
    return hardware;
}

Expected<Hardware> readHardware(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return fail("hardware file: cannot be opened", path, "Check the path and its permissions.");
    }
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    if (stream.bad()) {
        return fail("hardware file: cannot be read to its end", path,
                    "Check the disk and try again.");
    }
    return parseHardware(text, path);
}

Expected<Hardware> shippedHardware(const std::string& deviceName) {
    std::string names;
    for (const ShippedFile& file : shippedHardwareFiles()) {
        auto hardware = parseHardware(std::string(file.json), std::string(file.name));
        if (!hardware) {
            return hardware;
        }
        if (hardware->name == deviceName) {
            return hardware;
        }
        names += (names.empty() ? "" : ", ") + hardware->name;
    }
    return fail(
        fmt::format("no hardware file is shipped for \"{}\"; shipped: {}", deviceName, names), {},
        "Give a hardware file of this GPU (docs/formats/hardware.md).");
}

} // namespace kerf::cost

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads benchmark files; the format is described in docs/formats/bench.md.
#include "core/cost/bench_file.h"

#include "core/trace/file_content.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace kerf::cost {
namespace {

using Json = nlohmann::json;
using workload::OpRole;

constexpr int kVersion = 1;
constexpr const char* kAdvice = "See docs/formats/bench.md for the fields of a benchmark file.";

// Beyond these a figure is a slip of units, not a tile.
constexpr double kMostBatch = 1e6;
constexpr double kMostTiles = 1e6;
constexpr double kMostBytes = 1e12;
constexpr double kMostUs = 1e6;
constexpr double kMostSharedBytes = 1e6;

std::optional<OpRole> roleNamed(std::string_view name) {
    for (int r = 0; r <= static_cast<int>(OpRole::Other); ++r) {
        if (workload::toString(static_cast<OpRole>(r)) == name) {
            return static_cast<OpRole>(r);
        }
    }
    return std::nullopt;
}

std::string quoted(const Json& value) {
    if (value.is_structured()) {
        return value.is_array() ? "a list" : "an object";
    }
    const std::string all = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return all.size() <= 40 ? all : all.substr(0, 40) + "…";
}

/// Takes fields out of one object of the file; keeps the first thing that is wrong.
class Fields {
public:
    Fields(const Json& object, std::string where, std::optional<Error>& error)
        : object_(object), where_(std::move(where)), error_(error) {}

    void wrong(std::string what) {
        if (!error_) {
            error_ = Error{"benchmark file: " + std::move(what), where_, kAdvice};
        }
    }

    double number(const char* name, double least, double most, std::optional<double> fallback) {
        const auto it = object_.find(name);
        if (it == object_.end()) {
            if (!fallback) {
                wrong(fmt::format("\"{}\" is missing", name));
            }
            return fallback.value_or(least);
        }
        const double value = it->is_number() ? it->get<double>() : NAN;
        if (!(value >= least && value <= most)) { // also catches text
            wrong(fmt::format("\"{}\" is {}; it must be a number from {} to {}", name, quoted(*it),
                              least, most));
            return least;
        }
        return value;
    }

    int whole(const char* name, double least, double most) {
        const double value = number(name, least, most, std::nullopt);
        if (value != std::floor(value)) {
            wrong(fmt::format("\"{}\" is {}; it must be a whole number", name, value));
        }
        return static_cast<int>(value);
    }

    std::string text(const char* name, bool required) {
        const auto it = object_.find(name);
        if (it == object_.end() && !required) {
            return {};
        }
        if (it == object_.end() || !it->is_string() || it->get_ref<const std::string&>().empty()) {
            wrong(fmt::format("\"{}\" must be text that is not empty", name));
            return {};
        }
        return it->get<std::string>();
    }

    std::optional<OpRole> role(const Json& name) {
        const auto known = name.is_string() ? roleNamed(name.get_ref<const std::string&>())
                                            : std::optional<OpRole>{};
        if (!known) {
            wrong(fmt::format("role {} is unknown; roles are listed in docs/cost-model.md",
                              quoted(name)));
        }
        return known;
    }

    /// A required object in this one; an empty one where it is not there.
    const Json& object(const char* name) {
        static const Json kNone = Json::object();
        const auto it = object_.find(name);
        if (it == object_.end() || !it->is_object()) {
            wrong(fmt::format("\"{}\" must be an object", name));
            return kNone;
        }
        return *it;
    }

private:
    const Json& object_;
    std::string where_;
    std::optional<Error>& error_;
};

Footprint footprintFrom(Fields& entry, const std::string& place, std::optional<Error>& error) {
    Fields fields(entry.object("footprint"), place + ".footprint", error);
    return {.threads = fields.whole("threads", 1, 1024),
            .registers = fields.whole("registers", 1, 255),
            .shared_bytes = fields.whole("shared_bytes", 0, kMostSharedBytes)};
}

BenchEntry entryFrom(const Json& object, const std::string& place, bool hasModel,
                     std::optional<Error>& error) {
    Fields fields(object, place, error);
    BenchEntry entry;
    entry.place = place;
    entry.key = fields.text("key", false);
    if (const auto it = object.find("role"); it != object.end()) {
        entry.role = fields.role(*it);
    }
    if (entry.key.empty() && !entry.role) {
        fields.wrong("an entry needs a \"key\" or a \"role\"");
    }
    if (!entry.key.empty() && !hasModel) {
        fields.wrong("\"key\" names an op of one model, but the file has no \"model\"");
    }
    // Products of one recording differ in shape, and the role does not say which is meant.
    if (entry.key.empty() && (entry.role == OpRole::Product || entry.role == OpRole::Convolution)) {
        fields.wrong(fmt::format("role \"{}\" alone does not say which shape is meant; give the "
                                 "\"key\" of the op (kerf info PROJECT --ops)",
                                 workload::toString(*entry.role)));
    }
    if (const auto it = object.find("fused"); it != object.end()) {
        if (!it->is_array()) {
            fields.wrong("\"fused\" must be a list of roles");
        }
        entry.fused.emplace();
        for (const Json& name : *it) {
            if (const auto role = fields.role(name)) {
                entry.fused->push_back(*role);
            }
        }
        std::sort(entry.fused->begin(), entry.fused->end()); // the order means nothing
    }
    entry.batch = fields.whole("batch", 1, kMostBatch);
    entry.footprint = footprintFrom(fields, place, error);
    entry.tiles = static_cast<std::uint32_t>(fields.whole("tiles", 1, kMostTiles));
    entry.load_bytes = fields.number("load_bytes", 0, kMostBytes, 0);
    entry.dependent_bytes = fields.number("dependent_bytes", 0, kMostBytes, 0);
    entry.worker_dependent_bytes = fields.number("worker_dependent_bytes", 0, kMostBytes, 0);
    entry.compute_us = fields.number("compute_us", 0, kMostUs, std::nullopt);
    entry.spread_us = fields.number("spread_us", 0, kMostUs, std::nullopt);
    entry.signal_us = fields.number("signal_us", 0, kMostUs, 0);
    if (entry.spread_us > entry.compute_us) {
        fields.wrong(fmt::format("\"spread_us\" {} is more than \"compute_us\" {}: such a figure "
                                 "says nothing",
                                 entry.spread_us, entry.compute_us));
    }
    if (entry.load_bytes + entry.dependent_bytes + entry.worker_dependent_bytes +
            entry.compute_us ==
        0) {
        fields.wrong("a tile without bytes and without \"compute_us\" does nothing");
    }
    return entry;
}

} // namespace

Expected<BenchFile> parseBench(const std::string& json, const std::string& where) {
    const Json content = Json::parse(json, nullptr, /*allow_exceptions=*/false);
    if (content.is_discarded() || !content.is_object()) {
        return fail("benchmark file: not valid JSON", where,
                    "The file may be cut off; write it again.");
    }
    const auto format = content.find("format");
    if (format == content.end() || *format != "kerf-bench") {
        return fail("benchmark file: \"format\" is not \"kerf-bench\"", where, kAdvice);
    }
    const auto version = content.find("version");
    if (version == content.end() || *version != kVersion) {
        return fail(
            fmt::format("benchmark file: version {} is not known; this Kerf reads version {}",
                        version == content.end() ? "(missing)" : quoted(*version), kVersion),
            where, "Use a newer Kerf, or write the file again with this one.");
    }
    BenchFile bench;
    bench.file = where;
    std::optional<Error> error;
    Fields top(content, where, error);
    bench.model = top.text("model", false);
    Fields source(top.object("source"), where + ", source", error);
    bench.gpu = source.text("gpu", true);
    bench.driver = source.text("driver", true);
    bench.date = source.text("date", true);
    bench.how = source.text("how", true);
    const auto ops = content.find("ops");
    if (ops == content.end() || !ops->is_array() || ops->empty()) {
        top.wrong("\"ops\" must be a list with at least one entry");
    } else {
        for (const Json& object : *ops) {
            const auto place = fmt::format("{}, ops[{}]", where, bench.ops.size());
            if (!object.is_object()) {
                Fields(content, place, error).wrong("an entry must be an object");
                break;
            }
            bench.ops.push_back(entryFrom(object, place, !bench.model.empty(), error));
        }
    }
    if (error) {
        return tl::unexpected<Error>(std::move(*error));
    }
    return bench;
}

Expected<BenchFile> readBench(const std::string& path) {
    Progress progress;
    const auto content = trace::loadFile(path, progress);
    if (!content) {
        return tl::unexpected(content.error());
    }
    return parseBench(std::string(content->text()), path);
}

} // namespace kerf::cost

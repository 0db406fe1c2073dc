// SPDX-License-Identifier: GPL-3.0-or-later
// Reads chain files; the format is described in docs/formats/chain.md.
#include "core/validation/chain.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace kerf::validation {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::int64_t kMost = 1'000'000'000; ///< of any whole number in the file
constexpr std::size_t kMostOps = 1'000'000;   ///< of one chain
constexpr std::string_view kAdvice = "See docs/formats/chain.md for the fields of a chain file.";

/// Takes fields out of the file; keeps the first thing that is wrong.
class Reader {
public:
    explicit Reader(std::string where) : where_(std::move(where)) {}

    void wrong(std::string what) {
        if (!error) {
            error = Error{"chain file: " + std::move(what), where_, std::string(kAdvice)};
        }
    }

    std::int64_t whole(const Json& object, const char* key, const std::string& path,
                       std::int64_t least = 1) {
        const auto it = object.find(key);
        if (it != object.end() && it->is_number_integer()) {
            const auto value = it->get<std::int64_t>();
            if (value >= least && value <= kMost) {
                return value;
            }
        }
        wrong(
            fmt::format("\"{}{}\" must be a whole number from {} to {}", path, key, least, kMost));
        return least;
    }
    std::int64_t wholeOr(const Json& object, const char* key, const std::string& path,
                         std::int64_t fallback, std::int64_t least) {
        return object.contains(key) ? whole(object, key, path, least) : fallback;
    }
    double positive(const Json& object, const char* key, const std::string& path) {
        const auto it = object.find(key);
        if (it != object.end() && it->is_number()) {
            const auto value = it->get<double>();
            if (std::isfinite(value) && value > 0) {
                return value;
            }
        }
        wrong(fmt::format("\"{}{}\" must be a positive number", path, key));
        return 1;
    }
    double positiveOr(const Json& object, const char* key, const std::string& path,
                      double fallback) {
        return object.contains(key) ? positive(object, key, path) : fallback;
    }
    std::string text(const Json& object, const char* key, const std::string& path) {
        const auto it = object.find(key);
        if (it != object.end() && it->is_string() && !it->get_ref<const std::string&>().empty()) {
            return it->get<std::string>();
        }
        wrong(fmt::format("\"{}{}\" must be a text", path, key));
        return {};
    }
    /// Calls visit(element, path of its fields) for each object of a list with at least one.
    template <class Visit>
    void each(const Json& object, const char* key, const std::string& path, Visit&& visit) {
        const auto it = object.find(key);
        if (it == object.end() || !it->is_array() || it->empty()) {
            wrong(fmt::format("\"{}{}\" must be a list with at least one element", path, key));
            return;
        }
        for (std::size_t i = 0; i < it->size() && !error; ++i) {
            if ((*it)[i].is_object()) {
                visit((*it)[i], fmt::format("{}{}[{}].", path, key, i));
            } else {
                wrong(fmt::format("\"{}{}[{}]\" must be an object", path, key, i));
            }
        }
    }

    std::optional<Error> error;

private:
    std::string where_;
};

Product productOf(Reader& read, const Json& json, const std::string& path) {
    return {read.whole(json, "rows", path), read.whole(json, "k", path)};
}

Kernel kernelOf(Reader& read, const Json& file) {
    const auto it = file.find("kernel");
    if (it == file.end() || !it->is_object()) {
        read.wrong("\"kernel\" must be an object");
        return {};
    }
    const std::string path = "kernel.";
    Kernel kernel;
    kernel.workers = static_cast<int>(read.whole(*it, "workers", path));
    kernel.threads = static_cast<int>(read.whole(*it, "threads", path));
    kernel.ring_stages = static_cast<int>(read.whole(*it, "ring_stages", path));
    kernel.stage_bytes = read.whole(*it, "stage_bytes", path);
    kernel.tile_rows = read.whole(*it, "tile_rows", path);
    kernel.bytes_per_weight = read.positiveOr(*it, "bytes_per_weight", path, 2);
    kernel.memset_nodes = static_cast<int>(read.wholeOr(*it, "memset_nodes", path, 0, 0));
    return kernel;
}

std::vector<std::size_t> startsEvery(std::size_t ops, std::size_t length) {
    std::vector<std::size_t> starts;
    for (std::size_t start = 0; start < ops; start += length) {
        starts.push_back(start);
    }
    return starts;
}

/// The explicit boundaries of a case: ascending, each inside the chain.
std::vector<std::size_t> startsAt(Reader& read, const Json& json, const std::string& path,
                                  std::size_t ops) {
    std::vector<std::size_t> starts{0};
    const auto it = json.find("boundaries");
    if (it == json.end() || !it->is_array()) {
        read.wrong(fmt::format("\"{}boundaries\" must be a list of op numbers", path));
        return starts;
    }
    for (const Json& start : *it) {
        const bool inside = start.is_number_integer() && start.get<std::int64_t>() > 0 &&
                            start.get<std::uint64_t>() < ops &&
                            start.get<std::size_t>() > starts.back();
        if (!inside) {
            read.wrong(fmt::format("\"{}boundaries\": {} is not an op from 1 to {} after the "
                                   "boundary before it",
                                   path, start.dump(), ops - 1));
            return starts;
        }
        starts.push_back(start.get<std::size_t>());
    }
    return starts;
}

ChainCase caseOf(Reader& read, const Json& json, const std::string& path, std::size_t ops) {
    ChainCase made;
    const std::string kind = read.text(json, "kind", path);
    made.measured_us = read.positive(json, "measured_us", path);
    made.starts = {0};
    if (kind == toString(CaseKind::RegionsOf)) {
        made.kind = CaseKind::RegionsOf;
        made.region_ops = read.whole(json, "region_ops", path);
        made.starts = startsEvery(ops, static_cast<std::size_t>(made.region_ops));
    } else if (kind == toString(CaseKind::RegionsAt)) {
        made.kind = CaseKind::RegionsAt;
        made.starts = startsAt(read, json, path, ops);
    } else if (kind != toString(CaseKind::PersistentAllOps)) {
        read.wrong(fmt::format("\"{}kind\" is \"{}\"; known are persistent_all_ops, regions_of and "
                               "regions_at",
                               path, kind));
    }
    return made;
}

MeasuredChain chainOf(Reader& read, const Json& json, const std::string& path) {
    MeasuredChain chain;
    chain.name = read.text(json, "name", path);
    read.each(json, "ops", path, [&](const Json& op, const std::string& at) {
        const Product product = productOf(read, op, at);
        const auto count = static_cast<std::size_t>(read.wholeOr(op, "count", at, 1, 1));
        if (count > kMostOps - chain.ops.size()) {
            read.wrong(fmt::format("\"{}ops\" holds more than {} ops", path, kMostOps));
            return;
        }
        chain.ops.insert(chain.ops.end(), count, product);
    });
    read.each(json, "cases", path, [&](const Json& one, const std::string& at) {
        chain.cases.push_back(caseOf(read, one, at, chain.ops.size()));
    });
    return chain;
}

void requireSingles(Reader& read, const ChainFile& file) {
    for (const MeasuredChain& chain : file.chains) {
        for (const Product& op : chain.ops) {
            if (singleOf(file, op) == nullptr) {
                read.wrong(fmt::format("chain \"{}\" has an op of {} x {} that \"single_ops\" does "
                                       "not time",
                                       chain.name, op.rows, op.k));
                return;
            }
        }
    }
}

} // namespace

std::string_view toString(CaseKind kind) {
    switch (kind) {
    case CaseKind::PersistentAllOps:
        return "persistent_all_ops";
    case CaseKind::RegionsOf:
        return "regions_of";
    case CaseKind::RegionsAt:
        return "regions_at";
    }
    return "unknown";
}

Expected<ChainFile> parseChainFile(const std::string& json, const std::string& where) {
    const Json file = Json::parse(json, nullptr, false);
    if (file.is_discarded() || !file.is_object()) {
        return fail("chain file: not valid JSON, or not an object", where, std::string(kAdvice));
    }
    if (file.value("format", Json()) != "kerf-chain") {
        return fail("chain file: \"format\" is not \"kerf-chain\"", where,
                    "scripts/convert-gemv-chain makes one of measurements. " +
                        std::string(kAdvice));
    }
    if (const Json version = file.value("version", Json()); version != kVersion) {
        return fail(fmt::format("chain file: version {} is not known; this Kerf reads version {}",
                                version.is_null() ? "(missing)" : version.dump(), kVersion),
                    where, "Use a newer Kerf, or convert the measurements again.");
    }
    Reader read(where);
    ChainFile made;
    made.gpu = read.text(file, "gpu", "");
    if (const auto it = file.find("source"); it != file.end() && it->is_string()) {
        made.source = it->get<std::string>();
    }
    made.kernel = kernelOf(read, file);
    read.each(file, "single_ops", "", [&](const Json& json_op, const std::string& path) {
        SingleOp single;
        single.product = productOf(read, json_op, path);
        single.conventional_us = read.positive(json_op, "conventional_us", path);
        single.library_us = read.positiveOr(json_op, "library_us", path, 0);
        single.persistent_us = read.positiveOr(json_op, "persistent_us", path, 0);
        if (singleOf(made, single.product) != nullptr) {
            read.wrong(fmt::format("\"single_ops\" times the op of {} x {} twice",
                                   single.product.rows, single.product.k));
        }
        made.singles.push_back(single);
    });
    read.each(file, "chains", "", [&](const Json& chain, const std::string& path) {
        made.chains.push_back(chainOf(read, chain, path));
    });
    requireSingles(read, made);
    if (read.error) {
        return tl::unexpected<Error>(std::move(*read.error));
    }
    return made;
}

Expected<ChainFile> readChainFile(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return fail("chain file: cannot be opened", path, "Check the path and its permissions.");
    }
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    if (stream.bad()) {
        return fail("chain file: cannot be read to its end", path, "Check the disk and try again.");
    }
    return parseChainFile(text, path);
}

const SingleOp* singleOf(const ChainFile& file, const Product& product) {
    for (const SingleOp& single : file.singles) {
        if (single.product == product) {
            return &single;
        }
    }
    return nullptr;
}

std::int64_t tilesOf(const Kernel& kernel, const Product& product) {
    return (product.rows + kernel.tile_rows - 1) / kernel.tile_rows;
}

double bytesOf(const Kernel& kernel, const Product& product) {
    return static_cast<double>(product.rows) * static_cast<double>(product.k) *
           kernel.bytes_per_weight;
}

} // namespace kerf::validation

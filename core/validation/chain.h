// SPDX-License-Identifier: GPL-3.0-or-later
// Measured chains of matrix-vector products, what a prediction is held against.
// docs/formats/chain.md describes the file.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::validation {

/// y = W x with W of rows × k.
struct Product {
    std::int64_t rows = 0;
    std::int64_t k = 0;
    auto operator<=>(const Product&) const = default;
};

/// The persistent kernel that all cases of a file run.
struct Kernel {
    int workers = 0; ///< resident blocks in all
    int threads = 0; ///< a block
    int ring_stages = 0;
    std::int64_t stage_bytes = 0;
    std::int64_t tile_rows = 0; ///< rows of W in one tile
    double bytes_per_weight = 2;
    int memset_nodes = 0; ///< graph nodes that clear counters before each region
};

/// One product as a kernel of its own, µs a kernel in a graph of such kernels. 0: not measured.
struct SingleOp {
    Product product;
    double conventional_us = 0; ///< an ordinary kernel
    double library_us = 0;      ///< the vendor's library
    double persistent_us = 0;   ///< the persistent kernel's tiles, launched for this op alone
};

enum class CaseKind : std::uint8_t { PersistentAllOps, RegionsOf, RegionsAt };
[[nodiscard]] std::string_view toString(CaseKind kind);

/// One way to cut a chain, with what it took.
struct ChainCase {
    CaseKind kind = CaseKind::PersistentAllOps;
    std::int64_t region_ops = 0;     ///< RegionsOf: ops a region; the last may have fewer
    std::vector<std::size_t> starts; ///< op at which each region starts; the first is 0
    double measured_us = 0;          ///< the whole chain
};

struct MeasuredChain {
    std::string name;
    std::vector<Product> ops; ///< in order, each waits for all of the one before
    std::vector<ChainCase> cases;
};

struct ChainFile {
    std::string gpu;    ///< device name, picks the shipped hardware file
    std::string source; ///< how it was measured; may be empty
    Kernel kernel;
    std::vector<SingleOp> singles;
    std::vector<MeasuredChain> chains;
};

/// Errors: unreadable, not JSON, unknown format or version, a field that is missing or of no use
/// (named with its place), an op without single-op timing.
[[nodiscard]] Expected<ChainFile> readChainFile(const std::string& path);
[[nodiscard]] Expected<ChainFile> parseChainFile(const std::string& json, const std::string& where);

/// Timings of `product` alone, or null.
[[nodiscard]] const SingleOp* singleOf(const ChainFile& file, const Product& product);

[[nodiscard]] std::int64_t tilesOf(const Kernel& kernel, const Product& product);
[[nodiscard]] double bytesOf(const Kernel& kernel, const Product& product); ///< of its weights

} // namespace kerf::validation

// SPDX-License-Identifier: GPL-3.0-or-later
// Chain files written by hand, changed one field at a time.
#pragma once

#include "core/validation/chain.h"

#include <nlohmann/json.hpp>

namespace kerf::test {

/// Two sizes; chain "small" of four equal ops, chain "mixed" of three.
inline nlohmann::json smallChainFile() {
    return nlohmann::json::parse(R"({
      "format": "kerf-chain", "version": 1, "gpu": "NVIDIA H200",
      "kernel": {"workers": 132, "threads": 288, "ring_stages": 6, "stage_bytes": 32768,
                 "tile_rows": 8, "memset_nodes": 1},
      "single_ops": [
        {"rows": 1056, "k": 2048, "conventional_us": 4.5, "persistent_us": 3.2},
        {"rows": 2112, "k": 2048, "conventional_us": 5.0, "library_us": 6.0, "persistent_us": 4.4}
      ],
      "chains": [
        {"name": "small", "ops": [{"rows": 1056, "k": 2048, "count": 4}],
         "cases": [{"kind": "persistent_all_ops", "measured_us": 14.0},
                   {"kind": "regions_of", "region_ops": 3, "measured_us": 16.0}]},
        {"name": "mixed", "ops": [{"rows": 1056, "k": 2048}, {"rows": 2112, "k": 2048},
                                  {"rows": 1056, "k": 2048}],
         "cases": [{"kind": "regions_at", "boundaries": [2], "measured_us": 15.0}]}
      ]})");
}

inline Expected<validation::ChainFile> parsed(const nlohmann::json& file) {
    return validation::parseChainFile(file.dump(), "chain.json");
}

} // namespace kerf::test

// SPDX-License-Identifier: GPL-3.0-or-later
// The hardware files of resources/hardware, compiled in by core/cost/CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

namespace kerf::cost {

struct ShippedFile {
    std::string_view name; ///< "h200.json"
    std::string_view json; ///< its whole text
};

[[nodiscard]] std::span<const ShippedFile> shippedHardwareFiles();

} // namespace kerf::cost

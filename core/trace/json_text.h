// SPDX-License-Identifier: GPL-3.0-or-later
// What traces need beyond a JSON parser: lenient reading of names, repair of harmless faults.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kerf::trace {

/// True for a number, true, false, null, NaN, Infinity and -Infinity.
[[nodiscard]] bool isJsonScalar(std::string_view token);

/// The text of a JSON string, given without its quotes. Never fails: a wrong escape stays as it is
/// written, half a surrogate pair becomes U+FFFD.
[[nodiscard]] std::string unescapeJson(std::string_view written);

struct JsonRepairs {
    std::int64_t control_characters = 0; ///< inside strings; became spaces
    std::int64_t invalid_utf8 = 0;       ///< bytes; became '?'
};

/// Replaces, byte by byte, what a strict parser rejects but a name may contain. Lengths and
/// offsets stay as they are.
[[nodiscard]] JsonRepairs repairJson(std::span<char> text);

} // namespace kerf::trace

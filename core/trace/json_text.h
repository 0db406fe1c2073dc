// SPDX-License-Identifier: GPL-3.0-or-later
// What traces need beyond a JSON parser: repair of harmless faults, and the place of fatal ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kerf::trace {

/// The first fault of a JSON text.
struct JsonFault {
    std::size_t offset = 0; ///< byte in the text
    std::string what;       ///< "the text ends inside a list", "',' expected, found 'x'"
};

/// Walks through the text by the rules of JSON and says where it first breaks them. Lenient where
/// trace writers are: NaN and infinities as values, control characters and wrong escapes in
/// strings. Slow and exact: meant for when the fast parser has failed.
[[nodiscard]] std::optional<JsonFault> findJsonFault(std::string_view text);

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

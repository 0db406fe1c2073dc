// SPDX-License-Identifier: GPL-3.0-or-later
// The place of a fatal fault in a JSON text.
#pragma once

#include <cstddef>
#include <optional>
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

} // namespace kerf::trace

// SPDX-License-Identifier: GPL-3.0-or-later
// Steps through JSON with simdjson's on-demand parser, for the readers of traces only.
#pragma once

#include <cstdint>
#include <optional>
#include <simdjson.h>
#include <string_view>
#include <utility>

namespace kerf::trace::lazy {

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

/// Key as written, without quotes. Keys that matter have no escapes.
[[nodiscard]] std::string_view keyOf(const od::field& field);

/// Calls `use(field)` for each field, and stops at the first error.
template <class Use> error_code eachField(od::object object, Use use) {
    for (auto result : object) {
        od::field field;
        if (const auto error = std::move(result).get(field)) {
            return error;
        }
        if (const auto error = use(field)) {
            return error;
        }
    }
    return SUCCESS;
}

/// Calls `use(element)` for each element, and stops at the first error.
template <class Use> error_code eachElement(od::array array, Use use) {
    for (auto result : array) {
        od::value element;
        if (const auto error = std::move(result).get(element)) {
            return error;
        }
        if (const auto error = use(element)) {
            return error;
        }
    }
    return SUCCESS;
}

/// Walks through a value of any type and gives a scalar's text as written, quotes included; empty
/// for a container. The fast parser skips values unread, so a fault in them would stay unnoticed.
[[nodiscard]] error_code read(od::value value, std::string_view& text, int nesting = 0);

/// read() for a value that is not wanted.
[[nodiscard]] error_code skip(od::value value);

/// Whether the value begins with `bracket`: '{' for an object, '[' for a list.
[[nodiscard]] bool isContainer(od::value value, char bracket);

[[nodiscard]] std::string_view withoutQuotes(std::string_view text);

/// A whole number, quoted or not: old files quote thread numbers.
[[nodiscard]] std::optional<std::int64_t> integer(std::string_view text);

} // namespace kerf::trace::lazy

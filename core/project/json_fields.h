// SPDX-License-Identifier: GPL-3.0-or-later
// Typed reading of JSON fields with errors that name the field. nlohmann_json's exceptions stay
// inside.
#pragma once

#include "core/base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kerf::project {

/// Value of `object[key]`, or `fallback` where the key is missing. Errors: another type.
template <class T>
[[nodiscard]] Expected<T> fieldOr(const nlohmann::json& object, const char* key, T fallback,
                                  const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) {
        return fallback;
    }
    try {
        return found->get<T>();
    } catch (const nlohmann::json::exception&) {
        return fail(fmt::format("field \"{}\" is a {}, which is not what belongs there", key,
                                found->type_name()),
                    where, "Correct the field or export the project again.");
    }
}

/// The same, for a field that must exist.
template <class T>
[[nodiscard]] Expected<T> field(const nlohmann::json& object, const char* key,
                                const std::string& where) {
    if (!object.contains(key)) {
        return fail(fmt::format("field \"{}\" is missing", key), where,
                    "Correct the file or export it again.");
    }
    return fieldOr<T>(object, key, T{}, where);
}

} // namespace kerf::project

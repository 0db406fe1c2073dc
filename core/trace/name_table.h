// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/recording.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kerf::trace {

/// Keeps each name once; a trace repeats a few hundred of them many thousand times.
class NameTable {
public:
    [[nodiscard]] NameIndex intern(std::string_view name) {
        if (const auto found = indices_.find(name); found != indices_.end()) {
            return found->second;
        }
        const auto index = static_cast<NameIndex>(names_.size());
        names_.emplace_back(name);
        indices_.emplace(std::string(name), index);
        return index;
    }

    /// Hands the names over, in the order of their indices.
    [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::vector<std::string> names_;
    std::unordered_map<std::string, NameIndex, Hash, std::equal_to<>> indices_;
};

} // namespace kerf::trace

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cupti_collector/rows/rows.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kerf::collector {

/// Gives each text one id, and each new text to the batch. Not thread-safe: the writer's thread
/// owns it.
class Names {
public:
    /// 0 for NULL.
    NameId intern(const char* text, RowBatch& batch) {
        return text == nullptr ? 0 : intern(std::string_view(text), batch);
    }
    NameId intern(std::string_view text, RowBatch& batch) {
        if (const auto found = ids_.find(text); found != ids_.end()) {
            return found->second;
        }
        const auto id = static_cast<NameId>(ids_.size() + 1);
        batch.names.push_back({id, std::string(text)});
        ids_.emplace(std::string(text), id);
        return id;
    }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, NameId, Hash, std::equal_to<>> ids_;
};

} // namespace kerf::collector

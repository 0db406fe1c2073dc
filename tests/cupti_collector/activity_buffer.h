// SPDX-License-Identifier: GPL-3.0-or-later
// Activity buffers as CUPTI would fill them, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <cupti.h>
#include <map>
#include <vector>

namespace kerf::test {

/// Records one behind the other, 8-byte aligned, and the walk over them.
class ActivityBuffer {
public:
    ActivityBuffer() {
        static std::vector<ActivityBuffer*>& all = buffers();
        all.push_back(this);
        bytes_.reserve(std::size_t{1} << 16); // does not move: the walk hands out pointers
    }
    ~ActivityBuffer() { std::erase(buffers(), this); }
    ActivityBuffer(const ActivityBuffer&) = delete;
    ActivityBuffer& operator=(const ActivityBuffer&) = delete;

    /// Appends the first `size` bytes of `record`.
    template <class Record> void add(const Record& record, std::size_t size = sizeof(Record)) {
        const std::size_t at = bytes_.size();
        starts_.push_back(at);
        bytes_.resize(at + size);
        std::memcpy(bytes_.data() + at, &record, size);
    }
    [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }

    /// Stands in for cuptiActivityGetNextRecord.
    static CUptiResult next(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
        for (const ActivityBuffer* known : buffers()) {
            if (known->bytes_.data() != buffer) {
                continue;
            }
            for (const std::size_t start : known->starts_) {
                auto* at = reinterpret_cast<CUpti_Activity*>(buffer + start);
                if (start < valid && (*record == nullptr || at > *record)) {
                    *record = at;
                    return CUPTI_SUCCESS;
                }
            }
            return CUPTI_ERROR_MAX_LIMIT_REACHED;
        }
        return CUPTI_ERROR_INVALID_PARAMETER;
    }

private:
    static std::vector<ActivityBuffer*>& buffers() {
        static std::vector<ActivityBuffer*> all;
        return all;
    }
    std::vector<std::uint8_t> bytes_;
    std::vector<std::size_t> starts_;
};

} // namespace kerf::test

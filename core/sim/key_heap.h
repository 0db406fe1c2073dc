// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kerf::sim {

/// A least-first heap of (key, id), ties by id. Taking the top leaves a hole that the next push
/// fills: an event is mostly followed by its successor, which saves half of the work.
class KeyHeap {
public:
    struct Entry {
        double key = 0;
        std::uint32_t id = 0;
    };

    void reserve(std::size_t count) { entries_.reserve(count); }
    [[nodiscard]] std::size_t size() const { return entries_.size() - (hole_ ? 1 : 0); }

    /// The least entry, or null. Closes the hole.
    [[nodiscard]] const Entry* top() {
        if (hole_) {
            hole_ = false;
            const Entry last = entries_.back();
            entries_.pop_back();
            if (!entries_.empty()) {
                siftDown(last);
            }
        }
        return entries_.empty() ? nullptr : &entries_.front();
    }

    /// Removes the entry that top() has just returned.
    void take() { hole_ = true; }

    void push(double key, std::uint32_t id) {
        const Entry entry{key, id};
        if (hole_) {
            hole_ = false;
            siftDown(entry);
            return;
        }
        std::size_t at = entries_.size();
        entries_.push_back(entry);
        while (at > 0) {
            const std::size_t parent = (at - 1) / 2;
            if (!less(entry, entries_[parent])) {
                break;
            }
            entries_[at] = entries_[parent];
            at = parent;
        }
        entries_[at] = entry;
    }

private:
    static bool less(const Entry& a, const Entry& b) {
        return a.key < b.key || (a.key == b.key && a.id < b.id);
    }
    /// Puts `entry` where the top was.
    void siftDown(const Entry& entry) {
        const std::size_t count = entries_.size();
        std::size_t at = 0;
        for (std::size_t child = 1; child < count; child = 2 * at + 1) {
            if (child + 1 < count && less(entries_[child + 1], entries_[child])) {
                ++child;
            }
            if (!less(entries_[child], entry)) {
                break;
            }
            entries_[at] = entries_[child];
            at = child;
        }
        entries_[at] = entry;
    }

    std::vector<Entry> entries_;
    bool hole_ = false;
};

} // namespace kerf::sim

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace kerf::collector {

/// Zeroed buffers of one size for CUPTI to fill, at most so many of them. Safe from any thread.
class BufferPool {
public:
    BufferPool(std::size_t bufferBytes, std::size_t mostBuffers)
        : bytes_(bufferBytes), most_(mostBuffers) {}
    ~BufferPool() {
        for (std::uint8_t* buffer : free_) {
            std::free(buffer);
        }
    }
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    [[nodiscard]] std::size_t bufferBytes() const { return bytes_; }

    /// Null when all are in use: CUPTI then drops what it has, and says how much.
    std::uint8_t* take() {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            std::uint8_t* buffer = free_.back();
            free_.pop_back();
            lent_.push_back(buffer);
            return buffer;
        }
        if (made_ == most_) {
            ++refused_;
            return nullptr;
        }
        auto* buffer = static_cast<std::uint8_t*>(std::calloc(1, bytes_)); // 16-byte aligned
        if (buffer == nullptr) {
            ++refused_;
            return nullptr;
        }
        ++made_;
        lent_.push_back(buffer);
        return buffer;
    }
    /// CUPTI has handed it over. False where it does not have it: a buffer that comes twice would
    /// be counted twice, and lent to two threads at once.
    [[nodiscard]] bool complete(std::uint8_t* buffer) {
        const std::lock_guard lock(mutex_);
        return std::erase(lent_, buffer) == 1;
    }
    /// `used` bytes of it were written.
    void give(std::uint8_t* buffer, std::size_t used) {
        std::memset(buffer, 0, used);
        const std::lock_guard lock(mutex_);
        free_.push_back(buffer);
    }
    /// How often there was none.
    [[nodiscard]] std::uint64_t refused() {
        const std::lock_guard lock(mutex_);
        return refused_;
    }

private:
    std::size_t bytes_;
    std::size_t most_;
    std::mutex mutex_;
    std::vector<std::uint8_t*> free_;
    std::vector<std::uint8_t*> lent_; ///< that CUPTI has; some hundred at most
    std::size_t made_ = 0;
    std::uint64_t refused_ = 0;
};

} // namespace kerf::collector

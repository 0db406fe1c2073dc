// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/calibrate/pattern.cuh"
#include "lab/common/lab_error.h"

namespace kerf::lab {
namespace {

__global__ void fillPattern(std::uint32_t* words, std::uint64_t count) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        words[i] = patternWord(i);
    }
}

} // namespace

PatternBuffer::PatternBuffer(Bench& bench, std::uint64_t tiles)
    : words_(tiles * kWordsPerTile), tiles_(tiles) {
    refill(bench);
}

void PatternBuffer::refill(Bench& bench) {
    next_ = 0; // L2 now holds the end of the buffer
    fillPattern<<<4 * bench.sms, 512, 0, bench.stream.get()>>>(words_.data(), words_.size());
    KERF_CUDA(cudaGetLastError());
    KERF_CUDA(cudaStreamSynchronize(bench.stream.get()));
}

std::uint64_t PatternBuffer::takeCold(std::uint64_t count) {
    if (count > tiles_) {
        throw LabError("calibrate: a cold read of more than the buffer");
    }
    if (next_ + count > tiles_) {
        // Another start each round: small reads touch little of their tiles, and what they touched
        // may still be in L2.
        constexpr std::uint64_t kShift = 37;
        next_ = ++rounds_ * kShift % (tiles_ - count + 1);
    }
    const std::uint64_t first = next_;
    next_ += count;
    return first;
}

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of simt.h, on the CPU. Only inside runGrid().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#define KERF_DEVICE inline
#define KERF_DEVICE_MEMBER
#define KERF_UNROLL

namespace kerf::lab::simt {

unsigned threadIndex();
unsigned blockIndex();
unsigned blockCount();

void syncWarp();
std::uint32_t shuffle(std::uint32_t value, unsigned lane);
std::uint32_t shuffleXor(std::uint32_t value, unsigned mask);
float shuffleXor(float value, unsigned mask);
void syncThreads(unsigned barrier, unsigned threads);

void initBarrier(std::uint64_t* barrier, unsigned arrivals);
inline void publishBarriers() {}
void arrive(std::uint64_t* barrier);
void arriveExpecting(std::uint64_t* barrier, unsigned bytes);
void bulkCopy(void* shared, const void* global, unsigned bytes, std::uint64_t* barrier);
void waitPhase(std::uint64_t* barrier, unsigned parity, unsigned* fault);

void waitAtLeast(const unsigned* counter, unsigned target, unsigned* fault);
void addRelease(unsigned* counter, unsigned value);
void addRelease(unsigned long long* counter, unsigned long long value);
unsigned incrementWrapping(unsigned* counter, unsigned last);
inline void fenceAsyncProxy() {}
inline void waitForPreviousGrid() {}
inline void letNextGridStart() {}
unsigned long long globalTimerNs();

template <class T> T loadCoherent(const T* address) {
    return *address;
}

void multiplyTile(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                  std::uint32_t a3, std::uint32_t b0, std::uint32_t b1);

inline float exponential(float x) {
    return std::exp(x);
}
inline float inverseRoot(float x) {
    return 1.0F / std::sqrt(x);
}

} // namespace kerf::lab::simt

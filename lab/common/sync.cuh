// SPDX-License-Identifier: GPL-3.0-or-later
// Signals between blocks and copies into shared memory, all with bounded waits.
#pragma once

#include <cstdint>

namespace kerf::lab {

/// Tries before a wait gives up: seconds, as a try takes some hundred nanoseconds.
constexpr unsigned kMostTries = 1u << 22;
/// Counters that different blocks use lie this many words apart: no shared lines.
constexpr int kCounterStride = 64;

/// True when a wait should end: it ran out (raises `fault`), or another one did.
__device__ inline bool givesUp(unsigned tries, unsigned* fault) {
    if ((tries & 1023u) != 1023u) {
        return false;
    }
    if (tries >= kMostTries) {
        atomicExch(fault, 1u);
        return true;
    }
    return *static_cast<volatile unsigned*>(fault) != 0;
}

__device__ inline unsigned loadAcquire(const unsigned* counter) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}

__device__ inline void addRelease(unsigned* counter, unsigned value) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}

__device__ inline void waitAtLeast(const unsigned* counter, unsigned target, unsigned* fault) {
    for (unsigned tries = 0; loadAcquire(counter) < target; ++tries) {
        if (givesUp(tries, fault)) {
            return;
        }
    }
}

__device__ inline std::uint32_t sharedAddress(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void initBarrier(std::uint64_t* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
                 "r"(arrivals)
                 : "memory");
}

/// After initialising barriers, before copies use them.
__device__ inline void publishBarriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Starts a copy of `bytes` (a multiple of 16) that completes a phase of `barrier`.
__device__ inline void startBulkCopy(void* shared, const void* global, unsigned bytes,
                                     std::uint64_t* barrier) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
        "r"(bytes)
        : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(sharedAddress(shared)),
                 "l"(global), "r"(bytes), "r"(sharedAddress(barrier))
                 : "memory");
}

__device__ inline void waitPhase(std::uint64_t* barrier, unsigned parity, unsigned* fault) {
    for (unsigned tries = 0;; ++tries) {
        unsigned done;
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(sharedAddress(barrier)), "r"(parity)
                     : "memory");
        if (done != 0 || givesUp(tries, fault)) {
            return;
        }
    }
}

__device__ inline unsigned long long globalTimerNs() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

} // namespace kerf::lab

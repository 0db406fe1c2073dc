// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of simt.h, on a GPU (compute capability 9.0 and later).
#pragma once

#include "lab/common/sync.cuh"

#include <cstdint>

#define KERF_DEVICE __device__ inline
#define KERF_DEVICE_MEMBER __device__
#define KERF_UNROLL _Pragma("unroll")

namespace kerf::lab::simt {

using kerf::lab::globalTimerNs;
using kerf::lab::initBarrier;
using kerf::lab::publishBarriers;
using kerf::lab::waitPhase;

__device__ inline unsigned threadIndex() {
    return threadIdx.x;
}
__device__ inline unsigned blockIndex() {
    return blockIdx.x;
}
__device__ inline unsigned blockCount() {
    return gridDim.x;
}

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ inline void syncWarp() {
    __syncwarp();
}
__device__ inline std::uint32_t shuffle(std::uint32_t value, unsigned lane) {
    return __shfl_sync(kAllLanes, value, static_cast<int>(lane));
}
__device__ inline std::uint32_t shuffleXor(std::uint32_t value, unsigned mask) {
    return __shfl_xor_sync(kAllLanes, value, static_cast<int>(mask));
}
__device__ inline float shuffleXor(float value, unsigned mask) {
    return __shfl_xor_sync(kAllLanes, value, static_cast<int>(mask));
}
__device__ inline void syncThreads(unsigned barrier, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ inline void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier))
                 : "memory");
}
__device__ inline void arriveExpecting(std::uint64_t* barrier, unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
        "r"(bytes)
        : "memory");
}
__device__ inline void bulkCopy(void* shared, const void* global, unsigned bytes,
                                std::uint64_t* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(sharedAddress(shared)),
                 "l"(global), "r"(bytes), "r"(sharedAddress(barrier))
                 : "memory");
}

/// Counters run on from launch to launch and may wrap: compared by their distance.
__device__ inline void waitAtLeast(const unsigned* counter, unsigned target, unsigned* fault) {
    for (unsigned tries = 0; static_cast<int>(loadAcquire(counter) - target) < 0; ++tries) {
        if (givesUp(tries, fault)) {
            return;
        }
    }
}
__device__ inline void addRelease(unsigned* counter, unsigned value) {
    kerf::lab::addRelease(counter, value);
}
__device__ inline void addRelease(unsigned long long* counter, unsigned long long value) {
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(counter), "l"(value) : "memory");
}
__device__ inline unsigned incrementWrapping(unsigned* counter, unsigned last) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(last)
                 : "memory");
    return before;
}
__device__ inline void fenceAsyncProxy() {
    asm volatile("fence.proxy.async;" ::: "memory");
}
__device__ inline void waitForPreviousGrid() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
__device__ inline void letNextGridStart() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

template <class T> __device__ inline T loadCoherent(const T* address) {
    return __ldcg(address);
}

__device__ inline void multiplyTile(float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                    std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                    std::uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ inline float exponential(float x) {
    return __expf(x);
}
__device__ inline float inverseRoot(float x) {
    return rsqrtf(x);
}

} // namespace kerf::lab::simt

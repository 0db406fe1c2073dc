// SPDX-License-Identifier: GPL-3.0-or-later
// What kernel sources may call: on a GPU (cuda.cuh) or on the CPU, one thread at a time
// (emulated.h). Both offer the same functions in kerf::lab::simt:
//   threadIndex, blockIndex, blockCount
//   syncWarp, shuffle, shuffleXor         all 32 lanes of a warp together
//   syncThreads(barrier, threads)         named barrier of whole warps
//   initBarrier … waitPhase, bulkCopy     copies into shared memory that complete a barrier's phase
//   waitAtLeast, addRelease               events in device memory; waits are bounded on a GPU and
//                                         raise `fault` when they run out. Counters may wrap
//   incrementWrapping(counter, last)      value before; `last` wraps to 0; acquire and release
//   fenceAsyncProxy                       between plain writes and bulk copies of the same bytes
//   waitForPreviousGrid, letNextGridStart programmatic dependent launch
//   loadCoherent                          past the first-level cache: what other blocks wrote
//   multiplyTile                          m16n8k16 of bfloat16 pairs, float sums; all 32 lanes
#pragma once

#if defined(__CUDACC__)
#include "lab/simt/cuda.cuh"
#else
#include "lab/simt/emulated.h"
#endif

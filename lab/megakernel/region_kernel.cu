// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel of a region, compiled at run time for exactly its ops (kernel_source.h says with which
// definitions). nvcc compiles it too, with the definitions below, so that a build notices mistakes.
#include "lab/megakernel/worker.h"

#ifndef KERF_PADDED_BATCH
#define KERF_PADDED_BATCH 16
#define KERF_CONSUMER_WARPS 8
#define KERF_TENSOR_CORES 1
#define KERF_KINDS 0xffffffffU
#define KERF_EPILOGUES 0xffffffffU
#define KERF_TIMES 1
#endif

using Config =
    kerf::lab::WorkerConfig<KERF_PADDED_BATCH, KERF_CONSUMER_WARPS, KERF_TENSOR_CORES != 0,
                            KERF_KINDS, KERF_EPILOGUES, KERF_TIMES != 0>;

extern "C" __global__ void __launch_bounds__(Config::kThreads, 1)
    kerfRegion(const __grid_constant__ kerf::lab::RegionArguments region) {
    extern __shared__ __align__(1024) unsigned char shared[];
    kerf::lab::runWorker<Config>(region, shared);
}

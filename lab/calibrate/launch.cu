// SPDX-License-Identifier: GPL-3.0-or-later
// Launch gap of graph nodes, memset nodes, and the prologue of a persistent kernel.
#include "lab/calibrate/bench.h"
#include "lab/common/sync.cuh"

#include <memory>

namespace kerf::lab {
namespace {

constexpr int kFewNodes = 200;
constexpr int kManyNodes = 1000;
constexpr int kEmptyThreads = 128;

__global__ void empty() {}

/// The device half of programmatic launch: lets the next kernel start, waits for the one before.
__global__ void emptyDependent() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// What a persistent kernel does before its first copy: a pair of mbarriers a stage, made visible.
__device__ void setUpRing(unsigned char* ring) {
    auto* barriers = reinterpret_cast<std::uint64_t*>(ring);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kRingStages; ++stage) {
            initBarrier(barriers + 2 * stage, 1);
            initBarrier(barriers + 2 * stage + 1, 8);
        }
        publishBarriers();
    }
    __syncthreads();
}

__global__ void emptyPersistent() {
    extern __shared__ __align__(128) unsigned char ring[];
    setUpRing(ring);
}

/// Writes 8 words a block: its end waits until they are written.
__global__ void storingPersistent(unsigned* words) {
    extern __shared__ __align__(128) unsigned char ring[];
    setUpRing(ring);
    if (threadIdx.x < 8) {
        words[blockIdx.x * 8 + threadIdx.x] = threadIdx.x;
    }
}

void launchProgrammatic(void (*kernel)(), int blocks, cudaStream_t stream) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(kEmptyThreads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    KERF_CUDA(cudaLaunchKernelEx(&config, kernel));
}

/// µs a repetition of what `node` enqueues takes inside one graph.
template <class Node> Summary nodeUs(Bench& bench, const Node& node) {
    const auto chain = [&](int length) {
        return std::make_unique<Graph>(bench.stream, [&](cudaStream_t stream) {
            for (int i = 0; i < length; ++i) {
                node(stream);
            }
        });
    };
    const auto few = chain(kFewNodes);
    const auto many = chain(kManyNodes);
    return slopeUs(bench, kFewNodes, kManyNodes, [&](int length) {
        const Graph& graph = length == kFewNodes ? *few : *many;
        return bench.stream.elapsedUs([&] { graph.launch(bench.stream.get()); });
    });
}

Summary plainUs(Bench& bench, int blocks, int threads) {
    return nodeUs(bench, [=](cudaStream_t stream) { empty<<<blocks, threads, 0, stream>>>(); });
}

void measureGaps(Bench& bench) {
    Series plain{
        "launch_gap_us_by_blocks", "blocks", "us", {}, "chain of empty kernels in a graph"};
    Series edge{"launch_gap_pdl_us_by_blocks",
                "blocks",
                "us",
                {},
                "the same with programmatic edges, no device-side call"};
    Series device{"launch_gap_pdl_device_us_by_blocks",
                  "blocks",
                  "us",
                  {},
                  "programmatic edges, and launch_dependents then wait in the kernel"};
    for (const int blocks : {1, bench.sms, 8 * bench.sms}) {
        plain.points.push_back({double(blocks), plainUs(bench, blocks, kEmptyThreads)});
        edge.points.push_back({double(blocks), nodeUs(bench, [=](cudaStream_t stream) {
                                   launchProgrammatic(empty, blocks, stream);
                               })});
        device.points.push_back({double(blocks), nodeUs(bench, [=](cudaStream_t stream) {
                                     launchProgrammatic(emptyDependent, blocks, stream);
                                 })});
    }
    bench.add("launch_gap_us", "us", plain.points[1].y,
              "untraced time a node in a graph of empty kernels, one block of 128 threads an SM");
    bench.add("launch_gap_pdl_us", "us", edge.points[1].y,
              "the same with programmatic dependent launch edges");
    bench.found.series.insert(bench.found.series.end(), {plain, edge, device});
}

} // namespace

void measureLaunch(Bench& bench) {
    measureGaps(bench);
    const Summary gap = findFigure(bench.found, "launch_gap_us")->value;
    const Summary wide = plainUs(bench, bench.sms, kWorkerThreads);
    bench.add("empty_kernel_288_us", "us", wide,
              "an empty kernel of one block of 288 threads an SM, a node of a chain");

    DeviceArray<unsigned> counter(1);
    const Summary pair = nodeUs(bench, [&](cudaStream_t stream) {
        KERF_CUDA(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
        empty<<<bench.sms, kEmptyThreads, 0, stream>>>();
    });
    bench.add("memset_and_kernel_us", "us", pair, "a 4-byte memset node and an empty kernel");
    bench.add("memset_between_empty_us", "us",
              difference(pair, {2 * gap.median, 2 * gap.spread, gap.count}),
              "chain of (4-byte memset, empty kernel) a pair, less twice the launch gap of the "
              "chain of kernels alone");

    allowRing(emptyPersistent);
    const Summary persistent = nodeUs(bench, [&](cudaStream_t stream) {
        emptyPersistent<<<bench.sms, kWorkerThreads, kRingBytes, stream>>>();
    });
    bench.add("empty_persistent_kernel_us", "us", persistent,
              "288 threads and 192 KB of shared memory an SM, 12 mbarriers set up, then the end");
    bench.add("prologue_us", "us", difference(persistent, wide),
              "empty persistent kernel (288 threads, 192 KB of shared memory an SM, 12 mbarriers "
              "set up) less an empty kernel of as many threads, each a node of a chain");

    allowRing(storingPersistent);
    DeviceArray<unsigned> words(std::size_t(bench.sms) * 8);
    bench.add("storing_persistent_kernel_us", "us",
              nodeUs(bench,
                     [&](cudaStream_t stream) {
                         storingPersistent<<<bench.sms, kWorkerThreads, kRingBytes, stream>>>(
                             words.data());
                     }),
              "the empty persistent kernel with 8 words written a block at its end");

    const Summary alternating = nodeUs(bench, [&](cudaStream_t stream) {
        emptyPersistent<<<bench.sms, kWorkerThreads, kRingBytes, stream>>>();
        empty<<<bench.sms, kWorkerThreads, 0, stream>>>();
    });
    bench.add("persistent_and_plain_us", "us", alternating,
              "the persistent and the plain empty kernel in turn, a pair: what it takes beyond the "
              "two alone is the change of the shared memory split");
    const Summary after_memset = nodeUs(bench, [&](cudaStream_t stream) {
        KERF_CUDA(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
        emptyPersistent<<<bench.sms, kWorkerThreads, kRingBytes, stream>>>();
    });
    bench.add("memset_and_persistent_us", "us", after_memset,
              "a 4-byte memset node and an empty persistent kernel");
}

} // namespace kerf::lab

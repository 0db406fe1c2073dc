// SPDX-License-Identifier: GPL-3.0-or-later
// Programs for the collector's validation, one binary: workload MODE [NUMBERS…]. Each prints what a
// recording of it must hold, as "expect WHAT COUNT".
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t result = (call);                                                         \
        if (result != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result));                   \
            std::exit(3);                                                                          \
        }                                                                                          \
    } while (false)

namespace {

__global__ void empty() {}

__global__ void spin(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

__global__ void dependent(float* data) { // launched with a programmatic edge
    cudaGridDependencySynchronize();
    data[threadIdx.x + blockIdx.x * blockDim.x] += 1;
}

__global__ void primary(float* data) {
    cudaTriggerProgrammaticLaunchCompletion();
    data[threadIdx.x + blockIdx.x * blockDim.x] *= 2;
}

constexpr int kBlocks = 132;
constexpr int kThreads = 128;

void expect(const char* what, long long count) {
    std::printf("expect %s %lld\n", what, count);
    std::fflush(stdout);
}

double secondsSince(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

cudaGraphExec_t emptyGraph(cudaStream_t stream, int nodes) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i) {
        empty<<<kBlocks, kThreads, 0, stream>>>();
    }
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/// NODES empty kernels in a graph, launched LAUNCHES times: µs a node.
void emptyNodes(int nodes, int launches) {
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t exec = emptyGraph(stream, nodes);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) {
        CHECK(cudaGraphLaunch(exec, stream));
        if (i % 64 == 63) { // a bounded queue, as a program that uses what it computes has
            CHECK(cudaStreamSynchronize(stream));
        }
    }
    CHECK(cudaStreamSynchronize(stream));
    const double us = 1e6 * secondsSince(begin);
    std::printf("us_per_node %.4f\nseconds %.3f\n", us / nodes / launches, us / 1e6);
    expect("kernels", static_cast<long long>(nodes) * (launches + 1));
    expect("graph_nodes", nodes);
    expect("graph_edges", nodes - 1);
}

/// A graph with a fork into three branches, a join, a memset, a copy and a programmatic edge.
void branches(int launches) {
    float* data = nullptr;
    CHECK(cudaMalloc(&data, kBlocks * kThreads * sizeof(float)));
    cudaStream_t stream = nullptr;
    cudaStream_t sides[2] = {};
    CHECK(cudaStreamCreate(&stream));
    cudaEvent_t forked = nullptr;
    cudaEvent_t joined[2] = {};
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaStreamCreateWithPriority(&sides[i], cudaStreamNonBlocking, i == 0 ? 0 : -1));
        CHECK(cudaEventCreateWithFlags(&joined[i], cudaEventDisableTiming));
    }
    constexpr long long kCycles = 20'000; // 10 µs
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(data, 0, kBlocks * kThreads * sizeof(float), stream));
    CHECK(cudaEventRecord(forked, stream));
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaStreamWaitEvent(sides[i], forked, 0));
        spin<<<16, kThreads, 0, sides[i]>>>(kCycles);
        spin<<<16, kThreads, 0, sides[i]>>>(kCycles / 2);
        CHECK(cudaEventRecord(joined[i], sides[i]));
    }
    spin<<<16, kThreads, 0, stream>>>(2 * kCycles);
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaStreamWaitEvent(stream, joined[i], 0));
    }
    primary<<<kBlocks, kThreads, 0, stream>>>(data);
    cudaLaunchConfig_t config{};
    config.gridDim = kBlocks;
    config.blockDim = kThreads;
    config.stream = stream;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, dependent, data));
    CHECK(cudaMemcpyAsync(data, data + kThreads, kThreads * sizeof(float), cudaMemcpyDeviceToDevice,
                          stream));
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int i = 0; i < launches; ++i) {
        nvtxRangePushA(i % 2 == 0 ? "even step" : "odd step");
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        nvtxRangePop();
    }
    // memset, 2 × 2 side kernels, main kernel, primary, dependent, copy
    expect("kernels", 7LL * launches);
    expect("memsets", launches);
    expect("copies", launches);
    expect("graph_nodes", 9);
    // memset → 3 branches, 2 inside the sides, 3 into the join, programmatic, → copy
    expect("graph_edges", 10);
    expect("programmatic_edges", 1);
    expect("annotations", launches);
}

void launches(int count) {
    for (int i = 0; i < count; ++i) {
        empty<<<1, 32>>>();
    }
    CHECK(cudaDeviceSynchronize());
}

void threads(int count, int each) {
    std::vector<std::thread> running;
    for (int i = 0; i < count; ++i) {
        running.emplace_back([each] {
            cudaStream_t stream = nullptr;
            CHECK(cudaStreamCreate(&stream));
            for (int k = 0; k < each; ++k) {
                empty<<<1, 32, 0, stream>>>();
            }
            CHECK(cudaStreamSynchronize(stream));
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    expect("kernels", static_cast<long long>(count) * each);
}

/// Half of the launches lie in the range "wanted", a quarter between the profiler's start and stop.
void ranges() {
    launches(25);
    nvtxRangePushA("wanted");
    launches(50);
    nvtxRangePop();
    CHECK(cudaProfilerStart());
    launches(25);
    CHECK(cudaProfilerStop());
    nvtxRangePushA("other");
    launches(25);
    nvtxRangePop();
}

[[noreturn]] void endBy(const std::string& way) {
    launches(1000);
    expect("kernels", 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(600)); // beyond a flush and a commit
    std::printf("printed before the end\n");
    std::fflush(stdout);
    if (way == "exit") {
        std::exit(7);
    } else if (way == "_exit") {
        _exit(8);
    } else if (way == "abort") {
        std::abort();
    } else if (way == "throw") {
        throw std::runtime_error("thrown on purpose");
    } else if (way == "sigterm") {
        raise(SIGTERM);
    } else if (way == "sigkill") {
        raise(SIGKILL);
    } else if (way == "fork") {
        const pid_t child = fork();
        if (child == 0) {
            std::exit(0); // runs what atexit has of the parent
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    std::exit(0);
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    const auto number = [&](int at, int otherwise) {
        return argc > at ? std::atoi(argv[at]) : otherwise;
    };
    if (mode == "empty") {
        emptyNodes(number(2, 500), number(3, 200));
    } else if (mode == "branches") {
        branches(number(2, 20));
    } else if (mode == "launches") {
        launches(number(2, 1000));
        expect("kernels", number(2, 1000));
    } else if (mode == "threads") {
        threads(number(2, 8), number(3, 5000));
    } else if (mode == "ranges") {
        ranges();
    } else if (mode == "end" && argc > 2) {
        endBy(argv[2]);
    } else if (mode == "spawn") { // a child process that records for itself
        launches(10);
        const pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", argv[0], "launches", "20", nullptr);
            _exit(99);
        }
        int status = 0;
        waitpid(child, &status, 0);
        expect("kernels", 10);
        return WEXITSTATUS(status);
    } else {
        std::fprintf(stderr,
                     "usage: workload empty NODES LAUNCHES | branches LAUNCHES | launches N | "
                     "threads N EACH | ranges | end WAY | spawn\n");
        return 2;
    }
    return 0;
}

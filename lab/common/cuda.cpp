// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/cuda.h"

#include "lab/common/lab_error.h"

#include <string>

namespace kerf::lab {

void checkCuda(cudaError_t result, const char* call, const char* file, int line) {
    if (result != cudaSuccess) {
        throw LabError(std::string("CUDA: ") + call + ": " + cudaGetErrorString(result) + " (" +
                       file + ":" + std::to_string(line) + ")");
    }
}

Stream::Stream() {
    KERF_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    KERF_CUDA(cudaEventCreate(&begin_));
    KERF_CUDA(cudaEventCreate(&end_));
}

Stream::~Stream() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
}

double Stream::elapsedUs(const std::function<void()>& work) {
    KERF_CUDA(cudaEventRecord(begin_, stream_));
    work();
    KERF_CUDA(cudaGetLastError());
    KERF_CUDA(cudaEventRecord(end_, stream_));
    KERF_CUDA(cudaEventSynchronize(end_));
    float ms = 0;
    KERF_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return 1e3 * static_cast<double>(ms);
}

Graph::Graph(const Stream& stream, const std::function<void(cudaStream_t)>& record) {
    cudaGraph_t graph = nullptr;
    KERF_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    record(stream.get());
    KERF_CUDA(cudaStreamEndCapture(stream.get(), &graph));
    const cudaError_t result = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    KERF_CUDA(result);
    KERF_CUDA(cudaGraphUpload(executable_, stream.get()));
}

Graph::~Graph() {
    cudaGraphExecDestroy(executable_);
}

void Graph::launch(cudaStream_t stream) const {
    KERF_CUDA(cudaGraphLaunch(executable_, stream));
}

Watchdog::Watchdog() : flag_(1) {
    KERF_CUDA(cudaMemset(flag_.data(), 0, sizeof(unsigned)));
}

void Watchdog::check(const char* what) const {
    if (flag_.download().front() != 0) {
        throw LabError(std::string("calibrate: ") + what +
                       ": a wait ran out. Is another program using the GPU, so that not all "
                       "blocks run at once?");
    }
}

} // namespace kerf::lab

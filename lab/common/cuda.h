// SPDX-License-Identifier: GPL-3.0-or-later
// The host side of CUDA: checked calls and owners of what it hands out.
#pragma once

#include <cstddef>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

namespace kerf::lab {

/// Throws LabError with the call's text when it failed.
void checkCuda(cudaError_t result, const char* call, const char* file, int line);
#define KERF_CUDA(call) ::kerf::lab::checkCuda((call), #call, __FILE__, __LINE__)

/// Device memory of `count` values.
template <class T> class DeviceArray {
public:
    explicit DeviceArray(std::size_t count) : count_(count) {
        KERF_CUDA(cudaMalloc(&data_, count * sizeof(T)));
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    void clear(cudaStream_t stream) {
        KERF_CUDA(cudaMemsetAsync(data_, 0, count_ * sizeof(T), stream));
    }
    /// Waits until the values have arrived: a copy from pageable memory returns before, and the
    /// streams used here do not wait for it.
    void upload(const std::vector<T>& values) {
        KERF_CUDA(
            cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
        KERF_CUDA(cudaDeviceSynchronize());
    }
    /// Waits for the device.
    [[nodiscard]] std::vector<T> download() const {
        std::vector<T> values(count_);
        KERF_CUDA(cudaDeviceSynchronize());
        KERF_CUDA(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

/// A stream and a pair of events that time work on it.
class Stream {
public:
    Stream();
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] cudaStream_t get() const { return stream_; }
    /// µs between an event before and one after `work`, which enqueues on this stream.
    double elapsedUs(const std::function<void()>& work);

private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

/// An instantiated graph of what `record` enqueues.
class Graph {
public:
    Graph(const Stream& stream, const std::function<void(cudaStream_t)>& record);
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    void launch(cudaStream_t stream) const;

private:
    cudaGraphExec_t executable_ = nullptr;
};

/// A flag that kernels raise when a bounded wait ran out.
class Watchdog {
public:
    Watchdog();
    [[nodiscard]] unsigned* flag() const { return flag_.data(); }
    /// Throws LabError when the flag is raised: `what` waited for something that never came.
    void check(const char* what) const;

private:
    DeviceArray<unsigned> flag_;
};

} // namespace kerf::lab

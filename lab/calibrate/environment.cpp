// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/calibrate/environment.h"

#include "lab/common/cuda.h"

#include <array>
#include <ctime>
#include <dlfcn.h>
#include <memory>

namespace kerf::lab {
namespace {

/// The management library that comes with the driver, loaded when it is there.
class Management {
public:
    Management() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
        const auto init = find<int()>("nvmlInit_v2");
        ready_ = init != nullptr && init() == 0;
    }
    ~Management() {
        if (const auto shutdown = ready_ ? find<int()>("nvmlShutdown") : nullptr) {
            shutdown();
        }
        if (library_ != nullptr) {
            dlclose(library_);
        }
    }
    Management(const Management&) = delete;
    Management& operator=(const Management&) = delete;

    [[nodiscard]] std::string driver() const {
        std::array<char, 96> version{};
        const auto read = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
        if (!ready_ || read == nullptr || read(version.data(), version.size()) != 0) {
            return "unknown";
        }
        return version.data();
    }

    [[nodiscard]] int memoryClockMhz(const cudaDeviceProp& properties) const {
        constexpr int kMemoryClock = 2;
        std::array<char, 32> address{};
        void* device = nullptr;
        unsigned mhz = 0;
        const auto find_device = find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
        const auto read = find<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
        std::snprintf(address.data(), address.size(), "%08x:%02x:%02x.0",
                      static_cast<unsigned>(properties.pciDomainID),
                      static_cast<unsigned>(properties.pciBusID),
                      static_cast<unsigned>(properties.pciDeviceID));
        if (!ready_ || find_device == nullptr || read == nullptr ||
            find_device(address.data(), &device) != 0 || read(device, kMemoryClock, &mhz) != 0) {
            return 0;
        }
        return static_cast<int>(mhz);
    }

private:
    template <class Function> [[nodiscard]] Function* find(const char* name) const {
        return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
    }

    void* library_ = nullptr;
    bool ready_ = false;
};

std::string versionText(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace

Limits readLimits(const cudaDeviceProp& properties) {
    Limits limits;
    limits.sm_count = properties.multiProcessorCount;
    limits.l2_bytes = properties.l2CacheSize;
    limits.registers_per_sm = properties.regsPerMultiprocessor;
    limits.shared_bytes_per_sm = static_cast<int>(properties.sharedMemPerMultiprocessor);
    limits.shared_bytes_per_block_max = static_cast<int>(properties.sharedMemPerBlockOptin);
    limits.shared_bytes_reserved_per_block = static_cast<int>(properties.reservedSharedMemPerBlock);
    limits.max_threads_per_sm = properties.maxThreadsPerMultiProcessor;
    limits.max_blocks_per_sm = properties.maxBlocksPerMultiProcessor;
    return limits;
}

Environment readEnvironment(const cudaDeviceProp& properties) {
    Environment environment;
    const Management management;
    environment.gpu = properties.name;
    environment.driver = management.driver();
    environment.memory_clock_mhz = management.memoryClockMhz(properties);
    int runtime = 0;
    KERF_CUDA(cudaRuntimeGetVersion(&runtime));
    environment.cuda = versionText(runtime);
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 16> date{};
    std::strftime(date.data(), date.size(), "%Y-%m-%d", &utc);
    environment.date = date.data();
    return environment;
}

} // namespace kerf::lab

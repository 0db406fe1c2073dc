// SPDX-License-Identifier: GPL-3.0-or-later
// A program under the recorder: does what the CUDA driver does at its start (calls the injected
// library), has the stand-in for CUPTI say that kernels ran, and ends in the way that it is told.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/// At the end of a fork's child the leak check waits for ever for threads that were not copied.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}
#endif

namespace {

void startCuda() {
    const char* library = std::getenv("CUDA_INJECTION64_PATH");
    void* loaded = library != nullptr ? dlopen(library, RTLD_NOW) : nullptr;
    if (auto* start = loaded != nullptr
                          ? reinterpret_cast<int (*)()>(dlsym(loaded, "InitializeInjection"))
                          : nullptr;
        start != nullptr) {
        start();
    }
}

/// Calls `function` of the stand-in for CUPTI, where the program is recorded with it.
void tellCupti(const char* function, std::size_t count) {
    const char* library = std::getenv("KERF_RECORD_CUPTI");
    void* loaded = library != nullptr ? dlopen(library, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    if (auto* run = loaded != nullptr
                        ? reinterpret_cast<void (*)(std::size_t)>(dlsym(loaded, function))
                        : nullptr;
        run != nullptr) {
        run(count);
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::string way = argc > 1 ? argv[1] : "return";
    const std::size_t kernels = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100;
    startCuda();
    tellCupti(way == "clone" ? "fakeCloneNodes" : "fakeRunKernels", kernels);
    std::puts("output of the program");
    std::fflush(stdout);
    const auto committed = [] { std::this_thread::sleep_for(std::chrono::milliseconds(900)); };
    if (way == "exit") {
        std::exit(7);
    } else if (way == "_exit") {
        committed();
        _exit(8);
    } else if (way == "abort") {
        committed();
        std::abort();
    } else if (way == "throw") {
        committed();
        throw std::runtime_error("thrown on purpose");
    } else if (way == "kill") {
        committed();
        raise(SIGKILL);
    } else if (way == "wait") { // for a signal from outside
        std::this_thread::sleep_for(std::chrono::seconds(20));
    } else if (way == "fork") {
        if (fork() == 0) {
            std::exit(0); // runs what atexit has of the parent
        }
        int status = 0;
        wait(&status);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    } else if (way == "child") { // another process that records for itself
        if (fork() == 0) {
            execl("/proc/self/exe", argv[0], "return", "30", nullptr);
            _exit(99);
        }
        int status = 0;
        wait(&status);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    }
    return 0;
}

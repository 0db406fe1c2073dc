// SPDX-License-Identifier: GPL-3.0-or-later
// What the CUDA driver calls when CUDA_INJECTION64_PATH names this library. Nothing may leave it by
// an exception, and whatever happens the program runs on.
#include "cupti_collector/injection/collector.h"

#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace {

kerf::collector::Collector* collector = nullptr; // never destroyed: CUPTI may still call

void tell(const std::string& why) {
    const std::string line = "kerf-record: nothing is recorded: " + why + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

const char* environment(const char* name) {
    return std::getenv(name);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
    if (collector != nullptr) {
        return 1;
    }
    try {
        auto options = kerf::collector::fromEnvironment(environment);
        if (options.output.empty()) {
            tell("no file is named; start the program by kerf-record");
            return 1;
        }
        collector = new kerf::collector::Collector(std::move(options));
        if (const std::string why = collector->start(); !why.empty()) {
            tell(why);
            collector->standDown();
            return 1;
        }
        // Runs before the driver's own end, which was registered earlier.
        std::atexit([] { collector->end(); });
        pthread_atfork(nullptr, nullptr, [] { collector->standDown(); });
    } catch (const std::exception& error) {
        tell(error.what());
        if (collector != nullptr) {
            collector->standDown();
        }
    }
    return 1;
}

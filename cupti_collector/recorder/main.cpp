// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-record: runs a program with the collector inside.
#include "cupti_collector/cupti/cupti_api.h"
#include "cupti_collector/injection/options.h"
#include "cupti_collector/recorder/launch.h"
#include "cupti_collector/recorder/summary.h"
#include "cupti_collector/store/database.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace kerf::collector;
namespace fs = std::filesystem;

namespace {

constexpr int kWrongUse = 125; // as env(1) and timeout(1): not a code that programs use
constexpr int kCannotStart = 127;

void tell(const std::string& line) {
    std::fprintf(stderr, "kerf-record: %s\n", line.c_str());
}

/// The library beside this program, or where installations put it.
std::string injectionLibrary() {
    const fs::path self = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& folder : {self, self / KERF_INJECT_FOLDER}) {
        const fs::path library = folder / "libkerf-inject.so";
        if (fs::exists(library)) {
            return fs::canonical(library);
        }
    }
    return {};
}

std::string commandLine(const std::vector<std::string>& arguments) {
    std::string line;
    for (const std::string& argument : arguments) {
        line += (line.empty() ? "" : " ") + argument;
    }
    return line;
}

/// Files that other processes of the run wrote: run.PID.kerfrec beside run.kerfrec.
std::vector<std::string> filesOfOthers(const fs::path& output, fs::file_time_type begun) {
    const std::string begin = output.stem().string() + ".";
    const std::string end = output.extension().string();
    const fs::path folder = fs::absolute(output).parent_path();
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) ||
            !name.ends_with(end)) {
            continue;
        }
        const std::string middle =
            name.substr(begin.size(), name.size() - begin.size() - end.size());
        std::error_code gone;
        if (middle.find_first_not_of("0123456789-") == std::string::npos &&
            entry.last_write_time(gone) >= begun && !gone) {
            files.push_back((output.parent_path() / name).string());
        }
    }
    std::ranges::sort(files);
    return files;
}

struct Settings {
    Options options;
    std::vector<std::string> passes{"node"};
    std::vector<std::string> program;
    bool overwrite = false;
};

/// One run of the program. What it leaves behind a crash is folded into the file.
Ended runOnce(const Settings& settings, const std::string& library, const std::string& pass,
              const std::string& output) {
    Options options = settings.options;
    options.pass = pass;
    options.output = fs::absolute(output);
    options.command = commandLine(settings.program);
    auto variables = toEnvironment(options);
    variables["CUDA_INJECTION64_PATH"] = library;
    CuptiApi cupti;
    if (std::getenv("NVTX_INJECTION64_PATH") == nullptr && cupti.load(options.cupti).empty()) {
        variables["NVTX_INJECTION64_PATH"] = cupti.path; // ranges reach CUPTI through this
    }
    const std::string owner = "KERF_RECORD_OWNER";
    variables.erase(owner);
    Ended ended = launch(settings.program, variables, owner);
    if (ended.error.empty() && fs::exists(options.output)) {
        if (const std::string wrong = recoverDatabase(options.output); !wrong.empty()) {
            tell(options.output + ": " + wrong);
        }
    }
    return ended;
}

int run(const Settings& settings) {
    const std::string library = injectionLibrary();
    if (library.empty()) {
        tell("libkerf-inject.so is not beside this program: install both together");
        return kWrongUse;
    }
    const std::string& output = settings.options.output;
    if (fs::exists(output)) {
        if (!settings.overwrite) {
            tell(output + " exists; name another file, or add --force to replace it");
            return kWrongUse;
        }
        std::error_code ignored;
        fs::remove(output, ignored);
    }
    const auto begun = fs::file_time_type::clock::now() - std::chrono::seconds(1); // coarse clocks
    const std::string untraced = output + ".untraced";
    std::error_code none;
    fs::remove(untraced, none); // one that an interrupted recording left is not of this run
    Ended ended;
    for (const std::string& pass : settings.passes) {
        const bool is_untraced = pass == "untraced";
        const std::string file = is_untraced && settings.passes.size() > 1 ? untraced : output;
        ended = runOnce(settings, library, is_untraced ? "graph" : pass, file);
        if (!ended.error.empty()) {
            tell(settings.program.front() + ": " + ended.error);
            return kCannotStart;
        }
        if (ended.signal != 0 || ended.exit_code != 0) {
            // Its end is the answer: it may have been stopped on purpose.
            if (&pass != &settings.passes.back()) {
                tell("the pass \"" + pass + "\" failed or was stopped, so no other follows; " +
                     (fs::exists(file) ? file + " has what it recorded" : "it recorded nothing"));
            }
            break;
        }
    }
    const auto others = filesOfOthers(output, begun);
    for (const std::string& file : others) {
        const std::string wrong = recoverDatabase(file);
        tell(wrong.empty() ? summaryOf(file) : file + ": " + wrong);
    }
    if (!fs::exists(output) && !fs::exists(untraced) && others.empty()) {
        tell("nothing was recorded: the program made no CUDA context");
    } else if (fs::exists(output)) {
        tell(summaryOf(output));
        if (fs::exists(untraced)) {
            tell(joinPasses(untraced, output));
            fs::remove(untraced);
        }
    }
    std::fflush(stderr);
    endAs(ended);
}

} // namespace

int main(int argc, char** argv) {
    Settings settings;
    Options& options = settings.options;
    CLI::App app("Records the GPU work of a program as a file for Kerf, without changing what the "
                 "program does:\n  kerf-record [OPTIONS] -o RUN.kerfrec -- PROGRAM ARGUMENTS…");
    app.footer("The exit code is the program's; 125: wrong use, 127: the program cannot start.");
    std::string graph_trace = "node";
    bool no_api = false;
    bool no_sync = false;
    app.add_option("-o,--output", options.output, "File to write (*.kerfrec)")->required();
    app.add_flag("--force", settings.overwrite, "Replace the file");
    app.add_option("--graph-trace", graph_trace,
                   "node: every node of a graph; graph: each launch of a graph as a whole, with "
                   "little overhead; off: no kernels")
        ->check(CLI::IsMember({"node", "graph", "off"}));
    app.add_option("--passes", settings.passes,
                   "Runs of the program, in order: untraced (launches as a whole), node. Two runs "
                   "show what tracing costs")
        ->delimiter(',')
        ->check(CLI::IsMember({"untraced", "node", "graph"}));
    app.add_flag("--no-api-calls", no_api, "Leave out host calls (and external ids)");
    app.add_flag("--no-synchronizations", no_sync, "Leave out waits of the host");
    app.add_option("--nvtx-range", options.range,
                   "Record while a pushed range of this name is open");
    app.add_flag("--profiler-api", options.profiler_api,
                 "Record between cudaProfilerStart and cudaProfilerStop");
    app.add_option("--delay-ms", options.delay_ms, "Begin so long after CUDA's start")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--duration-ms", options.duration_ms, "Record for so long; 0: until the end")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--model", options.model, "Name of the model, for the file");
    app.add_option("--batch", options.batch, "Batch size, for the file")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--buffer-mb", options.buffer_mb,
                   "Most memory for records that are not written yet")
        ->check(CLI::Range(8, 65536))
        ->capture_default_str();
    app.add_option("--cupti", options.cupti, "CUPTI's library, where it is not found");
    app.add_flag("--verbose", options.verbose, "Tell when recording starts and stops");
    app.add_option("program", settings.program, "Program and its arguments")->required();
    app.positionals_at_end();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : kWrongUse;
    }
    options.api_calls = !no_api;
    options.synchronizations = !no_sync;
    if (app.count("--passes") == 0) {
        settings.passes = {graph_trace};
    }
    return run(settings);
}

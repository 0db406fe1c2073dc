// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/recorder/launch.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kerf::collector {
namespace {

volatile sig_atomic_t program = 0;

/// Signals that people and servers send to end, pause or poke a program. From a terminal the
/// program gets SIGINT and SIGQUIT itself, as it is in the same group.
constexpr int kPassedOn[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
constexpr int kIgnored[] = {SIGINT, SIGQUIT};

/// Catches and ignores signals while it lives, then gives them back: an ignored signal would stay
/// ignored in the program of the next pass, and one that nohup ignores would not.
class SignalsOfProgram {
public:
    explicit SignalsOfProgram(void (*pass)(int)) {
        struct sigaction to {};
        to.sa_handler = pass;
        to.sa_flags = SA_RESTART;
        std::size_t next = 0;
        for (const int signal : kPassedOn) {
            sigaction(signal, &to, &before_[next++]);
        }
        to.sa_handler = SIG_IGN;
        for (const int signal : kIgnored) {
            sigaction(signal, &to, &before_[next++]);
        }
    }
    ~SignalsOfProgram() {
        std::size_t next = 0;
        for (const int signal : kPassedOn) {
            sigaction(signal, &before_[next++], nullptr);
        }
        for (const int signal : kIgnored) {
            sigaction(signal, &before_[next++], nullptr);
        }
    }
    SignalsOfProgram(const SignalsOfProgram&) = delete;
    SignalsOfProgram& operator=(const SignalsOfProgram&) = delete;

private:
    std::array<struct sigaction, std::size(kPassedOn) + std::size(kIgnored)> before_{};
};

void passOn(int signal) {
    if (program > 0) {
        kill(static_cast<pid_t>(program), signal);
    }
}

[[noreturn]] void become(const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& variables,
                         const std::string& owner_variable, int error_pipe) {
    for (const auto& [name, value] : variables) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    setenv(owner_variable.c_str(), std::to_string(getpid()).c_str(), 1);
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) {
        pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    execvp(pointers.front(), pointers.data());
    const int error = errno;
    [[maybe_unused]] const auto written = write(error_pipe, &error, sizeof(error));
    _exit(127);
}

} // namespace

Ended launch(const std::vector<std::string>& arguments,
             const std::map<std::string, std::string>& variables,
             const std::string& owner_variable) {
    Ended ended;
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        ended.error = std::strerror(errno);
        return ended;
    }
    const pid_t child = fork();
    if (child < 0) {
        ended.error = std::strerror(errno);
        return ended;
    }
    if (child == 0) {
        become(arguments, variables, owner_variable, pipe_ends[1]);
    }
    program = child;
    close(pipe_ends[1]);
    const SignalsOfProgram signals(passOn);
    int error = 0;
    if (read(pipe_ends[0], &error, sizeof(error)) == sizeof(error)) {
        ended.error = std::strerror(error);
    }
    close(pipe_ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    program = 0;
    if (WIFSIGNALED(status)) {
        ended.signal = WTERMSIG(status);
    } else {
        ended.exit_code = WEXITSTATUS(status);
    }
    return ended;
}

void endAs(const Ended& ended) {
    if (ended.signal != 0) {
        const rlimit no_core{0, 0}; // the program has left its own, if any
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(ended.signal, SIG_DFL);
        raise(ended.signal);
    }
    _exit(ended.exit_code);
}

} // namespace kerf::collector

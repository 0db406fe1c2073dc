// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace kerf {

namespace {

bool writeAll(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const auto written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        content.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return ::fsync(descriptor) == 0;
}

} // namespace

Expected<void> writeFileAtomically(const std::filesystem::path& file, std::string_view content) {
    const auto temporary = file.string() + fmt::format(".{}.tmp", ::getpid());
    const auto failed = [&](const char* step) {
        const std::string reason = std::strerror(errno);
        ::unlink(temporary.c_str());
        return fail(fmt::format("cannot be {}: {}", step, reason), file.string(),
                    "What was there before is unchanged.");
    };
    const int descriptor =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        return failed("created");
    }
    const bool written = writeAll(descriptor, content);
    if (::close(descriptor) != 0 || !written) {
        return failed("written");
    }
    if (::rename(temporary.c_str(), file.c_str()) != 0) {
        return failed("replaced");
    }
    return {};
}

} // namespace kerf

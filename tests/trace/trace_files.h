// SPDX-License-Identifier: GPL-3.0-or-later
// Small synthetic traces for tests.
#pragma once

#include <QTemporaryDir>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <string_view>
#include <zlib.h>

namespace kerf::test {

/// A folder that lives as long as the test.
class TraceFolder {
public:
    /// Writes `content` as it is; returns the file's path.
    std::filesystem::path write(std::string_view name, std::string_view content) const {
        const auto path = std::filesystem::path(folder_.path().toStdString()) / name;
        std::ofstream file(path, std::ios::binary);
        file.write(content.data(), static_cast<std::streamsize>(content.size()));
        return path;
    }
    [[nodiscard]] std::filesystem::path path() const { return folder_.path().toStdString(); }

private:
    QTemporaryDir folder_;
};

/// `content` as one gzip member.
inline std::string gzip(std::string_view content) {
    z_stream stream{};
    deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

/// A kernel event; times are written as given.
inline std::string kernelEvent(std::string_view start_us, std::string_view duration_us,
                               std::string_view name = "gemm", int stream = 7) {
    return fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {{"device": 0, "stream": {}, "correlation": 5, "grid": [4, 1, 1], )"
        R"("block": [128, 1, 1]}}}})",
        name, stream, start_us, duration_us, stream);
}

/// A trace of these events.
inline std::string traceOf(std::string_view events) {
    return fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}], "traceName": "t"}})", events);
}

} // namespace kerf::test

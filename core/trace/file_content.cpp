// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/file_content.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <zlib.h>

namespace kerf::trace {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
constexpr std::string_view kRecordAgain = "Copy or record the file again.";

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct OpenedFile {
    File file;
    std::uint64_t bytes = 0;
    bool compressed = false;
};

Expected<OpenedFile> openFile(const std::filesystem::path& path) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status)) {
        return fail("there is no such file", path.string(), "Check the path.");
    }
    if (std::filesystem::is_directory(status)) {
        return fail("this is a folder, not a recording", path.string(), "Name the files in it.");
    }
    OpenedFile opened;
    opened.file.reset(std::fopen(path.c_str(), "rb"));
    if (!opened.file) {
        return fail(fmt::format("the file cannot be opened: {}", std::strerror(errno)),
                    path.string(), "Check its permissions.");
    }
    opened.bytes = std::filesystem::file_size(path, code);
    if (code) {
        opened.bytes = 0; // a pipe: its size is not known beforehand
    }
    unsigned char magic[2] = {};
    const std::size_t got = std::fread(magic, 1, sizeof magic, opened.file.get());
    if (got == 0) {
        return fail("the file is empty", path.string(), std::string(kRecordAgain));
    }
    opened.compressed = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    std::rewind(opened.file.get());
    return opened;
}

/// Hands the unpacked content of a file out, piece by piece.
class Source {
public:
    Source(const std::filesystem::path& path, OpenedFile opened)
        : path_(path.string()), file_(std::move(opened.file)), compressed_(opened.compressed),
          input_(compressed_ ? kChunkBytes : 0, '\0') {
        if (compressed_) {
            // 16 selects the gzip wrapper
            inflateInit2(&stream_, MAX_WBITS + 16);
        }
    }
    ~Source() {
        if (compressed_) {
            inflateEnd(&stream_);
        }
    }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// Fills `out`; fewer bytes than asked for mean the end of the content.
    Expected<std::size_t> read(char* out, std::size_t bytes) {
        return compressed_ ? readGzip(out, bytes) : readPlain(out, bytes);
    }

    /// Bytes of the file that were consumed so far.
    [[nodiscard]] std::uint64_t position() const { return file_bytes_ - stream_.avail_in; }

private:
    tl::unexpected<Error> readFailure() const {
        return fail(fmt::format("reading failed: {}", std::strerror(errno)),
                    fmt::format("{}, byte {}", path_, file_bytes_));
    }

    Expected<std::size_t> readPlain(char* out, std::size_t bytes) {
        const std::size_t got = std::fread(out, 1, bytes, file_.get());
        file_bytes_ += got;
        if (got < bytes && std::ferror(file_.get()) != 0) {
            return readFailure();
        }
        return got;
    }

    Expected<std::size_t> refill() {
        const std::size_t got = std::fread(input_.data(), 1, input_.size(), file_.get());
        if (got == 0 && std::ferror(file_.get()) != 0) {
            return readFailure();
        }
        file_bytes_ += got;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(got);
        return got;
    }

    Expected<std::size_t> readGzip(char* out, std::size_t bytes) {
        stream_.next_out = reinterpret_cast<Bytef*>(out);
        stream_.avail_out = static_cast<uInt>(bytes);
        while (stream_.avail_out > 0) {
            if (stream_.avail_in == 0) {
                const auto got = refill();
                if (!got) {
                    return tl::unexpected(got.error());
                }
                if (*got == 0) {
                    if (between_members_) {
                        break;
                    }
                    return fail(fmt::format("the gzip data ends early, after {} unpacked bytes",
                                            unpacked_ + (bytes - stream_.avail_out)),
                                fmt::format("{}, byte {}", path_, file_bytes_),
                                std::string(kRecordAgain));
                }
            }
            if (between_members_ && *stream_.next_in == 0) { // zeros pad some archives
                ++stream_.next_in;
                --stream_.avail_in;
                continue;
            }
            between_members_ = false;
            const int result = inflate(&stream_, Z_NO_FLUSH);
            if (result == Z_STREAM_END) {
                between_members_ = true;
                inflateReset(&stream_);
            } else if (result != Z_OK && result != Z_BUF_ERROR) {
                return fail(fmt::format("the gzip data is damaged ({})",
                                        stream_.msg != nullptr ? stream_.msg : zError(result)),
                            fmt::format("{}, byte {}", path_, position()),
                            std::string(kRecordAgain));
            }
        }
        const std::size_t done = bytes - stream_.avail_out;
        unpacked_ += done;
        return done;
    }

    std::string path_;
    File file_;
    bool compressed_;
    std::string input_;
    z_stream stream_{};
    std::uint64_t file_bytes_ = 0; ///< read from the file
    std::uint64_t unpacked_ = 0;   ///< handed out
    bool between_members_ = false;
};

} // namespace

Expected<FileContent> loadFile(const std::filesystem::path& path, Progress& progress,
                               double share_of_progress, std::uint64_t limit) {
    auto opened = openFile(path);
    if (!opened) {
        return tl::unexpected(opened.error());
    }
    const auto tooLarge = [&] {
        return fail(fmt::format("the content is larger than {} bytes", limit), path.string(),
                    "Record fewer steps, or split the trace.");
    };
    if (!opened->compressed && opened->bytes > limit) {
        return tooLarge();
    }
    const std::uint64_t file_bytes = std::max<std::uint64_t>(opened->bytes, 1);
    FileContent content;
    content.compressed = opened->compressed;
    // traces shrink about ten to one; too small a guess costs one copy
    content.buffer.resize(
        std::min<std::uint64_t>(file_bytes * (content.compressed ? 12 : 1), limit) +
        kContentPadding);
    Source source(path, std::move(*opened));
    for (;;) {
        if (!progress.step(share_of_progress *
                               std::min(1.0, static_cast<double>(source.position()) /
                                                 static_cast<double>(file_bytes)),
                           "reading the file")) {
            return fail("reading was cancelled", path.string());
        }
        if (content.size + kChunkBytes + kContentPadding > content.buffer.size()) {
            content.buffer.resize(content.size + content.size / 2 + kChunkBytes + kContentPadding);
        }
        const auto got = source.read(content.buffer.data() + content.size, kChunkBytes);
        if (!got) {
            return tl::unexpected(got.error());
        }
        content.size += *got;
        if (content.size > limit) {
            return tooLarge();
        }
        if (*got < kChunkBytes) {
            break;
        }
    }
    if (content.size == 0) {
        return fail("the file is empty", path.string(), std::string(kRecordAgain));
    }
    content.buffer.resize(content.size);
    content.buffer.resize(content.size + kContentPadding, '\0');
    return content;
}

Expected<std::string> loadHead(const std::filesystem::path& path, std::size_t bytes) {
    auto opened = openFile(path);
    if (!opened) {
        return tl::unexpected(opened.error());
    }
    Source source(path, std::move(*opened));
    std::string head;
    constexpr std::size_t kPiece = 4096; // small, so that what precedes a fault is kept
    while (head.size() < bytes) {
        const std::size_t before = head.size();
        head.resize(before + std::min(kPiece, bytes - before));
        const auto got = source.read(head.data() + before, head.size() - before);
        if (!got) {
            head.resize(before);
            if (head.empty()) {
                return tl::unexpected(got.error());
            }
            return head;
        }
        const bool at_end = *got < head.size() - before;
        head.resize(before + *got);
        if (at_end) {
            break;
        }
    }
    if (head.empty()) {
        return fail("the file is empty", path.string(), std::string(kRecordAgain));
    }
    return head;
}

std::string placeIn(const std::filesystem::path& path, const FileContent& content,
                    std::size_t offset) {
    return fmt::format("{}, byte {}{}", path.string(), offset,
                       content.compressed ? " of the unpacked content" : "");
}

} // namespace kerf::trace

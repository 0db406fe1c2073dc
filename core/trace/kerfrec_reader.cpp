// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/kerfrec_reader.h"

#include "core/trace/health.h"
#include "core/trace/name_table.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <unordered_map>
#include <utility>

namespace kerf::trace {
namespace {

constexpr std::size_t kApplicationIdOffset = 68; // sqlite.org/fileformat2.html, big-endian
constexpr std::string_view kApplicationId = "KERF";
constexpr int kFormatVersion = 1;
constexpr std::int64_t kRowsPerStep = 8192;

// CUpti_ActivityFlag of a marker record, cupti_activity.h
constexpr std::int64_t kMarkerInstant = 1;
constexpr std::int64_t kMarkerStart = 2;
constexpr std::int64_t kMarkerEnd = 4;

/// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, in the words that Kineto uses.
std::string_view copyKind(std::int64_t kind) {
    constexpr std::string_view kKinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                           "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind >= 0 && kind < std::ssize(kKinds) ? kKinds[kind] : kKinds[0];
}
std::string_view memoryKind(std::int64_t kind) {
    constexpr std::string_view kKinds[] = {"Unknown",       "Pageable",      "Pinned",
                                           "Device",        "Array",         "Managed",
                                           "Device Static", "Managed Static"};
    return kind >= 0 && kind < std::ssize(kKinds) ? kKinds[kind] : kKinds[0];
}

/// CUPTI gives kernels' names as the linker knows them; people and rules on names want C++.
std::string demangled(std::string_view name) {
    std::string text(name);
    if (!name.starts_with("_Z")) {
        return text;
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && plain != nullptr ? std::string(plain.get()) : text;
}

struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// One row of a query.
struct Row {
    sqlite3_stmt* statement;

    [[nodiscard]] std::int64_t integer(int column) const {
        return sqlite3_column_int64(statement, column);
    }
    template <class T> [[nodiscard]] T as(int column) const {
        const auto value = integer(column);
        return std::in_range<T>(value) ? static_cast<T>(value) : T{0};
    }
    /// Ids use all 64 bits.
    [[nodiscard]] std::uint64_t bits(int column) const {
        return static_cast<std::uint64_t>(integer(column));
    }
    [[nodiscard]] std::string_view text(int column) const {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        return text == nullptr
                   ? std::string_view()
                   : std::string_view(
                         text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
};

/// Reads one file; lives as long as that takes.
class KerfrecReader {
public:
    KerfrecReader(const std::filesystem::path& path, Progress& progress)
        : path_(path), progress_(progress) {}

    Expected<Recording> read() {
        using Step = bool (KerfrecReader::*)();
        constexpr Step kSteps[] = {
            &KerfrecReader::open,        &KerfrecReader::readMeta,     &KerfrecReader::readNames,
            &KerfrecReader::readDevices, &KerfrecReader::readExternal, &KerfrecReader::readKernels,
            &KerfrecReader::readCopies,  &KerfrecReader::readMemsets,  &KerfrecReader::readApiCalls,
            &KerfrecReader::readMarkers, &KerfrecReader::readHealth,
        };
        for (const Step step : kSteps) {
            if (!(this->*step)()) {
                return tl::unexpected(error_);
            }
        }
        return finish();
    }

private:
    bool stop(std::string what, std::string advice, std::string_view table = {}) {
        std::string where = path_.string();
        if (!table.empty()) {
            where += fmt::format(", table {}", table);
        }
        error_ = {std::move(what), std::move(where), std::move(advice)};
        return false;
    }

    bool open() {
        const std::string log = path_.string() + "-wal";
        std::error_code ignored;
        // without a log the file can be read where SQLite may write nothing beside it
        const bool plain = !std::filesystem::exists(log, ignored);
        const std::string uri = "file:" + escaped(path_.string()) + (plain ? "?immutable=1" : "");
        sqlite3* db = nullptr;
        const int result =
            sqlite3_open_v2(uri.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
        db_.reset(db);
        if (result != SQLITE_OK) {
            return stop(fmt::format("the file cannot be opened: {}", sqlite3_errstr(result)),
                        "Check that it exists and may be read.");
        }
        sqlite3_busy_timeout(db, 2000);
        int version = -1;
        if (!query("PRAGMA user_version", "header",
                   [&](const Row& row) { version = row.as<int>(0); })) {
            return false;
        }
        if (version != kFormatVersion) {
            return stop(
                fmt::format("the recording has format version {}; this Kerf reads version {}",
                            version, kFormatVersion),
                version > kFormatVersion ? "Use a newer Kerf." : "Record it again.");
        }
        return true;
    }

    /// SQLite itself does not notice a cut before it needs the missing page.
    bool isWhole() {
        std::uint64_t pages = 0;
        std::uint64_t page_bytes = 0;
        if (!query("PRAGMA page_count", "header", [&](const Row& row) { pages = row.bits(0); }) ||
            !query("PRAGMA page_size", "header",
                   [&](const Row& row) { page_bytes = row.bits(0); })) {
            return false;
        }
        std::error_code ignored;
        const std::uint64_t bytes = std::filesystem::file_size(path_, ignored);
        return bytes >= pages * page_bytes ||
               stop(fmt::format("the recording ends early: {} of {} bytes", bytes,
                                pages * page_bytes),
                    "Copy it again.");
    }

    static std::string escaped(std::string_view path) {
        std::string out;
        for (const char c : path) {
            if (c == '%' || c == '?' || c == '#') {
                out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
            } else {
                out += c;
            }
        }
        return out;
    }

    bool query(const char* sql, std::string_view table,
               const std::function<void(const Row&)>& visit) {
        sqlite3_stmt* raw = nullptr;
        int result = sqlite3_prepare_v2(db_.get(), sql, -1, &raw, nullptr);
        const std::unique_ptr<sqlite3_stmt, Close> statement(raw);
        while (result == SQLITE_OK || result == SQLITE_ROW) {
            result = sqlite3_step(raw);
            if (result != SQLITE_ROW) {
                break;
            }
            visit(Row{raw});
            if (++rows_ % kRowsPerStep == 0 && !progress_.step(0.5, "reading the recording")) {
                return stop("cancelled", "");
            }
        }
        if (result != SQLITE_DONE) {
            return stop(fmt::format("the recording is damaged or ends early: {}",
                                    sqlite3_errmsg(db_.get())),
                        "Copy it again, with the -wal file beside it where there is one.", table);
        }
        return true;
    }

    bool readMeta() {
        bool complete = false;
        const bool good = query("SELECT key, value FROM meta", "meta", [&](const Row& row) {
            const auto key = row.text(0);
            if (key == "complete") {
                complete = true;
            } else if (key == "process") {
                process_ = sqlite3_column_int64(row.statement, 1);
            } else if (key == "model") {
                recording_.model = row.text(1);
            } else if (key == "batch") { // text of the person who recorded: 0 where it is no number
                recording_.batch = std::max(0, sqlite3_column_int(row.statement, 1));
            } else if (key.ends_with("_version")) {
                recording_.versions[std::string(key)] = row.text(1);
            }
        });
        recording_.health.truncated = !complete;
        recording_.file.schema_version = kFormatVersion;
        return good;
    }

    bool readNames() {
        return query("SELECT id, text FROM names", "names", [&](const Row& row) {
            names_by_id_.emplace(row.integer(0), names_.intern(demangled(row.text(1))));
        });
    }

    NameIndex name(std::int64_t id) {
        const auto found = names_by_id_.find(id);
        return found == names_by_id_.end() ? names_.intern("(no name)") : found->second;
    }

    bool readDevices() {
        return query("SELECT DISTINCT device, text, sm_count, compute_major, compute_minor,"
                     " max_warps_per_sm * warp_threads, registers_per_sm, shared_bytes_per_sm,"
                     " shared_bytes_per_block, memory_bytes"
                     " FROM devices LEFT JOIN names ON names.id = devices.name ORDER BY device",
                     "devices", [&](const Row& row) {
                         recording_.devices.push_back(
                             {.id = row.as<std::int32_t>(0),
                              .name = std::string(row.text(1)),
                              .sm_count = row.as<std::int32_t>(2),
                              .compute_major = row.as<std::int32_t>(3),
                              .compute_minor = row.as<std::int32_t>(4),
                              .max_threads_per_sm = row.as<std::int32_t>(5),
                              .registers_per_sm = row.as<std::int32_t>(6),
                              .shared_bytes_per_sm = row.as<std::int32_t>(7),
                              .shared_bytes_per_block_optin = row.as<std::int32_t>(8),
                              .memory_bytes = row.integer(9)});
                     });
    }

    bool readExternal() {
        return query("SELECT DISTINCT correlation FROM external_correlations",
                     "external_correlations",
                     [&](const Row& row) { external_.emplace(row.bits(0), true); });
    }

    /// Takes columns 0 to 5: start, duration, device, stream, correlation, node.
    Activity* add(const Row& row, ActivityKind kind) {
        const std::int64_t start_ns = row.integer(0);
        const std::int64_t duration_ns = row.integer(1);
        std::int64_t end_ns = 0;
        if (duration_ns < 0) {
            ++recording_.health.negative_durations;
            recording_.health.negative_duration_kernels += kind == ActivityKind::Kernel ? 1 : 0;
            return nullptr;
        }
        if (start_ns < 0 || __builtin_add_overflow(start_ns, duration_ns, &end_ns)) {
            ++recording_.health.invalid_values;
            return nullptr;
        }
        Activity activity;
        activity.start_ns = start_ns;
        activity.duration_ns = duration_ns;
        activity.kind = kind;
        activity.device = row.as<std::int32_t>(2);
        activity.stream = row.integer(3);
        activity.process = process_;
        activity.correlation = row.bits(4);
        activity.graph_node_id = row.bits(5);
        activity.has_external_id = external_.contains(activity.correlation);
        recording_.activities.push_back(activity);
        return &recording_.activities.back();
    }

    bool readKernels() {
        return query(
            "SELECT start_ns, duration_ns, device, stream, correlation, graph_node, s.name,"
            " grid_x, grid_y, grid_z, block_x, block_y, block_z, registers_per_thread,"
            " static_shared_bytes + dynamic_shared_bytes"
            " FROM kernels LEFT JOIN launch_shapes AS s ON s.id = kernels.shape",
            "kernels", [&](const Row& row) {
                if (Activity* kernel = add(row, ActivityKind::Kernel)) {
                    kernel->name = name(row.integer(6));
                    for (int axis = 0; axis < 3; ++axis) {
                        const auto at = static_cast<std::size_t>(axis);
                        kernel->grid[at] = row.as<std::uint32_t>(7 + axis);
                        kernel->block[at] = row.as<std::uint32_t>(10 + axis);
                    }
                    kernel->registers_per_thread = row.as<std::uint32_t>(13);
                    kernel->shared_bytes = row.as<std::uint32_t>(14);
                }
            });
    }

    bool readCopies() {
        return query("SELECT start_ns, duration_ns, device, stream, correlation, graph_node, bytes,"
                     " copy_kind, source_kind, destination_kind FROM copies",
                     "copies", [&](const Row& row) {
                         if (Activity* copy = add(row, ActivityKind::Memcpy)) {
                             copy->bytes = row.bits(6);
                             copy->name = names_.intern(fmt::format(
                                 "Memcpy {} ({} -> {})", copyKind(row.integer(7)),
                                 memoryKind(row.integer(8)), memoryKind(row.integer(9))));
                         }
                     });
    }

    bool readMemsets() {
        return query("SELECT start_ns, duration_ns, device, stream, correlation, graph_node, bytes,"
                     " memory_kind FROM memsets",
                     "memsets", [&](const Row& row) {
                         if (Activity* memset = add(row, ActivityKind::Memset)) {
                             memset->bytes = row.bits(6);
                             memset->name = names_.intern(
                                 fmt::format("Memset ({})", memoryKind(row.integer(7))));
                         }
                     });
    }

    bool readApiCalls() {
        return query(
            // a runtime call and the driver's call inside it have one correlation: one call
            "SELECT start_ns, duration_ns, name, correlation, process, thread FROM api_calls"
            " WHERE domain = 0 OR correlation NOT IN"
            " (SELECT correlation FROM api_calls WHERE domain = 0)",
            "api_calls", [&](const Row& row) {
                if (row.integer(0) < 0 || row.integer(1) < 0) {
                    ++faulty_calls_;
                    return;
                }
                recording_.api_calls.push_back({.start_ns = row.integer(0),
                                                .duration_ns = row.integer(1),
                                                .name = name(row.integer(2)),
                                                .correlation = row.bits(3),
                                                .process = row.integer(4),
                                                .thread = row.integer(5)});
            });
    }

    /// A range is a start and an end with one id; an end has no name.
    bool readMarkers() {
        std::unordered_map<std::int64_t, Annotation> open;
        std::int64_t without_start = 0;
        const bool good = query(
            "SELECT time_ns, id, flags, name, process, thread FROM markers ORDER BY time_ns, rowid",
            "markers", [&](const Row& row) {
                const std::int64_t flags = row.integer(2);
                Annotation mark{.start_ns = row.integer(0),
                                .name = 0,
                                .process = row.integer(4) != 0 ? row.integer(4) : process_,
                                .track = row.integer(5)};
                if ((flags & kMarkerEnd) != 0) {
                    const auto begun = open.find(row.integer(1));
                    if (begun == open.end()) {
                        ++without_start;
                        return;
                    }
                    begun->second.duration_ns = row.integer(0) - begun->second.start_ns;
                    recording_.annotations.push_back(begun->second);
                    open.erase(begun);
                } else if ((flags & (kMarkerStart | kMarkerInstant)) != 0) {
                    mark.name = name(row.integer(3));
                    if ((flags & kMarkerStart) != 0) {
                        open.insert_or_assign(row.integer(1), mark);
                    } else {
                        recording_.annotations.push_back(mark);
                    }
                }
            });
        note(std::ssize(open), "NVTX ranges never end in the file and are left out");
        note(without_start, "NVTX ranges began before the recording and are left out");
        return good;
    }

    void note(std::int64_t count, std::string_view what) {
        if (count > 0) {
            recording_.health.notes.push_back(fmt::format("{} {}.", count, what));
        }
    }

    bool readHealth() {
        std::int64_t graph_launches = 0;
        const bool counted = query("SELECT count(*) FROM graph_launches", "graph_launches",
                                   [&](const Row& row) { graph_launches = row.integer(0); });
        note(graph_launches, "graph launches were recorded as a whole, without their nodes");
        return counted &&
               query("SELECT text FROM notes", "notes",
                     [&](const Row& row) {
                         recording_.health.notes.push_back(
                             fmt::format("Recorder: {}.", row.text(0)));
                     }) &&
               query("SELECT cause, count FROM health WHERE count > 0", "health",
                     [&](const Row& row) {
                         recording_.health.dropped += row.integer(1);
                         note(row.integer(1),
                              fmt::format("lost by the recorder, cause: {}", row.text(0)));
                     });
    }

    Expected<Recording> finish() {
        note(faulty_calls_, "host calls with unusable times were left out");
        std::int64_t base_ns = std::numeric_limits<std::int64_t>::max();
        const auto earliest = [&base_ns](const auto& list) {
            for (const auto& entry : list) {
                base_ns = std::min(base_ns, entry.start_ns);
            }
        };
        const auto shift = [&base_ns](auto& list) {
            for (auto& entry : list) {
                entry.start_ns -= base_ns;
            }
        };
        Recording& recording = recording_;
        earliest(recording.activities);
        earliest(recording.api_calls);
        earliest(recording.annotations);
        shift(recording.activities);
        shift(recording.api_calls);
        shift(recording.annotations);
        std::ranges::stable_sort(recording.activities, {}, [](const Activity& activity) {
            return std::pair(activity.start_ns, activity.stream);
        });
        std::ranges::stable_sort(recording.api_calls, {}, &ApiCall::start_ns);
        std::ranges::stable_sort(recording.annotations, {}, [](const Annotation& annotation) {
            return std::pair(annotation.start_ns, -annotation.duration_ns);
        });
        if (base_ns != std::numeric_limits<std::int64_t>::max()) {
            recording.base_time_ns = base_ns;
        }
        recording.path = path_.string();
        recording.format = kKerfrecFormat;
        recording.names = names_.take();
        recording.file.top_level = "sqlite";
        std::error_code ignored;
        recording.file.content_bytes =
            static_cast<std::int64_t>(std::filesystem::file_size(path_, ignored));
        recording.file.complete_events = std::ssize(recording.activities) +
                                         std::ssize(recording.api_calls) +
                                         std::ssize(recording.annotations);
        recording.file.trace_events = recording.file.complete_events;
        measureHealth(recording);
        progress_.step(1.0, "reading the recording");
        return std::move(recording_);
    }

    const std::filesystem::path& path_;
    Progress& progress_;
    std::unique_ptr<sqlite3, Close> db_;
    Error error_;
    Recording recording_;
    NameTable names_;
    std::unordered_map<std::int64_t, NameIndex> names_by_id_;
    std::unordered_map<std::uint64_t, bool> external_;
    std::int64_t process_ = -1;
    std::int64_t rows_ = 0;
    std::int64_t faulty_calls_ = 0;
};

} // namespace

bool recognisesKerfrec(std::span<const std::byte> head) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    return text.starts_with(kSqliteMagic) &&
           text.substr(std::min(text.size(), kApplicationIdOffset)).starts_with(kApplicationId);
}

Expected<Recording> readKerfrec(const std::filesystem::path& path, Progress& progress) {
    return KerfrecReader(path, progress).read();
}

} // namespace kerf::trace

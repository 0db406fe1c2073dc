// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/store/database.h"

#include "cupti_collector/store/schema.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>
#include <utility>

namespace kerf::collector {
namespace {

enum Table : std::size_t {
    kNames,
    kShapes,
    kKernels,
    kCopies,
    kMemsets,
    kApiCalls,
    kGraphLaunches,
    kMarkers,
    kMarkerData,
    kExternal,
    kStreams,
    kContexts,
    kDevices,
    kOverheads,
    kSynchronizations,
    kClocks,
    kGraphs,
    kGraphNodes,
    kGraphEdges,
    kGraphClones,
    kNotes,
    kHealth,
    kMeta,
    kTables
};

struct Target {
    const char* name;
    int columns;
};
constexpr std::array<Target, kTables> kTargets = {{
    {"names", 2},
    {"launch_shapes", 22},
    {"kernels", 9},
    {"copies", 16},
    {"memsets", 12},
    {"api_calls", 9},
    {"graph_launches", 9},
    {"markers", 7},
    {"marker_data", 6},
    {"external_correlations", 3},
    {"streams", 5},
    {"contexts", 6},
    {"devices", 18},
    {"overheads", 7},
    {"synchronizations", 8},
    {"clocks", 3},
    {"graphs", 6},
    {"graph_nodes", 12},
    {"graph_edges", 6},
    {"graph_clones", 2},
    {"notes", 1},
    {"health", 2},
    {"meta", 2},
}};

constexpr int kPageCacheKiB = 4096; // bounds the memory that SQLite takes in the program
constexpr int kPagesPerCheckpoint = 4000;
constexpr int kLongestWaitMs = 5000; // for another process that has the file open

} // namespace

struct Database::State {
    sqlite3* db = nullptr;
    std::array<sqlite3_stmt*, kTables> inserts{};
    bool in_transaction = false;

    [[nodiscard]] std::string error() const {
        std::string text = sqlite3_errmsg(db);
        const int system = sqlite3_system_errno(db);
        const int code = sqlite3_errcode(db);
        if (system != 0 &&
            (code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL)) {
            text += " (" + std::string(std::strerror(system)) + ")";
        }
        return text;
    }

    std::string run(const char* sql) {
        return sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? "" : error();
    }

    std::string prepare() {
        for (std::size_t table = 0; table < kTables; ++table) {
            std::string sql = "INSERT OR REPLACE INTO ";
            sql += kTargets[table].name;
            sql += " VALUES (?";
            for (int column = 1; column < kTargets[table].columns; ++column) {
                sql += ",?";
            }
            sql += ")";
            if (sqlite3_prepare_v3(db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &inserts[table],
                                   nullptr) != SQLITE_OK) {
                return error();
            }
        }
        return "";
    }

    void shut() {
        for (sqlite3_stmt*& insert : inserts) {
            sqlite3_finalize(insert);
            insert = nullptr;
        }
        sqlite3_close(db);
        db = nullptr;
        in_transaction = false;
    }

    template <class... Values> bool insert(Table table, const Values&... values) {
        static_assert(sizeof...(values) > 0);
        sqlite3_stmt* statement = inserts[table];
        int column = 0;
        (bind(statement, ++column, values), ...);
        const int result = sqlite3_step(statement);
        sqlite3_reset(statement);
        return result == SQLITE_DONE;
    }

    static void bind(sqlite3_stmt* statement, int column, std::string_view text) {
        sqlite3_bind_text(statement, column, text.data(), static_cast<int>(text.size()),
                          SQLITE_STATIC);
    }
    template <class Number>
    requires std::is_integral_v<Number>
    static void bind(sqlite3_stmt* statement, int column, Number number) {
        sqlite3_bind_int64(statement, column, static_cast<sqlite3_int64>(number));
    }
    /// Id 0 is "no name": NULL in the file.
    struct Name {
        NameId id;
    };
    static void bind(sqlite3_stmt* statement, int column, Name name) {
        if (name.id == 0) {
            sqlite3_bind_null(statement, column);
        } else {
            sqlite3_bind_int64(statement, column, name.id);
        }
    }

    bool writeWork(const RowBatch& batch) {
        for (const auto& row : batch.kernels) {
            const Span& s = row.span;
            if (!insert(kKernels, s.start_ns, s.end_ns - s.start_ns, s.device, s.context, s.stream,
                        s.correlation, s.graph, s.graph_node, row.shape)) {
                return false;
            }
        }
        for (const auto& row : batch.copies) {
            const Span& s = row.span;
            if (!insert(kCopies, s.start_ns, s.end_ns - s.start_ns, s.device, s.context, s.stream,
                        s.correlation, s.graph, s.graph_node, row.bytes, row.copy_kind,
                        row.source_kind, row.destination_kind, row.flags, row.source_device,
                        row.destination_device, row.copy_count)) {
                return false;
            }
        }
        for (const auto& row : batch.memsets) {
            const Span& s = row.span;
            if (!insert(kMemsets, s.start_ns, s.end_ns - s.start_ns, s.device, s.context, s.stream,
                        s.correlation, s.graph, s.graph_node, row.bytes, row.value, row.memory_kind,
                        row.flags)) {
                return false;
            }
        }
        for (const auto& row : batch.graph_launches) {
            const Span& s = row.span;
            if (!insert(kGraphLaunches, s.start_ns, s.end_ns - s.start_ns, s.device, s.context,
                        s.stream, s.correlation, s.graph, row.end_device, row.end_context)) {
                return false;
            }
        }
        return true;
    }

    bool writeHost(const RowBatch& batch) {
        for (const auto& row : batch.api_calls) {
            if (!insert(kApiCalls, row.start_ns, row.end_ns - row.start_ns,
                        static_cast<int>(row.domain), row.callback_id, Name{row.name}, row.process,
                        row.thread, row.correlation, row.result)) {
                return false;
            }
        }
        for (const auto& row : batch.markers) {
            if (!insert(kMarkers, row.time_ns, row.id, row.flags, Name{row.name}, Name{row.domain},
                        row.process, row.thread)) {
                return false;
            }
        }
        for (const auto& row : batch.marker_data) {
            if (!insert(kMarkerData, row.id, row.flags, row.payload_kind, row.payload_bits,
                        row.colour, row.category)) {
                return false;
            }
        }
        for (const auto& row : batch.external) {
            if (!insert(kExternal, row.kind, row.external_id, row.correlation)) {
                return false;
            }
        }
        for (const auto& row : batch.overheads) {
            if (!insert(kOverheads, row.start_ns, row.end_ns - row.start_ns, row.kind,
                        row.object_kind, row.process, row.thread, row.correlation)) {
                return false;
            }
        }
        for (const auto& row : batch.synchronizations) {
            if (!insert(kSynchronizations, row.start_ns, row.end_ns - row.start_ns, row.type,
                        row.correlation, row.context, row.stream, row.event, row.result)) {
                return false;
            }
        }
        for (const auto& row : batch.clocks) {
            if (!insert(kClocks, row.realtime_ns, row.monotonic_ns, row.cupti_ns)) {
                return false;
            }
        }
        return true;
    }

    bool writeDescriptions(const RowBatch& batch) {
        for (const auto& row : batch.names) {
            if (!insert(kNames, row.id, std::string_view(row.text))) {
                return false;
            }
        }
        for (const auto& row : batch.shapes) {
            if (!insert(kShapes, row.id, Name{row.name}, row.grid[0], row.grid[1], row.grid[2],
                        row.block[0], row.block[1], row.block[2], row.cluster[0], row.cluster[1],
                        row.cluster[2], row.registers_per_thread, row.static_shared_bytes,
                        row.dynamic_shared_bytes, row.executed_shared_bytes,
                        row.local_bytes_per_thread, row.cluster_scheduling_policy,
                        row.max_potential_cluster_size, row.max_active_clusters, row.launch_type,
                        row.cache_config, row.device_launched)) {
                return false;
            }
        }
        for (const auto& row : batch.streams) {
            if (!insert(kStreams, row.context, row.stream, row.priority, row.flag,
                        row.correlation)) {
                return false;
            }
        }
        for (const auto& row : batch.contexts) {
            if (!insert(kContexts, row.context, row.device, row.api_kind, row.null_stream,
                        row.parent_context, row.sm_count)) {
                return false;
            }
        }
        for (const auto& row : batch.devices) {
            if (!insert(kDevices, row.device, Name{row.name}, std::string_view(row.uuid),
                        row.compute_major, row.compute_minor, row.sm_count, row.max_warps_per_sm,
                        row.max_blocks_per_sm, row.registers_per_sm, row.shared_bytes_per_sm,
                        row.shared_bytes_per_block, row.threads_per_block, row.warp_threads,
                        row.l2_bytes, row.memory_bytes, row.memory_kb_per_s, row.core_clock_khz,
                        row.mig)) {
                return false;
            }
        }
        return true;
    }

    bool writeGraphs(const RowBatch& batch) {
        for (const auto& row : batch.graphs) {
            if (!insert(kGraphs, row.definition, row.graph, row.exec_graph, row.revision,
                        row.parent_definition, row.parent_node)) {
                return false;
            }
        }
        for (const auto& row : batch.graph_nodes) {
            if (!insert(kGraphNodes, row.definition, row.node, row.type, Name{row.name},
                        row.grid[0], row.grid[1], row.grid[2], row.block[0], row.block[1],
                        row.block[2], row.dynamic_shared_bytes, row.priority)) {
                return false;
            }
        }
        for (const auto& row : batch.graph_edges) {
            if (!insert(kGraphEdges, row.definition, row.from, row.to, row.type, row.from_port,
                        row.to_port)) {
                return false;
            }
        }
        for (const auto& row : batch.graph_clones) {
            if (!insert(kGraphClones, row.original, row.node)) {
                return false;
            }
        }
        for (const auto& text : batch.notes) {
            if (!insert(kNotes, std::string_view(text))) {
                return false;
            }
        }
        return true;
    }

    std::string begin() {
        if (in_transaction) {
            return "";
        }
        std::string wrong = run("BEGIN");
        in_transaction = wrong.empty();
        return wrong;
    }
};

Database::Database() : state_(std::make_unique<State>()) {}

Database::~Database() {
    state_->shut();
}

bool Database::isOpen() const {
    return state_->db != nullptr;
}

std::string Database::create(const std::string& path) {
    // O_EXCL: of several processes that record, each gets a file of its own
    const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (file < 0) {
        return std::strerror(errno);
    }
    ::close(file);
    State& state = *state_;
    if (sqlite3_open_v2(path.c_str(), &state.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        nullptr) != SQLITE_OK) {
        std::string wrong = state.db == nullptr ? "out of memory" : state.error();
        state.shut();
        return wrong;
    }
    // somebody may fold the log in while this process still writes
    sqlite3_busy_timeout(state.db, kLongestWaitMs);
    // header and schema go into the file itself before the log is used: even a file that lost its
    // log says what it is
    const std::string settings =
        "PRAGMA page_size=4096; PRAGMA application_id=" + std::to_string(kApplicationId) +
        "; PRAGMA user_version=" + std::to_string(kFormatVersion) + "; BEGIN;" + kSchema +
        "COMMIT; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        "PRAGMA cache_size=-" +
        std::to_string(kPageCacheKiB) +
        "; PRAGMA wal_autocheckpoint=" + std::to_string(kPagesPerCheckpoint) + ";";
    std::string wrong = state.run(settings.c_str());
    if (wrong.empty()) {
        wrong = state.prepare();
    }
    if (!wrong.empty()) {
        state.shut();
    }
    return wrong;
}

std::string Database::setMeta(std::string_view key, std::string_view value) {
    if (std::string wrong = state_->begin(); !wrong.empty()) {
        return wrong;
    }
    return state_->insert(kMeta, key, value) ? "" : state_->error();
}

std::string Database::write(const RowBatch& batch) {
    State& state = *state_;
    if (std::string wrong = state.begin(); !wrong.empty()) {
        return wrong;
    }
    const bool written = state.writeDescriptions(batch) && state.writeWork(batch) &&
                         state.writeHost(batch) && state.writeGraphs(batch);
    return written ? "" : state.error();
}

std::string Database::commit(const Loss& total) {
    State& state = *state_;
    if (std::string wrong = state.begin(); !wrong.empty()) {
        return wrong;
    }
    const std::pair<std::string_view, std::uint64_t> causes[] = {
        {"dropped by CUPTI", total.dropped_by_cupti},
        {"zero time", total.zero_time},
        {"end before start", total.end_before_start},
        {"time out of range", total.time_out_of_range},
        {"kind not known", total.unknown_kind},
        {"truncated buffers", total.truncated_buffers},
        {"refused buffers", total.refused_buffers},
        {"out of memory", total.out_of_memory},
        {"queue full", total.queue_full},
        {"not written", total.not_written},
    };
    for (const auto& [cause, count] : causes) {
        if (!state.insert(kHealth, cause, count)) {
            return state.error();
        }
    }
    std::string wrong = state.run("COMMIT");
    state.in_transaction = !wrong.empty();
    return wrong;
}

std::string Database::close() {
    State& state = *state_;
    std::string wrong;
    if (state.in_transaction) {
        wrong = state.run("COMMIT");
        state.in_transaction = false;
    }
    for (sqlite3_stmt*& insert : state.inserts) {
        sqlite3_finalize(insert);
        insert = nullptr;
    }
    if (wrong.empty()) {
        wrong = state.run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;");
    }
    state.shut();
    return wrong;
}

std::string recoverDatabase(const std::string& path) {
    sqlite3* db = nullptr;
    std::string wrong;
    if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;", nullptr,
                     nullptr, nullptr) != SQLITE_OK) {
        wrong = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
    }
    sqlite3_close(db);
    return wrong;
}

} // namespace kerf::collector

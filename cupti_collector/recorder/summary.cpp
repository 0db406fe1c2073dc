// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/recorder/summary.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace kerf::collector {
namespace {

class Reading {
public:
    Reading(const std::string& path, int flags) {
        if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
            error_ = sqlite3_errmsg(database_);
        }
    }
    ~Reading() { sqlite3_close_v2(database_); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    [[nodiscard]] const std::string& error() const { return error_; }

    void execute(const std::string& sql) {
        if (error_.empty() &&
            sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            error_ = sqlite3_errmsg(database_);
        }
    }
    /// The first two columns of all rows.
    std::vector<std::pair<std::string, double>> rows(const std::string& sql) {
        std::vector<std::pair<std::string, double>> found;
        sqlite3_stmt* statement = nullptr;
        if (!error_.empty() ||
            sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
            error_ = error_.empty() ? sqlite3_errmsg(database_) : error_;
            return found;
        }
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
            found.emplace_back(text != nullptr ? text : "", sqlite3_column_double(statement, 1));
        }
        sqlite3_finalize(statement);
        return found;
    }

private:
    sqlite3* database_ = nullptr;
    std::string error_;
};

double medianOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string format(const char* text, double value) {
    char buffer[128];
    std::snprintf(buffer, sizeof(buffer), text, value);
    return buffer;
}

} // namespace

std::string summaryOf(const std::string& path) {
    Reading file(path, SQLITE_OPEN_READONLY);
    std::string line;
    for (const char* table : {"kernels", "copies", "memsets", "graph_launches"}) {
        const auto count = file.rows(std::string("SELECT '', COUNT(*) FROM ") + table);
        if (!count.empty() && count[0].second > 0) {
            line += (line.empty() ? "" : ", ") + format("%.0f ", count[0].second) + table;
        }
    }
    const auto lost = file.rows("SELECT cause, count FROM health WHERE count > 0");
    if (!file.error().empty()) {
        return path + ": " + file.error();
    }
    line = path + ": " + (line.empty() ? "no GPU work" : line);
    for (const auto& [cause, count] : lost) {
        line += "; " + cause + format(" %.0f", count);
    }
    return line;
}

std::string joinPasses(const std::string& untraced, const std::string& into) {
    Reading file(into, SQLITE_OPEN_READWRITE);
    std::string quoted;
    for (const char c : untraced) {
        quoted += c == '\'' ? "''" : std::string(1, c);
    }
    file.execute("ATTACH '" + quoted + "' AS untraced");
    file.execute("CREATE TABLE untraced_graph_launches AS SELECT * FROM untraced.graph_launches");
    // The graphs of two runs have other ids; their launches come in the same order.
    const auto whole =
        file.rows("SELECT '', duration_ns FROM untraced_graph_launches ORDER BY start_ns");
    const auto traced = file.rows(
        "SELECT '', MAX(start_ns + duration_ns) - MIN(start_ns) FROM kernels WHERE graph > 0 "
        "GROUP BY correlation ORDER BY MIN(start_ns)");
    file.execute("DETACH untraced");
    if (!file.error().empty()) {
        return "the passes cannot be joined: " + file.error();
    }
    if (whole.empty() || whole.size() != traced.size()) {
        return format("the passes cannot be compared: %.0f launches of graphs untraced, ",
                      static_cast<double>(whole.size())) +
               format("%.0f with their nodes", static_cast<double>(traced.size()));
    }
    std::vector<double> added;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (whole[i].second > 0) {
            added.push_back(traced[i].second / whole[i].second - 1);
        }
    }
    if (added.empty()) {
        return "the passes cannot be compared: untraced launches took no time";
    }
    const double median = medianOf(added);
    file.execute("INSERT OR REPLACE INTO meta VALUES ('node_tracing_overhead', '" +
                 format("%.6f", median) + "')");
    return format("tracing every node made a graph's launch %.1f %% longer", 100 * median) +
           format(" (median of %.0f launches)", static_cast<double>(added.size()));
}

} // namespace kerf::collector

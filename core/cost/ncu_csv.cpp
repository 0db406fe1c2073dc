// SPDX-License-Identifier: GPL-3.0-or-later
// Reads Nsight Compute's CSV; the format is described in docs/formats/ncu.md.
#include "core/cost/ncu_csv.h"

#include "core/trace/file_content.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace kerf::cost {
namespace {

constexpr const char* kAdvice = "Write it with `ncu --csv --page raw`; see docs/formats/ncu.md.";

struct Row {
    std::vector<std::string> fields;
    std::size_t line = 0; ///< counted from 1
};

/// Splits CSV (RFC 4180: quotes, doubled quotes, line ends inside quotes) row by row.
class Rows {
public:
    explicit Rows(std::string_view text) : rest_(text) {}

    /// The next row; nothing at the end. `unended` is set where quotes never end.
    std::optional<Row> next() {
        if (rest_.empty()) {
            return std::nullopt;
        }
        Row row{{}, line_};
        std::string field;
        bool quoted = false;
        while (!rest_.empty()) {
            const char c = take();
            if (quoted) {
                if (c != '"') {
                    field += c;
                } else if (!rest_.empty() && rest_.front() == '"') {
                    field += take();
                } else {
                    quoted = false;
                }
            } else if (c == '"') {
                quoted = true;
            } else if (c == ',') {
                row.fields.push_back(std::move(field));
                field.clear();
            } else if (c == '\n') {
                break;
            } else if (c != '\r') {
                field += c;
            }
        }
        unended = quoted;
        row.fields.push_back(std::move(field));
        return row;
    }

    [[nodiscard]] std::string_view restOfLine() const { return rest_.substr(0, rest_.find('\n')); }
    [[nodiscard]] bool atEnd() const { return rest_.empty(); }
    [[nodiscard]] std::size_t line() const { return line_; }
    void skipLine() {
        rest_.remove_prefix(std::min(restOfLine().size() + 1, rest_.size()));
        ++line_;
    }

    bool unended = false;

private:
    char take() {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        line_ += c == '\n' ? 1 : 0;
        return c;
    }
    std::string_view rest_;
    std::size_t line_ = 1;
};

enum class Kind : std::uint8_t { Bytes, Time, Share, Rate };

/// A metric that Kerf uses: its name on the raw page or, for people, on the details page.
struct Metric {
    std::string_view name;
    Kind kind;
    std::optional<double> NcuLaunch::*into;
};
constexpr Metric kMetrics[] = {
    {"dram__bytes_read.sum", Kind::Bytes, &NcuLaunch::read_bytes},
    {"dram__bytes_write.sum", Kind::Bytes, &NcuLaunch::write_bytes},
    {"dram__bytes.sum", Kind::Bytes, &NcuLaunch::total_bytes},
    {"lts__t_bytes.sum", Kind::Bytes, &NcuLaunch::l2_bytes},
    {"gpu__time_duration.sum", Kind::Time, &NcuLaunch::duration_us},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", Kind::Share, &NcuLaunch::dram_share},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Kind::Share, &NcuLaunch::dram_share},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", Kind::Share, &NcuLaunch::sm_share},
    {"dram__bytes.sum.per_second", Kind::Rate, &NcuLaunch::bytes_per_us},
    {"Duration", Kind::Time, &NcuLaunch::duration_us},
    {"DRAM Throughput", Kind::Share, &NcuLaunch::dram_share},
    {"Compute (SM) Throughput", Kind::Share, &NcuLaunch::sm_share},
    {"Memory Throughput", Kind::Rate, &NcuLaunch::bytes_per_us}, // another section gives it in %
};

/// Factor to bytes, µs, a share of 1, or bytes a µs.
std::optional<double> factorOf(Kind kind, std::string_view unit) {
    static const std::map<std::string_view, double> kBytes{
        {"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}, {"Tbyte", 1e12},
        {"B", 1},    {"KB", 1e3},    {"MB", 1e6},    {"GB", 1e9},    {"TB", 1e12}};
    static const std::map<std::string_view, double> kTimes{
        {"nsecond", 1e-3}, {"usecond", 1}, {"msecond", 1e3}, {"second", 1e6},
        {"ns", 1e-3},      {"us", 1},      {"ms", 1e3},      {"s", 1e6}};
    const auto in = [&](const auto& table, std::string_view name) -> std::optional<double> {
        const auto found = table.find(name);
        return found == table.end() ? std::nullopt : std::optional(found->second);
    };
    switch (kind) {
    case Kind::Bytes:
        return in(kBytes, unit);
    case Kind::Time:
        return in(kTimes, unit);
    case Kind::Share:
        return unit == "%" ? std::optional(0.01) : std::nullopt;
    case Kind::Rate: {
        const auto slash = unit.find('/');
        if (slash == std::string_view::npos) {
            return std::nullopt;
        }
        const auto bytes = in(kBytes, unit.substr(0, slash));
        const auto time = in(kTimes, unit.substr(slash + 1));
        return bytes && time ? std::optional(*bytes / *time) : std::nullopt;
    }
    }
    return std::nullopt;
}

/// "1,234,567.8": groups of three, or no groups. Nothing where it is written otherwise.
std::optional<double> numberIn(std::string_view text) {
    std::string plain;
    const auto point = std::min(text.find('.'), text.size());
    const auto whole = text.substr(0, point);
    if (whole.find(',') != std::string_view::npos) {
        std::size_t group = 0;
        bool first = true;
        for (const char c : whole) {
            if (c == ',') {
                if (group == 0 || group > 3 || (!first && group != 3)) {
                    return std::nullopt;
                }
                first = false;
                group = 0;
            } else if (c >= '0' && c <= '9') {
                ++group;
                plain += c;
            } else {
                return std::nullopt;
            }
        }
        if (group != 3) {
            return std::nullopt;
        }
        plain += text.substr(point);
    } else {
        plain = text;
    }
    double value = 0;
    const auto [end, status] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (status != std::errc{} || end != plain.data() + plain.size() || !std::isfinite(value)) {
        return std::nullopt;
    }
    return value;
}

bool isAbsent(std::string_view text) {
    return text.empty() || text == "n/a" || text == "N/A" || text == "nan" || text == "(!) n/a";
}

/// "(256, 1, 1)" or "256"; nothing where it is neither or a size is 0.
std::optional<std::array<std::uint32_t, 3>> sizesIn(std::string_view text) {
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '(' || text[i] == ')' || text[i] == ' ' || text[i] == ',') {
            ++i;
            continue;
        }
        std::uint32_t value = 0;
        const auto [end, status] =
            std::from_chars(text.data() + i, text.data() + text.size(), value);
        if (status != std::errc{} || value == 0 || count == 3) {
            return std::nullopt;
        }
        sizes[count++] = value;
        i = static_cast<std::size_t>(end - text.data());
    }
    return count > 0 ? std::optional(sizes) : std::nullopt;
}

/// Reads rows after the header into launches; keeps the first fault.
class Parser {
public:
    Parser(std::string_view csv, const std::string& where) : rows_(csv), where_(where) {}

    Expected<NcuFile> parse() {
        auto header = findHeader();
        if (!header) {
            return fail("ncu CSV: there is no header with \"ID\" and \"Kernel Name\"", where_,
                        kAdvice);
        }
        header_ = std::move(header->fields);
        if (columnOf("Grid Size") == kNone || columnOf("Block Size") == kNone) {
            wrong(header->line, "the header has no \"Grid Size\" and \"Block Size\", by which "
                                "kernels are matched");
        }
        const bool rowAMetric =
            columnOf("Metric Name") != kNone && columnOf("Metric Value") != kNone;
        bool unitsSeen = rowAMetric; // a column of its own there
        while (!error_ && !rows_.atEnd()) {
            const auto line = rows_.restOfLine();
            if (line.starts_with("==") || line.empty() || line == "\r") {
                rows_.skipLine();
                continue;
            }
            const auto row = *rows_.next();
            if (rows_.unended) {
                wrong(row.line, "quotes are opened that never end: the file may be cut off");
            } else if (row.fields.size() > header_.size()) {
                wrong(row.line, fmt::format("has {} fields, the header {}", row.fields.size(),
                                            header_.size()));
            } else if (rowAMetric) {
                takeMetricRow(row);
            } else if (!unitsSeen) {
                takeUnits(row);
                unitsSeen = true;
            } else {
                takeLaunchRow(row);
            }
        }
        if (error_) {
            return tl::unexpected(*error_);
        }
        if (file_.launches.empty()) {
            return fail("ncu CSV: holds no kernel launch", where_, kAdvice);
        }
        file_.file = where_;
        return std::move(file_);
    }

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    void wrong(std::size_t line, std::string what) {
        if (!error_) {
            error_ = Error{"ncu CSV: " + std::move(what), fmt::format("{}, line {}", where_, line),
                           kAdvice};
        }
    }

    std::optional<Row> findHeader() {
        while (!rows_.atEnd()) {
            const auto line = rows_.restOfLine();
            const bool isHeader = (line.starts_with("\"ID\",") || line.starts_with("ID,")) &&
                                  line.find("Kernel Name") != std::string_view::npos;
            if (isHeader) {
                return rows_.next();
            }
            rows_.skipLine();
        }
        return std::nullopt;
    }

    [[nodiscard]] std::size_t columnOf(std::string_view name) const {
        const auto found = std::find(header_.begin(), header_.end(), name);
        return found == header_.end() ? kNone : static_cast<std::size_t>(found - header_.begin());
    }

    [[nodiscard]] std::string field(const Row& row, std::size_t column) const {
        return column < row.fields.size() ? row.fields[column] : std::string();
    }
    [[nodiscard]] std::string field(const Row& row, std::string_view name) const {
        return field(row, columnOf(name));
    }

    void takeUnits(const Row& row) {
        if (!field(row, "ID").empty()) {
            wrong(row.line, "the row of units below the header is missing");
        }
        units_ = row;
    }

    void startLaunch(const Row& row) {
        NcuLaunch launch;
        launch.kernel = field(row, "Kernel Name");
        launch.line = row.line;
        if (launch.kernel.empty()) {
            wrong(row.line, "there is no kernel name");
        }
        for (const auto& [column, into] :
             {std::pair{"Grid Size", &launch.grid}, std::pair{"Block Size", &launch.block}}) {
            if (const auto sizes = sizesIn(field(row, column))) {
                *into = *sizes;
            } else {
                wrong(row.line, fmt::format("\"{}\" is \"{}\", not like (256, 1, 1)", column,
                                            field(row, column)));
            }
        }
        file_.launches.push_back(std::move(launch));
    }

    void takeValue(std::size_t line, std::string_view name, const std::string& unit,
                   const std::string& value) {
        for (const Metric& metric : kMetrics) {
            if (metric.name != name || isAbsent(value)) {
                continue;
            }
            const auto factor = factorOf(metric.kind, unit);
            if (!factor) {
                // The details page has "Memory Throughput" as a share of peak too.
                if (metric.kind != Kind::Rate) {
                    wrong(line, fmt::format("\"{}\" has the unit \"{}\", which is not known", name,
                                            unit));
                }
                continue;
            }
            const auto number = numberIn(value);
            if (!number || *number < 0) {
                wrong(line, fmt::format("\"{}\" is \"{}\", which is no number like 1,234.5 and "
                                        "not negative",
                                        name, value));
                continue;
            }
            auto& into = file_.launches.back().*metric.into;
            if (!into) { // sections repeat metrics
                into = *number * *factor;
            }
        }
    }

    void takeLaunchRow(const Row& row) {
        if (row.fields.size() != header_.size()) {
            wrong(row.line, fmt::format("has {} fields, the header {}: the file may be cut off",
                                        row.fields.size(), header_.size()));
            return;
        }
        startLaunch(row);
        for (std::size_t i = 0; i < row.fields.size(); ++i) {
            takeValue(row.line, header_[i], field(units_, i), row.fields[i]);
        }
    }

    void takeMetricRow(const Row& row) {
        // Rows without a metric are advice of the details page. Metric rows may end early: they
        // leave out the columns of that advice.
        const auto value = columnOf("Metric Value");
        if (row.fields.size() <= value) {
            wrong(row.line, fmt::format("has {} fields, too few for \"Metric Value\": the file may "
                                        "be cut off",
                                        row.fields.size()));
            return;
        }
        const auto id = std::pair(field(row, "Process ID"), field(row, "ID"));
        if (file_.launches.empty() || id != launch_id_) {
            startLaunch(row);
            launch_id_ = id;
        }
        takeValue(row.line, field(row, "Metric Name"), field(row, "Metric Unit"),
                  row.fields[value]);
    }

    Rows rows_;
    const std::string& where_;
    std::vector<std::string> header_;
    Row units_;
    std::pair<std::string, std::string> launch_id_;
    NcuFile file_;
    std::optional<Error> error_;
};

} // namespace

Expected<NcuFile> parseNcu(std::string_view csv, const std::string& where) {
    return Parser(csv, where).parse();
}

Expected<NcuFile> readNcu(const std::string& path) {
    Progress progress;
    const auto content = trace::loadFile(path, progress);
    if (!content) {
        return tl::unexpected(content.error());
    }
    return parseNcu(content->text(), path);
}

} // namespace kerf::cost

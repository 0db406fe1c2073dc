// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kerf::cli {

namespace {

/// Characters, counting UTF-8 sequences once: enough for the signs that the tables use.
std::size_t widthOf(const std::string& s) {
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void appendPadded(std::string& line, const std::string& value, std::size_t width, bool right) {
    const std::string padding(width - std::min(width, widthOf(value)), ' ');
    line += right ? padding + value : value + padding;
}

std::string csvField(const std::string& value) {
    if (value.find_first_of(",\"\r\n") == std::string::npos) {
        return value;
    }
    std::string quoted = "\"";
    for (const char c : value) {
        quoted += c;
        if (c == '"') {
            quoted += '"';
        }
    }
    return quoted + '"';
}

} // namespace

Cell text(std::string value) {
    return {value, value};
}

Cell integer(long long value) {
    return text(fmt::format("{}", value));
}

Cell number(double value, int decimals, double scale) {
    if (!std::isfinite(value)) {
        return missing();
    }
    return {fmt::format("{:.{}f}", value * scale, decimals), fmt::format("{}", value)};
}

Cell percent(double fraction, int decimals) {
    if (!std::isfinite(fraction)) {
        return missing();
    }
    return {fmt::format("{:+.{}f}", fraction * 100, decimals), fmt::format("{}", fraction * 100)};
}

Cell missing() {
    return {"–", ""};
}

std::string toText(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::size_t width = widthOf(table.columns[c].header);
        for (const auto& row : table.rows) {
            width = std::max(width, widthOf(row[c].shown));
        }
        widths.push_back(width);
    }
    std::string all;
    const auto addLine = [&](const auto& valueOf) {
        std::string line;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            line += c == 0 ? "" : "  ";
            appendPadded(line, valueOf(c), widths[c], table.columns[c].number);
        }
        all += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    };
    addLine([&](std::size_t c) { return table.columns[c].header; });
    for (const auto& row : table.rows) {
        addLine([&](std::size_t c) { return row[c].shown; });
    }
    return all;
}

std::string toCsv(const Table& table) {
    std::string all;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        all += (c == 0 ? "" : ",") + csvField(table.columns[c].key);
    }
    all += '\n';
    for (const auto& row : table.rows) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            all += (c == 0 ? "" : ",") + csvField(row[c].raw);
        }
        all += '\n';
    }
    return all;
}

} // namespace kerf::cli

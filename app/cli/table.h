// SPDX-License-Identifier: GPL-3.0-or-later
// Tables for people (aligned text) and for programs (CSV).
#pragma once

#include <string>
#include <vector>

namespace kerf::cli {

struct Column {
    std::string header;  ///< for people, with the unit: "TTFA ms"
    std::string key;     ///< for programs: "ttfa_us"
    bool number = false; ///< right-aligned
};

struct Cell {
    std::string shown; ///< for people
    std::string raw;   ///< for programs
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
};

[[nodiscard]] Cell text(std::string value);
[[nodiscard]] Cell integer(long long value);
/// `value` × `scale` with `decimals` for people, `value` unrounded for programs. Not a number or
/// infinite: "–" and an empty field.
[[nodiscard]] Cell number(double value, int decimals, double scale = 1);
/// With its sign: "+1.3". `fraction` 0.013 is 1.3 %.
[[nodiscard]] Cell percent(double fraction, int decimals = 1);
[[nodiscard]] Cell missing();

/// One line a row, columns two spaces apart, no trailing blanks. Widths count characters, not
/// bytes.
[[nodiscard]] std::string toText(const Table& table);
/// RFC 4180, keys as the header, "\n" as the line end.
[[nodiscard]] std::string toCsv(const Table& table);

} // namespace kerf::cli

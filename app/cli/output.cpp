// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include "app/cli/exit_codes.h"
#include "app/cli/progress_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>

namespace kerf::cli {

void addFormatOptions(CLI::App& verb, Format& format) {
    auto* json = verb.add_flag_callback(
        "--json", [&format] { format = Format::Json; }, "JSON on stdout");
    auto* csv = verb.add_flag_callback(
        "--csv", [&format] { format = Format::Csv; }, "CSV on stdout");
    json->excludes(csv);
}

int print(const std::string& text) {
    clearProgressLine();
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) {
        fmt::print(stderr, "kerf: the result cannot be written to the standard output\n");
        return kBadInput;
    }
    return kOk;
}

int print(const nlohmann::ordered_json& json) {
    using Json = nlohmann::ordered_json;
    return print(json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
}

int print(const Table& table, Format format, const std::string& after) {
    return print(format == Format::Csv ? toCsv(table) : toText(table) + after);
}

} // namespace kerf::cli

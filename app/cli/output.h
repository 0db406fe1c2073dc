// SPDX-License-Identifier: GPL-3.0-or-later
// Where a verb's result goes, and in which of three forms.
#pragma once

#include "app/cli/table.h"

#include <nlohmann/json.hpp>

namespace CLI {
class App;
}

namespace kerf::cli {

enum class Format { Table, Json, Csv };

/// Adds --json and --csv (not both) to a verb.
void addFormatOptions(CLI::App& verb, Format& format);

/// Writes to stdout, UTF-8. Returns kOk, or kBadInput after a message where stdout cannot be
/// written.
int print(const std::string& text);
int print(const nlohmann::ordered_json& json);
/// The table as text or CSV; `after` follows it in the text form only.
int print(const Table& table, Format format, const std::string& after = {});

} // namespace kerf::cli

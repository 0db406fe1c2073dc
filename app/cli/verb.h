// SPDX-License-Identifier: GPL-3.0-or-later
// The verbs of the command line, one file each.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"

#include <functional>

namespace CLI {
class App;
}

namespace kerf::cli {

/// What was asked for, ready to run. Returns an exit code (exit_codes.h).
using Action = std::function<int(Progress&)>;

/// Each declares one verb with its options on `app`; if that verb is given, it sets `action`.
void addImport(CLI::App& app, Action& action);
void addInfo(CLI::App& app, Action& action);
void addExport(CLI::App& app, Action& action);
void addReplay(CLI::App& app, Action& action);
void addPredict(CLI::App& app, Action& action);
void addSearch(CLI::App& app, Action& action);
void addCategories(CLI::App& app, Action& action);
void addValidate(CLI::App& app, Action& action);
void addReport(CLI::App& app, Action& action); ///< in kerf_app: the one verb that draws

/// Prints `kerf: what, where, advice` as one line on stderr. Returns `code`, or kCancelled if
/// `progress` was cancelled (the error is then a consequence and not worth a line).
int explain(const Error& error, int code, const Progress& progress);

} // namespace kerf::cli

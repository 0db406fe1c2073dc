// SPDX-License-Identifier: GPL-3.0-or-later
// What the recorder tells of a file when the program has ended.
#pragma once

#include <string>

namespace kerf::collector {

/// One line: how much was recorded and lost. Errors say what is wrong with the file.
[[nodiscard]] std::string summaryOf(const std::string& path);

/// Copies the graph launches of a pass without node-level tracing into `into`, as the table
/// untraced_graph_launches, and says what node-level tracing cost: by launch of a graph, from the
/// first node's start to the last one's end against the launch as a whole.
[[nodiscard]] std::string joinPasses(const std::string& untraced, const std::string& into);

} // namespace kerf::collector

// SPDX-License-Identifier: GPL-3.0-or-later
// One open .kerfrec file. Used by one thread at a time.
#pragma once

#include "cupti_collector/rows/rows.h"

#include <memory>
#include <string>
#include <string_view>

namespace kerf::collector {

/// Writes rows to a new file. Functions return an empty text, or what went wrong as one line.
/// After a failed write everything up to the last commit stays readable.
class Database {
public:
    Database();
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Makes `path`, which must not exist, with the schema.
    [[nodiscard]] std::string create(const std::string& path);

    [[nodiscard]] std::string setMeta(std::string_view key, std::string_view value);
    /// Rows become durable with commit(). `loss` of the batch is not written.
    [[nodiscard]] std::string write(const RowBatch& batch);
    /// Replaces the health table's counts by these and commits.
    [[nodiscard]] std::string commit(const Loss& total);
    /// Folds the write-ahead log into the file and closes it: one file is left.
    [[nodiscard]] std::string close();

    [[nodiscard]] bool isOpen() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Folds what a killed process left in `path`'s write-ahead log into the file.
/// Returns an empty text, or what went wrong.
[[nodiscard]] std::string recoverDatabase(const std::string& path);

} // namespace kerf::collector

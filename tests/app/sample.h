// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that every checkout has: the sample's, llama-1b at batch 1, 8 and 32 (36 kB each).
#pragma once

#include "tests/shared_data.h"

#include <QString>

namespace kerf::test {

inline std::filesystem::path sampleDir() {
    return sourceDir() / "resources" / "sample";
}

inline std::filesystem::path llama(int batch) {
    return sampleDir() / ("llama-1b_b" + std::to_string(batch) + ".json.gz");
}

inline QString qt(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

} // namespace kerf::test

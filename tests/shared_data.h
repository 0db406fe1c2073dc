// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTest>
#include <filesystem>

namespace kerf::test {

inline std::filesystem::path sharedData() {
    return std::filesystem::path(KERF_SHARED_DIR) / "data";
}
inline std::filesystem::path testData() {
    return KERF_TEST_DATA;
}
inline std::filesystem::path sourceDir() {
    return KERF_SOURCE_DIR;
}

} // namespace kerf::test

/// Skips a test that needs the reference recordings and says so.
#define KERF_NEEDS_SHARED_DATA()                                                                   \
    do {                                                                                           \
        if (!std::filesystem::exists(kerf::test::sharedData())) {                                  \
            QSKIP("skipped: the reference recordings (shared/data) are not beside this checkout"); \
        }                                                                                          \
    } while (false)

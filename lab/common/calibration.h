// SPDX-License-Identifier: GPL-3.0-or-later
// What a calibration found, and its hardware file.
#pragma once

#include "lab/common/statistics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::lab {

struct Figure {
    std::string name; ///< a constant of docs/formats/hardware.md, or a finding of its own
    std::string unit;
    Summary value;
    std::string how;
};

struct Point {
    double x = 0;
    Summary y;
};

struct Series {
    std::string name;
    std::string x;    ///< what x counts
    std::string unit; ///< of y
    std::vector<Point> points;
    std::string how;
};

struct Limits {
    int sm_count = 0;
    std::int64_t l2_bytes = 0;
    int registers_per_sm = 0;
    int shared_bytes_per_sm = 0;
    int shared_bytes_per_block_max = 0;
    int shared_bytes_reserved_per_block = 0;
    int max_threads_per_sm = 0;
    int max_blocks_per_sm = 0;
};

struct Environment {
    std::string gpu;
    std::string driver; ///< "unknown" where the management library is not there
    std::string cuda;
    std::string date;               ///< UTC, YYYY-MM-DD
    double sm_clock_before_mhz = 0; ///< measured: cycles over the global timer
    double sm_clock_after_mhz = 0;
    int memory_clock_mhz = 0; ///< as the driver reports it during the run; 0 when unknown
    bool quick = false;
};

struct Calibration {
    Environment environment;
    Limits limits;
    std::vector<Figure> figures;
    std::vector<Series> series;
};

[[nodiscard]] const Figure* findFigure(const Calibration& calibration, const std::string& name);
[[nodiscard]] const Series* findSeries(const Calibration& calibration, const std::string& name);

/// The hardware file (docs/formats/hardware.md) of a calibration. Figures that it lacks are taken
/// from `base_json`, a hardware file of the same GPU, or, without one, from estimates that say so.
/// Throws LabError: a base that is no hardware file or of another GPU; a figure that is needed and
/// neither measured nor in the base; a measured figure that is not a positive number.
[[nodiscard]] std::string hardwareJson(const Calibration& calibration,
                                       const std::string& base_json = {});

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stdexcept>

namespace kerf::lab {

/// What went wrong in the lab, with what to do. Thrown inside the program, caught in main only.
struct LabError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
// Times in trace files are decimal µs, often beyond what a double can hold.
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>

namespace kerf::trace {

enum class DecimalFault : std::uint8_t {
    NotANumber, ///< no decimal number: text, quoted number, empty
    NotFinite,  ///< NaN or an infinity, bare or quoted
    OutOfRange, ///< does not fit 64-bit ns
};

/// "is not a number", "is not finite", …
[[nodiscard]] std::string_view toString(DecimalFault fault);

/// Decimal text of µs → ns, exact: no floating point in between. Sign, any number of decimals and
/// an exponent are understood; digits below 1 ns are rounded, halves away from zero.
[[nodiscard]] tl::expected<std::int64_t, DecimalFault> nanosecondsOf(std::string_view microseconds);

/// Decimal text of a whole number ("7", "7.0", "1e3"), exact.
/// A fraction is OutOfRange.
[[nodiscard]] tl::expected<std::int64_t, DecimalFault> integerOf(std::string_view text);

} // namespace kerf::trace

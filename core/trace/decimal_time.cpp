// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/decimal_time.h"

#include <algorithm>
#include <limits>

namespace kerf::trace {
namespace {

using Fault = tl::unexpected<DecimalFault>;

/// A decimal number: ±0.DIGITS × 10^point, digits given as two runs of text.
struct Decimal {
    bool negative = false;
    std::string_view whole;
    std::string_view fraction;
    std::int64_t point = 0; ///< digits before the decimal point, exponent applied

    [[nodiscard]] std::int64_t digits() const {
        return static_cast<std::int64_t>(whole.size() + fraction.size());
    }
    [[nodiscard]] unsigned digit(std::int64_t index) const {
        const auto at = static_cast<std::size_t>(index);
        const char c = at < whole.size() ? whole[at] : fraction[at - whole.size()];
        return static_cast<unsigned>(c - '0');
    }
};

std::string_view takeDigits(std::string_view& text) {
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
        ++count;
    }
    const auto digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

bool takeSign(std::string_view& text) {
    const bool negative = !text.empty() && text.front() == '-';
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        text.remove_prefix(1);
    }
    return negative;
}

/// NaN, Infinity, inf in any letter case, signed or not, quoted or not.
bool isNotFinite(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        text = text.substr(1, text.size() - 2);
    }
    takeSign(text);
    const auto is = [text](std::string_view word) {
        return std::ranges::equal(text, word, [](char a, char b) { return (a | 0x20) == b; });
    };
    return is("nan") || is("inf") || is("infinity");
}

tl::expected<Decimal, DecimalFault> parse(std::string_view text) {
    const std::string_view all = text;
    const auto notANumber = [all] {
        return Fault(isNotFinite(all) ? DecimalFault::NotFinite : DecimalFault::NotANumber);
    };
    Decimal decimal;
    decimal.negative = takeSign(text);
    decimal.whole = takeDigits(text);
    if (decimal.whole.empty()) {
        return notANumber();
    }
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        decimal.fraction = takeDigits(text);
        if (decimal.fraction.empty()) {
            return notANumber();
        }
    }
    std::int64_t exponent = 0;
    if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
        text.remove_prefix(1);
        const bool negative = takeSign(text);
        const auto digits = takeDigits(text);
        if (digits.empty()) {
            return notANumber();
        }
        for (const char c : digits) {
            // beyond this no digit of a trace is left; the cap keeps the sum below from overflowing
            exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 1'000'000'000'000);
        }
        exponent = negative ? -exponent : exponent;
    }
    if (!text.empty()) {
        return notANumber();
    }
    decimal.point = static_cast<std::int64_t>(decimal.whole.size()) + exponent;
    return decimal;
}

/// The number's digits up to `point`, as a whole number; `rest_digit` is the next one.
tl::expected<std::int64_t, DecimalFault> wholePart(const Decimal& decimal, unsigned& rest_digit) {
    std::int64_t first = 0; // leading zeros do not count against the range
    while (first < decimal.digits() && decimal.digit(first) == 0) {
        ++first;
    }
    rest_digit = 0;
    if (first == decimal.digits() || decimal.point < first) {
        return 0; // zero, or below a tenth
    }
    if (decimal.point - first > 19) {
        return Fault(DecimalFault::OutOfRange);
    }
    std::int64_t value = 0;
    for (std::int64_t i = first; i < decimal.point; ++i) {
        const std::int64_t digit = i < decimal.digits() ? decimal.digit(i) : 0;
        if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return Fault(DecimalFault::OutOfRange);
        }
    }
    rest_digit = decimal.point < decimal.digits() ? decimal.digit(decimal.point) : 0;
    return value;
}

} // namespace

std::string_view toString(DecimalFault fault) {
    switch (fault) {
    case DecimalFault::NotANumber:
        return "is not a number";
    case DecimalFault::NotFinite:
        return "is not finite";
    case DecimalFault::OutOfRange:
        break;
    }
    return "is out of range";
}

tl::expected<std::int64_t, DecimalFault> nanosecondsOf(std::string_view microseconds) {
    auto decimal = parse(microseconds);
    if (!decimal) {
        return Fault(decimal.error());
    }
    decimal->point += 3; // µs → ns
    unsigned rest_digit = 0;
    const auto magnitude = wholePart(*decimal, rest_digit);
    if (!magnitude) {
        return magnitude;
    }
    std::int64_t value = *magnitude;
    if (rest_digit >= 5) {
        if (value == std::numeric_limits<std::int64_t>::max()) {
            return Fault(DecimalFault::OutOfRange);
        }
        ++value;
    }
    return decimal->negative ? -value : value;
}

tl::expected<std::int64_t, DecimalFault> integerOf(std::string_view text) {
    const auto decimal = parse(text);
    if (!decimal) {
        return Fault(decimal.error());
    }
    for (std::int64_t i = std::max<std::int64_t>(decimal->point, 0); i < decimal->digits(); ++i) {
        if (decimal->digit(i) != 0) {
            return Fault(DecimalFault::OutOfRange);
        }
    }
    unsigned rest_digit = 0;
    const auto magnitude = wholePart(*decimal, rest_digit);
    if (!magnitude) {
        return magnitude;
    }
    return decimal->negative ? -*magnitude : *magnitude;
}

} // namespace kerf::trace

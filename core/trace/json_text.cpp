// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/json_text.h"

#include "core/trace/decimal_time.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace kerf::trace {
namespace {

/// The number that four hexadecimal digits at `at` stand for.
std::optional<std::uint32_t> hexAt(std::string_view text, std::size_t at) {
    std::uint32_t value = 0;
    if (at + 4 > text.size()) {
        return std::nullopt;
    }
    const auto result = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
    if (result.ec != std::errc{} || result.ptr != text.data() + at + 4) {
        return std::nullopt;
    }
    return value;
}

void appendUtf8(std::string& out, std::uint32_t code) {
    const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

bool isHighSurrogate(std::uint32_t code) {
    return code >= 0xD800 && code < 0xDC00;
}
bool isLowSurrogate(std::uint32_t code) {
    return code >= 0xDC00 && code < 0xE000;
}

/// Appends the character of the \u escape at `at`; returns the bytes used, 0 where it is none.
std::size_t unescapeUnicode(std::string_view written, std::size_t at, std::string& out) {
    auto code = hexAt(written, at + 2);
    if (!code) {
        return 0;
    }
    std::size_t used = 6;
    if (isHighSurrogate(*code) && written.substr(at + used).starts_with("\\u")) {
        const auto low = hexAt(written, at + used + 2);
        if (low && isLowSurrogate(*low)) {
            code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
            used += 6;
        }
    }
    constexpr std::uint32_t kReplacement = 0xFFFD;
    appendUtf8(out, isHighSurrogate(*code) || isLowSurrogate(*code) ? kReplacement : *code);
    return used;
}

/// Length of the valid UTF-8 sequence that begins at `at`; 0 where there is none.
std::size_t utf8Length(std::span<const char> text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first >= 0xC2 && first <= 0xDF) {
        return follows(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) >= 0xA0;
        return !overlong && !surrogate && follows(1) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool too_large = first == 0xF4 && byte(1) >= 0x90;
        return !overlong && !too_large && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

} // namespace

bool isJsonScalar(std::string_view token) {
    if (token == "true" || token == "false" || token == "null" || token == "NaN" ||
        token == "Infinity" || token == "-Infinity") {
        return true;
    }
    if (token.empty() ||
        !(token.front() == '-' || (token.front() >= '0' && token.front() <= '9'))) {
        return false;
    }
    const auto number = nanosecondsOf(token);
    return number.has_value() || number.error() == DecimalFault::OutOfRange;
}

std::string unescapeJson(std::string_view written) {
    constexpr std::string_view kWritten = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    std::string out;
    out.reserve(written.size());
    std::size_t at = 0;
    while (at < written.size()) {
        if (written[at] == '\\' && at + 1 < written.size()) {
            const auto known = kWritten.find(written[at + 1]);
            if (known != std::string_view::npos) {
                out.push_back(kMeant[known]);
                at += 2;
                continue;
            }
            if (written[at + 1] == 'u') {
                if (const std::size_t used = unescapeUnicode(written, at, out)) {
                    at += used;
                    continue;
                }
            }
        }
        out.push_back(written[at++]);
    }
    return out;
}

JsonRepairs repairJson(std::span<char> text) {
    JsonRepairs repairs;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte >= 0x80) {
            const std::size_t length = utf8Length(text, at);
            if (length == 0) {
                text[at] = '?';
                ++repairs.invalid_utf8;
            } else {
                at += length - 1;
            }
        } else if (in_string && byte < 0x20) {
            text[at] = ' ';
            ++repairs.control_characters;
        } else if (in_string && byte == '\\') {
            // a control character behind a backslash is repaired in the next round
            if (at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\')) {
                ++at;
            }
        } else if (byte == '"') {
            in_string = !in_string;
        }
    }
    return repairs;
}

} // namespace kerf::trace

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/lazy_json.h"

#include "core/trace/decimal_time.h"
#include "core/trace/json_text.h"

namespace kerf::trace::lazy {
namespace {

constexpr int kMaxNesting = 200; // deeper values than any trace has would exhaust the stack

} // namespace

std::string_view keyOf(const od::field& field) {
    const char* begin = field.key().raw();
    const char* end = begin;
    while (*end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    return {begin, static_cast<std::size_t>(end - begin)};
}

error_code read(od::value value, std::string_view& text, int nesting) {
    text = {};
    if (nesting > kMaxNesting) {
        return simdjson::DEPTH_ERROR;
    }
    std::string_view token = value.raw_json_token();
    const auto readInner = [nesting](od::value inner) {
        std::string_view unused;
        return read(inner, unused, nesting + 1);
    };
    if (token.front() == '{') {
        od::object object;
        if (const auto error = value.get_object().get(object)) {
            return error;
        }
        return eachField(object, [&](od::field& field) { return readInner(field.value()); });
    }
    if (token.front() == '[') {
        od::array array;
        if (const auto error = value.get_array().get(array)) {
            return error;
        }
        return eachElement(array, readInner);
    }
    token.remove_suffix(token.size() - 1 - token.find_last_not_of(" \t\r\n"));
    if (token.front() == '"') {
        // taken explicitly: a string that is passed over takes a ':' behind it along
        od::raw_json_string taken;
        if (const auto error = value.get_raw_json_string().get(taken)) {
            return error;
        }
    } else if (!isJsonScalar(token)) {
        return simdjson::TAPE_ERROR;
    }
    text = token;
    return SUCCESS;
}

error_code skip(od::value value) {
    std::string_view unused;
    return read(value, unused);
}

bool isContainer(od::value value, char bracket) {
    return std::string_view(value.raw_json_token()).front() == bracket;
}

std::string_view withoutQuotes(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::int64_t> integer(std::string_view text) {
    const auto value = integerOf(withoutQuotes(text));
    return value ? std::optional(*value) : std::nullopt;
}

} // namespace kerf::trace::lazy

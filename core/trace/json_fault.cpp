// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/json_fault.h"

#include "core/trace/json_text.h"

#include <cstdint>
#include <fmt/format.h>
#include <utility>

namespace kerf::trace {
namespace {

bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string shown(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x7f ? fmt::format("byte 0x{:02x}", byte)
                                       : fmt::format("'{}'", c);
}

/// Finds the first fault, without recursion: nesting is kept in `open_`.
class FaultFinder {
public:
    explicit FaultFinder(std::string_view text) : text_(text) {}

    std::optional<JsonFault> find() {
        while (!fault_ && !done_) {
            step();
        }
        if (!fault_) {
            skipSpace();
            if (at_ < text_.size()) {
                setFault(fmt::format("{} after the end of the JSON value", shown(text_[at_])));
            }
        }
        return fault_;
    }

private:
    enum class Next : std::uint8_t { Value, ValueOrEnd, Key, KeyOrEnd, CommaOrEnd };

    void setFault(std::string what) { fault_ = JsonFault{at_, std::move(what)}; }

    void setUnexpected(std::string_view expected) {
        if (at_ >= text_.size()) {
            setFault(open_.empty() ? std::string("the text ends where a value should be")
                                   : fmt::format("the text ends inside {}",
                                                 open_.back() == '{' ? "an object" : "a list"));
        } else {
            setFault(fmt::format("{} expected, found {}", expected, shown(text_[at_])));
        }
    }

    void skipSpace() {
        while (at_ < text_.size() && isSpace(text_[at_])) {
            ++at_;
        }
    }

    bool take(char c) {
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }

    void closed() {
        next_ = Next::CommaOrEnd;
        done_ = open_.empty();
    }

    void step() {
        skipSpace();
        const bool in_object = !open_.empty() && open_.back() == '{';
        switch (next_) {
        case Next::KeyOrEnd:
        case Next::ValueOrEnd:
            if (take(in_object ? '}' : ']')) {
                open_.pop_back();
                closed();
                return;
            }
            next_ = in_object ? Next::Key : Next::Value;
            return;
        case Next::Key:
            if (!take('"')) {
                setUnexpected("a key in quotes");
            } else if (string()) {
                skipSpace();
                if (take(':')) {
                    next_ = Next::Value;
                } else {
                    setUnexpected("':'");
                }
            }
            return;
        case Next::CommaOrEnd:
            if (take(',')) {
                next_ = in_object ? Next::Key : Next::Value;
            } else if (take(in_object ? '}' : ']')) {
                open_.pop_back();
                closed();
            } else {
                setUnexpected(in_object ? "',' or '}'" : "',' or ']'");
            }
            return;
        case Next::Value:
            value();
            return;
        }
    }

    void value() {
        if (take('{')) {
            open_.push_back('{');
            next_ = Next::KeyOrEnd;
        } else if (take('[')) {
            open_.push_back('[');
            next_ = Next::ValueOrEnd;
        } else if (take('"')) {
            if (string()) {
                closed();
            }
        } else {
            scalar();
        }
    }

    /// After the opening quote.
    bool string() {
        const std::size_t begin = at_ - 1;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '"') {
                return true;
            }
            at_ += c == '\\' ? 1 : 0;
        }
        at_ = text_.size();
        setFault(fmt::format("the text ends inside the string that begins at byte {}", begin));
        return false;
    }

    void scalar() {
        std::size_t end = at_;
        while (end < text_.size() && !isSpace(text_[end]) &&
               std::string_view(",:[]{}\"").find(text_[end]) == std::string_view::npos) {
            ++end;
        }
        const auto token = text_.substr(at_, end - at_);
        if (token.empty()) {
            setUnexpected("a value");
        } else if (!isJsonScalar(token)) {
            setFault(end == text_.size() && !open_.empty()
                         ? fmt::format("the text ends inside a value, after \"{}\"", token)
                         : fmt::format("\"{}\" is no JSON value", token.substr(0, 40)));
        } else {
            at_ = end;
            closed();
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Next next_ = Next::Value;
    std::string open_; ///< '{' and '[' that are not closed yet
    bool done_ = false;
    std::optional<JsonFault> fault_;
};

} // namespace

std::optional<JsonFault> findJsonFault(std::string_view text) {
    return FaultFinder(text).find();
}

} // namespace kerf::trace

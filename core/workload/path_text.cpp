// SPDX-License-Identifier: GPL-3.0-or-later
// Text form of a path: "prefill, 4 × (talker_step, 15 × code_predictor_step), codec_chunk".
#include "core/workload/workload.h"

#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace kerf::workload {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::string_view kTimes = "×";

void append(Path& path, const PathStep& step) {
    if (!path.empty() && path.back().stage == step.stage) {
        path.back().repeats += step.repeats;
    } else {
        path.push_back(step);
    }
}

std::int64_t executions(const Path& path) {
    std::int64_t sum = 0;
    for (const PathStep& step : path) {
        sum += step.repeats;
    }
    return sum;
}

/// Recursive descent: list = item {"," item}; item = [number times] (stage | "(" list ")").
class Parser {
public:
    Parser(const Workload& workload, std::string_view text) : m_workload(workload), m_text(text) {}

    Expected<Path> parse() {
        auto path = list(0);
        if (path && m_at < m_text.size()) {
            return error("unexpected text", "separate the steps with commas");
        }
        return path;
    }

private:
    static constexpr int kDeepest = 64;

    Expected<Path> list(int depth) {
        Path path;
        do {
            auto part = item(depth);
            if (!part) {
                return part;
            }
            if (executions(path) + executions(*part) > kMostSteps) {
                return error("the path has more than a million steps", "use smaller repeats");
            }
            for (const PathStep& step : *part) {
                append(path, step);
            }
        } while (take(","));
        return path;
    }

    Expected<Path> item(int depth) {
        skipSpace();
        if (const auto stage = takeStage()) { // first: a stage may be called "2 x"
            return Path{{*stage, 1}};
        }
        std::int64_t repeats = 1;
        if (m_at < m_text.size() && isDigit(m_text[m_at])) {
            const std::size_t begin = m_at;
            const char* first = m_text.data() + m_at;
            const auto [last, status] =
                std::from_chars(first, m_text.data() + m_text.size(), repeats);
            m_at += static_cast<std::size_t>(last - first);
            if (status != std::errc() || repeats < 1 || repeats > kMostSteps) {
                m_at = begin;
                return error("repeats must be between 1 and a million", "write e.g. 15 × NAME");
            }
            if (!take(kTimes) && !take("x") && !take("X") && !take("*")) {
                return error("expected × after the number", "write e.g. 15 × NAME");
            }
        }
        auto body = group(depth);
        if (!body) {
            return body;
        }
        if (executions(*body) * repeats > kMostSteps) {
            return error("the path has more than a million steps", "use smaller repeats");
        }
        if (body->size() == 1) {
            body->front().repeats *= static_cast<int>(repeats);
            return body;
        }
        Path path;
        for (std::int64_t i = 0; i < repeats; ++i) {
            for (const PathStep& step : *body) {
                append(path, step);
            }
        }
        return path;
    }

    Expected<Path> group(int depth) {
        skipSpace();
        if (const auto stage = takeStage()) {
            return Path{{*stage, 1}};
        }
        if (depth >= kDeepest || !take("(")) {
            return error("unknown stage", "known stages: " + stageNames());
        }
        auto body = list(depth + 1);
        if (body && !take(")")) {
            return error("expected , or )", "close every parenthesis");
        }
        return body;
    }

    /// The longest stage name at this place that ends an item.
    std::optional<std::size_t> takeStage() {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < m_workload.stages.size(); ++i) {
            const std::string& name = m_workload.stages[i].name;
            if (name.empty() || !m_text.substr(m_at).starts_with(name) ||
                (found && m_workload.stages[*found].name.size() >= name.size())) {
                continue;
            }
            const auto after = m_text.find_first_not_of(" \t\n", m_at + name.size());
            if (after == std::string_view::npos || m_text[after] == ',' || m_text[after] == ')') {
                found = i;
            }
        }
        if (found) {
            m_at += m_workload.stages[*found].name.size();
            skipSpace();
        }
        return found;
    }

    bool take(std::string_view token) {
        skipSpace();
        if (!m_text.substr(m_at).starts_with(token)) {
            return false;
        }
        m_at += token.size();
        skipSpace();
        return true;
    }

    void skipSpace() {
        while (m_at < m_text.size() &&
               std::isspace(static_cast<unsigned char>(m_text[m_at])) != 0) {
            ++m_at;
        }
    }

    static bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

    [[nodiscard]] std::string stageNames() const {
        std::string names;
        for (const Stage& stage : m_workload.stages) {
            names += (names.empty() ? "" : ", ") + stage.name;
        }
        return names;
    }

    [[nodiscard]] tl::unexpected<Error> error(const std::string& what, std::string advice) const {
        const auto end = m_text.find_first_of(",()", m_at);
        const std::string_view here = m_text.substr(m_at, end == m_at ? 1 : end - m_at);
        return fail(here.empty() ? what + " at the end" : fmt::format("{} at \"{}\"", what, here),
                    fmt::format("path, byte {}", m_at), std::move(advice));
    }

    const Workload& m_workload;
    std::string_view m_text;
    std::size_t m_at = 0;
};

} // namespace

std::string formatPath(const Workload& workload, const Path& path) {
    std::string text;
    for (const PathStep& step : path) {
        text += text.empty() ? "" : ", ";
        text += step.repeats == 1 ? "" : fmt::format("{} {} ", step.repeats, kTimes);
        text += workload.stages[step.stage].name;
    }
    return text;
}

Expected<Path> parsePath(const Workload& workload, std::string_view text) {
    return Parser(workload, text).parse();
}

} // namespace kerf::workload

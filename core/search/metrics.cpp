// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/metrics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kerf::search {

namespace {

constexpr std::size_t kFewestForP99 = 100;
/// Rounding of figures that people write down: 3 × 26.67 ms is meant to be 80 ms.
constexpr double kSameAudio = 1e-3;

bool holdsSeveralStages(const workload::PathNode& node) {
    return node.children.size() > 1 || (node.isLoop() && holdsSeveralStages(node.children.front()));
}

/// Passes of the first loop over more than one stage; 0: none.
int frameLoop(const workload::PathTree& tree) {
    for (const auto& node : tree) {
        if (node.isLoop() && holdsSeveralStages(node)) {
            return node.count;
        }
    }
    return 0;
}

/// How often the path's last stage passes in a row at its end; 0: it ends inside a larger loop.
int lastPasses(const workload::PathTree& tree) {
    if (tree.empty()) {
        return 0;
    }
    const auto& last = tree.back();
    if (!last.isLoop()) {
        return 1;
    }
    return last.children.size() == 1 && !last.children.front().isLoop() ? last.count : 0;
}

Expected<void> checkFigures(const OutputSettings& settings, const std::string& where) {
    const std::pair<const char*, double> figures[] = {
        {"audio_ms_per_path", settings.audio_ms_per_path},
        {"first_chunk_frames", settings.first_chunk_frames},
        {"frame_audio_ms", settings.frame_audio_ms},
        {"requests_per_last_pass", settings.requests_per_last_pass}};
    for (const auto& [name, value] : figures) {
        if (!(value >= 0) || !std::isfinite(value)) {
            return fail(fmt::format("{} is {}", name, value), where,
                        "Give a positive figure, or 0 where it is not known.");
        }
    }
    return {};
}

} // namespace

Expected<Output> outputOf(const OutputSettings& settings, const workload::PathTree& tree, int batch,
                          const std::string& where) {
    if (auto checked = checkFigures(settings, where); !checked) {
        return tl::unexpected(checked.error());
    }
    Output output;
    const int loop = frameLoop(tree);
    if (loop > 0 && settings.first_chunk_frames > 0 && settings.first_chunk_frames != loop) {
        return fail(fmt::format("first_chunk_frames is {}, but the path's loop makes {}",
                                settings.first_chunk_frames, loop),
                    where, "Change the count in the path's text, or leave the field out.");
    }
    output.first_chunk_frames = loop > 0 ? loop : settings.first_chunk_frames;
    const double framesMs = output.first_chunk_frames * settings.frame_audio_ms;
    const double passMs = settings.audio_ms_per_path;
    if (loop > 0 && framesMs > 0 && passMs > 0 &&
        std::abs(framesMs - passMs) > kSameAudio * passMs) {
        return fail(fmt::format("audio_ms_per_path is {}, but {} frames of {} ms are {} ms", passMs,
                                loop, settings.frame_audio_ms, framesMs),
                    where, "Leave one of the two out.");
    }
    output.first_chunk_audio_ms = framesMs > 0 ? framesMs : passMs;
    output.chunk_audio_ms = passMs > 0 ? passMs : framesMs;

    if (settings.requests_per_last_pass > 0) {
        const int each = settings.requests_per_last_pass;
        const int needed = batch / each + (batch % each > 0 ? 1 : 0);
        const int passes = lastPasses(tree);
        if (passes != needed && (needed > 1 || passes > 1)) {
            return fail(fmt::format("{} requests at a time are {} passes of the path's last stage "
                                    "at batch {}, but the path ends with {}",
                                    each, needed, batch, passes),
                        where,
                        "Change requests_per_last_pass or the path's text, or leave the field "
                        "out: then all requests leave at the path's end.");
        }
        output.last_passes = needed;
    }
    return output;
}

Expected<double> percentile(std::vector<double> samples, double share) {
    if (samples.empty() || !(share >= 0 && share <= 1)) {
        return fail(fmt::format("no percentile {} of {} samples", share * 100, samples.size()));
    }
    if (share > 0.95 && samples.size() < kFewestForP99) {
        return fail(
            fmt::format("percentile {} of {} samples would be noise", share * 100, samples.size()),
            {}, fmt::format("Take at least {} samples.", kFewestForP99));
    }
    std::sort(samples.begin(), samples.end());
    const double place = share * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return std::lerp(samples[below], samples[above], place - static_cast<double>(below));
}

std::vector<double> requestTimesUs(double first_us, double last_us, int passes,
                                   int requests_per_pass, int requests) {
    std::vector<double> times;
    for (int i = 0; i < requests; ++i) {
        const int pass = passes > 1 ? std::min(i / requests_per_pass, passes - 1) : 0;
        times.push_back(passes > 1 ? std::lerp(first_us, last_us, pass / (passes - 1.0)) : last_us);
    }
    return times;
}

Playback playbackOf(double first_audio_us, double chunk_audio_us, double gap_us) {
    Playback playback;
    playback.underrun_us = std::max(0.0, gap_us - chunk_audio_us);
    // Chunk k comes at (k − 1) gap; the audio before it ends at first + (k − 2) audio. It is late
    // when (k − 1)(gap − audio) > first − audio.
    const double lead_us = first_audio_us - chunk_audio_us;
    if (gap_us - chunk_audio_us > lead_us) {
        playback.stalls_at_chunk = 2;
    } else if (playback.underrun_us > 0) {
        playback.stalls_at_chunk =
            static_cast<std::int64_t>(std::floor(std::min(lead_us / playback.underrun_us, 1e15))) +
            2;
    }
    return playback;
}

} // namespace kerf::search

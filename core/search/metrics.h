// SPDX-License-Identifier: GPL-3.0-or-later
// What a listener and an operator feel: request times within a batch, chunks and stalls.
#pragma once

#include "core/base/error.h"
#include "core/workload/path_tree.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kerf::search {

/// What the user says of a model's output; 0: not given.
struct OutputSettings {
    double audio_ms_per_path = 0;   ///< playable audio of one steady pass
    int first_chunk_frames = 0;     ///< frames that the path makes before its first output
    double frame_audio_ms = 0;      ///< playable audio of one frame
    int requests_per_last_pass = 0; ///< requests whose first output each pass of the path's last
                                    ///< stage completes; 0: all leave together at the path's end
};

/// The same, made complete with what the path says. 0: text, or not known.
struct Output {
    int first_chunk_frames = 0;
    double first_chunk_audio_ms = 0;
    double chunk_audio_ms = 0; ///< of a steady pass, which makes one chunk a request
    int last_passes = 1; ///< passes of the last stage that release requests, one after another
};

/// Frames: the passes of the path's first loop over more than one stage (a frame is one pass of
/// it); a path without one makes as many as `first_chunk_frames` says. A steady pass runs the same
/// loop as often, so it makes a chunk of as many frames. Errors: a negative or non-finite figure;
/// frames that contradict the loop; frames and audio that contradict each other; a last stage that
/// does not pass ⌈batch / requests_per_last_pass⌉ times.
[[nodiscard]] Expected<Output> outputOf(const OutputSettings& settings,
                                        const workload::PathTree& tree, int batch,
                                        const std::string& where);

/// Linear between order statistics, as numpy's default: place = share × (N − 1).
/// Errors: no samples; a share outside 0…1; more than 0.95 of fewer than 100 samples.
[[nodiscard]] Expected<double> percentile(std::vector<double> samples, double share);

/// When each request of a batch has its first output, µs, ascending: `passes` equal steps from the
/// first pass's end to the last's, each releasing `requests_per_pass` requests, the last the rest.
[[nodiscard]] std::vector<double> requestTimesUs(double first_us, double last_us, int passes,
                                                 int requests_per_pass, int requests);

struct Playback {
    double underrun_us = 0;           ///< a chunk: by how much the gap exceeds the chunk's audio
    std::int64_t stalls_at_chunk = 0; ///< the first chunk that comes too late; the first output is
                                      ///< chunk 1; 0: playback never stalls
};
/// Chunk 1 is played as it comes and holds `first_audio_us`; chunk k ≥ 2 comes (k − 1) × `gap_us`
/// later and holds `chunk_audio_us`. All positive.
[[nodiscard]] Playback playbackOf(double first_audio_us, double chunk_audio_us, double gap_us);

/// Of one prediction. A batch's requests are submitted together.
struct StreamingMetrics {
    int requests = 1;                ///< the population of the percentiles: the batch's requests
    double first_request_us = 0;     ///< until the first request has its first output
    double batch_p95_us = 0;         ///< 95th percentile over the requests
    double batch_p99_us = 0;         ///< 0: fewer than 100 requests
    double mean_batch_p95_us = 0;    ///< mean over the replicas; 0: no replicas
    double inter_chunk_us = 0;       ///< between two outputs of a request: one steady pass
    double first_chunk_audio_us = 0; ///< 0, as all below: text, or not known
    double chunk_audio_us = 0;
    Playback playback{};
};

} // namespace kerf::search

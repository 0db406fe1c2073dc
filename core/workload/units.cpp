// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>

namespace kerf::workload {
namespace {

using trace::Activity;
using trace::Annotation;
using trace::ApiCall;
using trace::Recording;
using CallIndex = std::uint32_t;

std::int64_t endOf(const Activity& a) {
    return a.start_ns + a.duration_ns;
}
std::int64_t endOf(const Annotation& a) {
    return a.start_ns + a.duration_ns;
}

std::int32_t busiestDevice(const Recording& recording, std::vector<std::string>& notes) {
    std::map<std::int32_t, std::int64_t> busy_ns;
    for (const Activity& activity : recording.activities) {
        busy_ns[activity.device] += activity.duration_ns + 1; // + 1: zero durations count too
    }
    const auto busiest =
        std::max_element(busy_ns.begin(), busy_ns.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (busy_ns.size() > 1) {
        notes.push_back(fmt::format("{} devices in the recording; only the busiest, {}, is used.",
                                    busy_ns.size(), busiest->first));
    }
    return busiest->first;
}

/// "ProfilerStep#12" → "ProfilerStep": a counter is no part of a stage's name.
std::string withoutCounter(const std::string& name) {
    const auto hash = name.rfind('#');
    if (hash == std::string::npos || hash == 0 || hash + 1 == name.size() ||
        name.find_first_not_of("0123456789", hash + 1) != std::string::npos) {
        return name;
    }
    return name.substr(0, hash);
}

/// Parent of every host annotation: the innermost one of its thread that encloses it.
std::vector<AnnotationIndex> findParents(const Recording& recording) {
    std::vector<AnnotationIndex> parents(recording.annotations.size(), kNoAnnotation);
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<AnnotationIndex>> open;
    for (AnnotationIndex i = 0; i < parents.size(); ++i) {
        const Annotation& annotation = recording.annotations[i];
        if (annotation.on_gpu) {
            continue;
        }
        auto& stack = open[{annotation.process, annotation.track}];
        while (!stack.empty() && endOf(recording.annotations[stack.back()]) < endOf(annotation)) {
            stack.pop_back();
        }
        if (!stack.empty()) {
            parents[i] = stack.back();
        }
        stack.push_back(i);
    }
    return parents;
}

/// Innermost host annotation around the start of each call: of the call's thread where it has one,
/// else of any thread.
std::vector<AnnotationIndex> findAnnotations(const Recording& recording) {
    std::vector<AnnotationIndex> found(recording.api_calls.size(), kNoAnnotation);
    std::vector<AnnotationIndex> open;
    AnnotationIndex next = 0;
    for (CallIndex c = 0; c < found.size(); ++c) {
        const ApiCall& call = recording.api_calls[c];
        for (; next < recording.annotations.size() &&
               recording.annotations[next].start_ns <= call.start_ns;
             ++next) {
            if (!recording.annotations[next].on_gpu) {
                open.push_back(next);
            }
        }
        std::erase_if(open, [&](AnnotationIndex i) {
            return endOf(recording.annotations[i]) < call.start_ns;
        });
        bool sameThread = false;
        for (const AnnotationIndex i : open) {
            const Annotation& annotation = recording.annotations[i];
            const bool here = annotation.process == call.process && annotation.track == call.thread;
            const bool shorter =
                found[c] == kNoAnnotation ||
                annotation.duration_ns <= recording.annotations[found[c]].duration_ns;
            if ((here && !sameThread) || (here == sameThread && shorter)) {
                found[c] = i;
                sameThread = here;
            }
        }
    }
    return found;
}

/// Calls by correlation. Correlations repeat across processes, so the process decides where several
/// calls share one.
class CallsByCorrelation {
public:
    explicit CallsByCorrelation(const Recording& recording) : m_recording(recording) {
        for (CallIndex c = 0; c < recording.api_calls.size(); ++c) {
            if (recording.api_calls[c].correlation != 0) {
                m_calls.emplace(recording.api_calls[c].correlation, c);
            }
        }
    }
    [[nodiscard]] std::optional<CallIndex> find(const Activity& activity) const {
        std::optional<CallIndex> any;
        if (activity.correlation == 0) {
            return any;
        }
        const auto [begin, end] = m_calls.equal_range(activity.correlation);
        for (auto it = begin; it != end; ++it) {
            if (m_recording.api_calls[it->second].process == activity.process) {
                return it->second;
            }
            any = any ? std::min(*any, it->second) : it->second;
        }
        return any;
    }

private:
    const Recording& m_recording;
    std::unordered_multimap<std::uint64_t, CallIndex> m_calls;
};

/// Idle time that splits unannotated work into runs; see kRunGapFactor.
std::int64_t runGap_ns(const Recording& recording, const std::vector<std::uint32_t>& activities) {
    std::vector<std::int64_t> gaps;
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t i : activities) {
        const Activity& activity = recording.activities[i];
        if (activity.start_ns > end) {
            gaps.push_back(activity.start_ns - end);
        }
        end = gaps.empty() && end == std::numeric_limits<std::int64_t>::max()
                  ? endOf(activity)
                  : std::max(end, endOf(activity));
    }
    if (gaps.empty()) {
        return kRunGapFloor_ns;
    }
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    return std::max(kRunGapFloor_ns,
                    static_cast<std::int64_t>(kRunGapFactor * static_cast<double>(*middle)));
}

/// Where an activity came from.
struct Origin {
    std::uint32_t activity = 0;
    std::optional<CallIndex> graph;
    AnnotationIndex annotation = kNoAnnotation;
};

std::vector<Origin> findOrigins(const Recording& recording, std::int32_t device) {
    const CallsByCorrelation calls(recording);
    const std::vector<AnnotationIndex> annotations = findAnnotations(recording);
    std::vector<Origin> origins;
    for (std::uint32_t i = 0; i < recording.activities.size(); ++i) {
        const Activity& activity = recording.activities[i];
        if (activity.device != device) {
            continue;
        }
        Origin origin{i, std::nullopt, kNoAnnotation};
        if (const auto call = calls.find(activity)) {
            origin.annotation = annotations[*call];
            const std::string& name = recording.names[recording.api_calls[*call].name];
            if (name.find("GraphLaunch") != std::string::npos) {
                origin.graph = call;
            }
        }
        origins.push_back(origin);
    }
    return origins;
}

} // namespace

Units findUnits(const Recording& recording) {
    Units result;
    if (recording.activities.empty()) {
        return result;
    }
    result.parent = findParents(recording);
    const std::vector<Origin> origins =
        findOrigins(recording, busiestDevice(recording, result.notes));

    const auto graphs = std::count_if(origins.begin(), origins.end(),
                                      [](const Origin& o) { return o.graph.has_value(); });
    const auto named = std::count_if(origins.begin(), origins.end(), [](const Origin& o) {
        return !o.graph && o.annotation != kNoAnnotation;
    });
    const auto all = static_cast<std::ptrdiff_t>(origins.size());
    const bool byRuns = graphs == 0 && 2 * named < all;
    std::int64_t gapLimit = 0;
    if (byRuns) {
        std::vector<std::uint32_t> activities;
        for (const Origin& origin : origins) {
            activities.push_back(origin.activity);
        }
        gapLimit = runGap_ns(recording, activities);
        result.notes.push_back(fmt::format("No graph launches and no annotated ranges: stages are "
                                           "split where the GPU idles for {:.0f} µs.",
                                           static_cast<double>(gapLimit) / 1000));
    } else if (graphs > 0 && graphs < all) {
        result.notes.push_back(fmt::format("{} of {} activities were launched outside graphs; each "
                                           "run of them is a stage of its own.",
                                           all - graphs, all));
    }

    std::unordered_map<CallIndex, std::size_t> unitOfGraph;
    std::optional<std::size_t> open; // unit that takes work outside graphs
    for (const Origin& origin : origins) {
        const Activity& activity = recording.activities[origin.activity];
        std::size_t unit = result.units.size();
        if (origin.graph) {
            unit = unitOfGraph.try_emplace(*origin.graph, unit).first->second;
        } else if (open) {
            const Unit& last = result.units[*open];
            const bool together = byRuns ? activity.start_ns - last.end_ns < gapLimit
                                         : origin.annotation == last.annotation;
            unit = together ? *open : unit;
        }
        if (unit == result.units.size()) {
            Unit fresh;
            fresh.kind = origin.graph ? UnitKind::Graph : byRuns ? UnitKind::Run : UnitKind::Range;
            fresh.start_ns = activity.start_ns;
            fresh.end_ns = endOf(activity);
            if (!byRuns && origin.annotation != kNoAnnotation) {
                fresh.annotation = origin.annotation;
                fresh.name =
                    withoutCounter(recording.names[recording.annotations[origin.annotation].name]);
            }
            result.units.push_back(std::move(fresh));
            open = origin.graph ? std::nullopt : std::optional(unit);
        }
        result.units[unit].activities.push_back(origin.activity);
        result.units[unit].end_ns = std::max(result.units[unit].end_ns, endOf(activity));
    }
    return result;
}

} // namespace kerf::workload

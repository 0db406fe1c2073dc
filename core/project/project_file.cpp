// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and writing *.kerf. Unknown fields are kept; a newer version is refused.
#include "core/base/atomic_file.h"
#include "core/project/json_fields.h"
#include "core/project/project.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace kerf::project {

using nlohmann::json;

namespace {

constexpr const char* kFormat = "kerf-project";

json toJson(graph::Mode mode) {
    return mode == graph::Mode::Megakernel ? "megakernel" : "conventional";
}

Expected<graph::Mode> modeFrom(const std::string& text, const std::string& where) {
    if (text == "megakernel") {
        return graph::Mode::Megakernel;
    }
    if (text == "conventional") {
        return graph::Mode::Conventional;
    }
    return fail(fmt::format("mode \"{}\" is unknown", text), where,
                "Use megakernel or conventional.");
}

json toJson(const graph::NamedComposition& composition) {
    json cuts = json::object();
    for (const auto& [key, mode] : composition.cuts) {
        cuts[key] = toJson(mode);
    }
    return {
        {"name", composition.name}, {"first_mode", toJson(composition.first_mode)}, {"cuts", cuts}};
}

Expected<graph::NamedComposition> compositionFrom(const json& object, const std::string& where) {
    graph::NamedComposition composition;
    const auto name = fieldOr<std::string>(object, "name", "", where);
    const auto first = fieldOr<std::string>(object, "first_mode", "megakernel", where);
    const auto cuts = fieldOr<std::map<std::string, std::string>>(object, "cuts", {}, where);
    for (const auto* part : {&name, &first}) {
        if (!*part) {
            return tl::unexpected(part->error());
        }
    }
    if (!cuts) {
        return tl::unexpected(cuts.error());
    }
    composition.name = *name;
    const auto mode = modeFrom(*first, where);
    if (!mode) {
        return tl::unexpected(mode.error());
    }
    composition.first_mode = *mode;
    for (const auto& [key, text] : *cuts) {
        const auto cutMode = modeFrom(text, where);
        if (!cutMode) {
            return tl::unexpected(cutMode.error());
        }
        composition.cuts[key] = *cutMode;
    }
    return composition;
}

json toJson(const workload::Untraced::Timing& timing) {
    return {{"p50", timing.p50_us}, {"p95", timing.p95_us}, {"samples", timing.samples_us}};
}

Expected<workload::Untraced::Timing> timingFrom(const json& object, const std::string& where) {
    const auto p50 = field<double>(object, "p50", where);
    const auto p95 = fieldOr<double>(object, "p95", 0, where);
    const auto samples = fieldOr<std::vector<double>>(object, "samples", {}, where);
    if (!p50 || !p95) {
        return tl::unexpected(!p50 ? p50.error() : p95.error());
    }
    if (!samples) {
        return tl::unexpected(samples.error());
    }
    return workload::Untraced::Timing{*p50, *p95, *samples};
}

json toJson(const RecordingEntry& entry) {
    json object{{"file", entry.file}, {"model", entry.model}, {"batch", entry.batch}};
    if (entry.untraced.first_output) {
        object["untraced_first_output_us"] = toJson(*entry.untraced.first_output);
    }
    for (const auto& [stage, timing] : entry.untraced.stages) {
        object["untraced_stages_us"][stage] = toJson(timing);
    }
    return object;
}

Expected<RecordingEntry> recordingFrom(const json& object, const std::string& where) {
    const auto file = field<std::string>(object, "file", where);
    const auto model = field<std::string>(object, "model", where);
    const auto batch = field<int>(object, "batch", where);
    if (!file || !model) {
        return tl::unexpected(!file ? file.error() : model.error());
    }
    if (!batch) {
        return tl::unexpected(batch.error());
    }
    if (*batch < 1) {
        return fail(fmt::format("batch {} is below 1", *batch), where, "Correct the batch size.");
    }
    RecordingEntry entry{*file, *model, *batch, {}};
    if (object.contains("untraced_first_output_us")) {
        auto timing = timingFrom(object["untraced_first_output_us"], where);
        if (!timing) {
            return tl::unexpected(timing.error());
        }
        entry.untraced.first_output = std::move(*timing);
    }
    const auto stages = fieldOr<json>(object, "untraced_stages_us", json::object(), where);
    for (const auto& [stage, value] : stages->items()) {
        auto timing = timingFrom(value, where);
        if (!timing) {
            return tl::unexpected(timing.error());
        }
        entry.untraced.stages.emplace_back(stage, std::move(*timing));
    }
    return entry;
}

Expected<search::OutputSettings> outputFrom(const json& object, const std::string& where) {
    const auto audio = fieldOr<double>(object, "audio_ms_per_path", 0, where);
    const auto frames = fieldOr<int>(object, "first_chunk_frames", 0, where);
    const auto frameAudio = fieldOr<double>(object, "frame_audio_ms", 0, where);
    const auto requests = fieldOr<int>(object, "requests_per_last_pass", 0, where);
    if (!audio || !frameAudio) {
        return tl::unexpected(!audio ? audio.error() : frameAudio.error());
    }
    if (!frames || !requests) {
        return tl::unexpected(!frames ? frames.error() : requests.error());
    }
    return search::OutputSettings{*audio, *frames, *frameAudio, *requests};
}

Expected<ModelSettings> settingsFrom(const json& object, const std::string& where) {
    ModelSettings settings;
    const auto path = fieldOr<std::string>(object, "path", "", where);
    const auto output = outputFrom(object, where);
    const auto compositions = fieldOr<std::vector<json>>(object, "compositions", {}, where);
    if (!path || !output) {
        return tl::unexpected(!path ? path.error() : output.error());
    }
    if (!compositions) {
        return tl::unexpected(compositions.error());
    }
    settings.path = *path;
    settings.output = *output;
    for (const auto& value : *compositions) {
        auto composition = compositionFrom(value, where);
        if (!composition) {
            return tl::unexpected(composition.error());
        }
        settings.compositions.push_back(std::move(*composition));
    }
    return settings;
}

constexpr std::array<std::pair<sim::Policy, const char*>, 3> kPolicies{
    {{sim::Policy::RoundRobin, "round-robin"},
     {sim::Policy::Balanced, "balanced"},
     {sim::Policy::DynamicQueue, "dynamic-queue"}}};

constexpr std::array<graph::Fusion, 4> kFusions{graph::Fusion::Anchor, graph::Fusion::Prologue,
                                                graph::Fusion::Epilogue, graph::Fusion::Dropped};

Expected<graph::FusionRule> ruleFrom(const json& object, const std::string& where) {
    const auto role = field<std::string>(object, "role", where);
    const auto fusion = field<std::string>(object, "fusion", where);
    const auto factor = fieldOr<double>(object, "compute_factor", 1, where);
    const auto reason = fieldOr<std::string>(object, "reason", "", where);
    for (const auto* part : {&role, &fusion, &reason}) {
        if (!*part) {
            return tl::unexpected(part->error());
        }
    }
    if (!factor) {
        return tl::unexpected(factor.error());
    }
    graph::FusionRule rule{workload::OpRole::Other, graph::Fusion::Anchor, *factor, *reason};
    bool known = false;
    for (int r = 0; r <= static_cast<int>(workload::OpRole::Other); ++r) {
        if (workload::toString(static_cast<workload::OpRole>(r)) == *role) {
            rule.role = static_cast<workload::OpRole>(r);
            known = true;
        }
    }
    const auto kind = std::find_if(kFusions.begin(), kFusions.end(),
                                   [&](graph::Fusion f) { return graph::toString(f) == *fusion; });
    if (!known || kind == kFusions.end()) {
        return fail(fmt::format("fusion rule for role \"{}\" says \"{}\"", *role, *fusion), where,
                    "Roles and fusions are listed in docs/cost-model.md.");
    }
    if (!(rule.compute_factor >= 0 && rule.compute_factor < 1e6)) {
        return fail(fmt::format("fusion rule for role \"{}\" has the factor {}", *role, *factor),
                    where, "A factor is between 0 and 1,000,000.");
    }
    rule.fusion = *kind;
    return rule;
}

json toJson(const Project& project) {
    json object = project.unknown;
    object["format"] = kFormat;
    object["version"] = kProjectVersion;
    object["name"] = project.name;
    object["hardware"] = project.hardware;
    for (const auto& [policy, name] : kPolicies) {
        if (policy == project.policy) {
            object["policy"] = name;
        }
    }
    object["programmatic_boundaries"] = project.programmatic_boundaries;
    object["recordings"] = json::array();
    for (const auto& entry : project.recordings) {
        object["recordings"].push_back(toJson(entry));
    }
    object["benchmarks"] = project.benchmarks;
    object["counters"] = json::array();
    for (const auto& entry : project.counters) {
        object["counters"].push_back(
            {{"file", entry.file}, {"model", entry.model}, {"batch", entry.batch}});
    }
    object["models"] = json::object();
    for (const auto& [model, settings] : project.models) {
        json value{{"path", settings.path},
                   {"audio_ms_per_path", settings.output.audio_ms_per_path},
                   {"first_chunk_frames", settings.output.first_chunk_frames},
                   {"frame_audio_ms", settings.output.frame_audio_ms},
                   {"requests_per_last_pass", settings.output.requests_per_last_pass}};
        value["compositions"] = json::array();
        for (const auto& composition : settings.compositions) {
            value["compositions"].push_back(toJson(composition));
        }
        object["models"][model] = value;
    }
    object["fusion_rules"] = json::array();
    for (const auto& rule : project.fusion_rules) {
        object["fusion_rules"].push_back({{"role", workload::toString(rule.role)},
                                          {"fusion", graph::toString(rule.fusion)},
                                          {"compute_factor", rule.compute_factor},
                                          {"reason", rule.reason}});
    }
    object["view"] = project.view;
    return object;
}

/// Fills the parts of `project` that are lists or maps.
Expected<void> readParts(const json& object, const std::string& where, Project& project) {
    const auto recordings = fieldOr<std::vector<json>>(object, "recordings", {}, where);
    const auto rules = fieldOr<std::vector<json>>(object, "fusion_rules", {}, where);
    if (!recordings || !rules) {
        return tl::unexpected(!recordings ? recordings.error() : rules.error());
    }
    for (std::size_t i = 0; i < recordings->size(); ++i) {
        auto entry = recordingFrom((*recordings)[i], fmt::format("{}, recording {}", where, i + 1));
        if (!entry) {
            return tl::unexpected(entry.error());
        }
        project.recordings.push_back(std::move(*entry));
    }
    for (std::size_t i = 0; i < rules->size(); ++i) {
        auto rule = ruleFrom((*rules)[i], fmt::format("{}, fusion rule {}", where, i + 1));
        if (!rule) {
            return tl::unexpected(rule.error());
        }
        project.fusion_rules.push_back(std::move(*rule));
    }
    const auto counters = fieldOr<std::vector<json>>(object, "counters", {}, where);
    if (!counters) {
        return tl::unexpected(counters.error());
    }
    for (std::size_t i = 0; i < counters->size(); ++i) {
        // The same three fields as a recording.
        auto entry = recordingFrom((*counters)[i], fmt::format("{}, counters {}", where, i + 1));
        if (!entry) {
            return tl::unexpected(entry.error());
        }
        project.counters.push_back({entry->file, entry->model, entry->batch});
    }
    auto benchmarks = fieldOr<std::vector<std::string>>(object, "benchmarks", {}, where);
    if (!benchmarks) {
        return tl::unexpected(benchmarks.error());
    }
    project.benchmarks = std::move(*benchmarks);
    const auto models = fieldOr<std::map<std::string, json>>(object, "models", {}, where);
    if (!models) {
        return tl::unexpected(models.error());
    }
    for (const auto& [model, value] : *models) {
        auto settings = settingsFrom(value, fmt::format("{}, model {}", where, model));
        if (!settings) {
            return tl::unexpected(settings.error());
        }
        project.models[model] = std::move(*settings);
    }
    return {};
}

} // namespace

Expected<Project> readProject(const std::filesystem::path& file) {
    const auto where = file.string();
    std::ifstream stream(file, std::ios::binary);
    if (!stream || std::filesystem::is_directory(file)) {
        return fail("cannot be opened", where, "Check the path and the permissions.");
    }
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    json object;
    try {
        object = json::parse(text);
    } catch (const json::parse_error& error) {
        return fail(fmt::format("is not JSON from byte {} on", error.byte), where,
                    "A Kerf project is written by `kerf import` or by the window.");
    }
    if (!object.is_object() || object.value("format", json{}) != json(kFormat)) {
        return fail("is not a Kerf project", where,
                    "A trace is imported with `kerf import FILE -o PROJECT.kerf`.");
    }
    const auto version = field<int>(object, "version", where);
    if (!version) {
        return tl::unexpected(version.error());
    }
    if (*version != kProjectVersion) {
        return fail(fmt::format("has project version {}; this Kerf reads version {}", *version,
                                kProjectVersion),
                    where, "Open it with the Kerf that wrote it, or import the recordings again.");
    }
    Project project;
    project.file = file;
    const auto name = fieldOr<std::string>(object, "name", file.stem().string(), where);
    const auto hardware = fieldOr<std::string>(object, "hardware", "", where);
    const auto policy = fieldOr<std::string>(object, "policy", kPolicies.front().second, where);
    for (const auto* part : {&name, &hardware, &policy}) {
        if (!*part) {
            return tl::unexpected(part->error());
        }
    }
    project.name = *name;
    project.hardware = *hardware;
    const auto known = std::find_if(kPolicies.begin(), kPolicies.end(),
                                    [&](const auto& entry) { return *policy == entry.second; });
    if (known == kPolicies.end()) {
        return fail(fmt::format("policy \"{}\" is unknown", *policy), where,
                    "Use round-robin, balanced or dynamic-queue.");
    }
    project.policy = known->first;
    const auto programmatic = fieldOr<bool>(object, "programmatic_boundaries", false, where);
    if (!programmatic) {
        return tl::unexpected(programmatic.error());
    }
    project.programmatic_boundaries = *programmatic;
    if (auto parts = readParts(object, where, project); !parts) {
        return tl::unexpected(parts.error());
    }
    project.view = object.value("view", json::object());
    for (const char* key :
         {"format", "version", "name", "hardware", "policy", "programmatic_boundaries",
          "recordings", "models", "fusion_rules", "view", "benchmarks", "counters"}) {
        object.erase(key);
    }
    project.unknown = std::move(object);
    return project;
}

Expected<void> writeProject(const Project& project, const std::filesystem::path& file) {
    auto copy = project;
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file, ignored).parent_path();
    const auto makeRelative = [&](std::string& name) {
        const auto relative = std::filesystem::relative(pathOf(project, name), folder, ignored);
        if (!ignored && !relative.empty()) {
            name = relative.generic_string();
        }
    };
    for (auto& entry : copy.recordings) {
        makeRelative(entry.file);
    }
    for (auto& entry : copy.counters) {
        makeRelative(entry.file);
    }
    for (auto& benchmark : copy.benchmarks) {
        makeRelative(benchmark);
    }
    return writeFileAtomically(file, toJson(copy).dump(1) + "\n");
}

std::filesystem::path pathOf(const Project& project, const std::string& name) {
    std::filesystem::path file(name);
    if (file.is_absolute() || project.file.empty()) {
        return file;
    }
    std::error_code ignored;
    return std::filesystem::absolute(project.file, ignored).parent_path() / file;
}

std::filesystem::path pathOf(const Project& project, const RecordingEntry& entry) {
    return pathOf(project, entry.file);
}

} // namespace kerf::project

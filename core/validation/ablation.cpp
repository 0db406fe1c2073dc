// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/validation/ablation.h"

namespace kerf::validation {
namespace {

struct Effect {
    const char* name;
    std::function<void(Setting&)> off;
};

/// Faster than any sum of workers: no limit.
constexpr double kUnlimitedGbps = 1e9;

Effect machineEffect(const char* name, void (*off)(sim::Machine&)) {
    return {name, [off](Setting& setting) { setting.edit_machine = off; }};
}

Effect graphEffect(const char* name, void (*off)(sim::RegionGraph&, const sim::Machine&)) {
    return {name, [off](Setting& setting) { setting.edit_graph = off; }};
}

/// The same work in whole waves: every worker gets the same share.
void evenWaves(sim::RegionGraph& graph, const sim::Machine& machine) {
    const auto workers = static_cast<std::uint32_t>(machine.workers);
    for (sim::TileOp& op : graph.ops) {
        const std::uint32_t tiles = (op.tiles + workers - 1) / workers * workers;
        const double share = static_cast<double>(op.tiles) / tiles;
        op.tiles = tiles;
        op.load_bytes *= share;
        op.compute_us *= share;
    }
}

std::vector<Effect> effects() {
    return {
        {"nothing (the prediction)", [](Setting&) {}},
        machineEffect("ramp of a cold load", [](sim::Machine& m) { m.ramp_us = 0; }),
        machineEffect("ring look-ahead across ops", [](sim::Machine& m) { m.look_ahead = false; }),
        machineEffect("shared bandwidth (no limit)",
                      [](sim::Machine& m) { m.memory_gbps = kUnlimitedGbps; }),
        machineEffect("cap of one worker (no limit)",
                      [](sim::Machine& m) { m.worker_gbps = kUnlimitedGbps; }),
        machineEffect("signals behind loads (in-order memory)",
                      [](sim::Machine& m) { m.in_order_memory = false; }),
        graphEffect("consumer time of a tile",
                    [](sim::RegionGraph& graph, const sim::Machine&) {
                        for (sim::TileOp& op : graph.ops) {
                            op.compute_us = 0;
                        }
                    }),
        graphEffect("partial waves (tiles spread evenly)", evenWaves),
        machineEffect("event, one way", [](sim::Machine& m) { m.event_one_way_us = 0; }),
        machineEffect("fan-in of an event", [](sim::Machine& m) { m.event_fan_in_us = 0; }),
        machineEffect("latency of dependent reads",
                      [](sim::Machine& m) { m.dependent_latency_us = 0; }),
        graphEffect("bytes of the activation read",
                    [](sim::RegionGraph& graph, const sim::Machine&) {
                        for (sim::TileOp& op : graph.ops) {
                            op.worker_dependent_bytes = 1e-9; // keeps the latency
                        }
                    }),
        machineEffect("dispatch of a tile", [](sim::Machine& m) { m.dispatch_us = 0; }),
        {"prologue", [](Setting& s) { s.hardware.prologue_us.value = 0; }},
        {"drain", [](Setting& s) { s.hardware.drain_us.value = 0; }},
        {"launch gap", [](Setting& s) { s.hardware.launch_gap_us.value = 0; }},
        {"memset node (its gap stays)", [](Setting& s) { s.hardware.memset_us.value = 0; }},
    };
}

} // namespace

Expected<std::vector<AblationRow>> ablate(const ChainFile& file, const cost::Hardware& hardware,
                                          Progress& progress) {
    std::vector<AblationRow> rows;
    std::vector<CaseResult> whole;
    for (const Effect& effect : effects()) {
        Setting setting{hardware, {}, {}};
        effect.off(setting);
        const auto made = validate(file, setting, progress);
        if (!made) {
            return tl::unexpected(made.error());
        }
        if (rows.empty()) {
            whole = made->cases;
        }
        double shift = 0;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            shift += relativeError(made->cases[i].predicted_us, whole[i].predicted_us) /
                     static_cast<double>(whole.size());
        }
        rows.push_back({effect.name, made->engine, shift, made->order_right});
    }
    return rows;
}

} // namespace kerf::validation

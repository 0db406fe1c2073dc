// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_timeline.h"

namespace kerf::test {
namespace {

using workload::Op;
using workload::OpRole;

Op op(const char* kernel, OpRole role, double duration_us, double gap_us) {
    Op result;
    result.kernel = kernel;
    result.role = role;
    result.grid = {64, 2, 1};
    result.block = {256, 1, 1};
    result.registers_per_thread = 96;
    result.shared_bytes = 2048;
    result.stream = 7;
    result.duration_us = duration_us;
    result.gap_us = gap_us;
    return result;
}

graph::ChainOp chainOp(std::size_t stage, std::vector<std::size_t> members, OpRole role,
                       const char* label, double conventional_us) {
    graph::ChainOp result;
    result.stage = stage;
    result.members = std::move(members);
    result.role = role;
    result.label = label;
    result.key = label;
    result.conventional_us = conventional_us;
    result.footprint = {.threads = 256, .registers = 96, .shared_bytes = 2048};
    result.tile.label = label;
    result.tile.tiles = 8;
    result.source = "made up for this test";
    result.relative_error = 0.25;
    return result;
}

graph::Item item(graph::Item::Kind kind, std::size_t index) {
    graph::Item result;
    result.kind = kind;
    result.index = index;
    return result;
}

} // namespace

std::shared_ptr<search::Case> smallCase() {
    auto theCase = std::make_shared<search::Case>();
    auto& workload = theCase->traced;
    workload.model = "small";
    workload::Stage prefill;
    prefill.name = "prefill";
    prefill.ops = {op("gemm_prefill", OpRole::Product, 10, 0)};
    workload::Stage step;
    step.name = "step";
    step.ops = {op("rms_norm", OpRole::Norm, 2, 0), op("gemm_step", OpRole::Product, 5, 1),
                op("Memcpy DtoD", OpRole::Copy, 1, 0)};
    // Request 0 takes 40 µs, request 1 31 µs, request 2 30 µs.
    const double second[] = {24, 12, 12};
    const double third[] = {31, 22, 21};
    for (int request = 0; request < 3; ++request) {
        const std::int64_t at = 1'000'000 * request;
        const auto ns = [&](double us) { return at + static_cast<std::int64_t>(us * 1000); };
        prefill.instances.push_back({ns(0), ns(10), true});
        step.instances.push_back({ns(second[request]), ns(second[request] + 9), true});
        step.instances.push_back({ns(third[request]), ns(third[request] + 9), true});
    }
    prefill.ops[0].duration_samples_us.assign(3, 10);
    prefill.ops[0].gap_samples_us.assign(3, 0);
    for (auto& each : step.ops) {
        each.duration_samples_us.assign(6, static_cast<float>(each.duration_us));
        each.gap_samples_us.assign(6, static_cast<float>(each.gap_us));
    }
    workload.stages = {prefill, step};
    workload.path = {{0, 1}, {1, 2}};
    workload.requests = 3;
    theCase->corrected = workload;
    theCase->tree = workload::foldPath(workload.path);
    theCase->replay = {"small", 1, 31, 30.5, 30.4};

    auto& chain = theCase->chain;
    chain.ops = {chainOp(0, {0}, OpRole::Product, "prefill", 15),
                 chainOp(1, {0}, OpRole::Norm, "norm", 3),
                 chainOp(1, {1, 2}, OpRole::Product, "down", 7)};
    chain.sites = {{"before step", "before each step", 0, 1, 1},
                   {"between steps", "between steps", 2, 1, 1}};
    graph::Item loop = item(graph::Item::Kind::Loop, 0);
    loop.body = {item(graph::Item::Kind::Op, 1), item(graph::Item::Kind::Op, 2)};
    loop.count = 2;
    loop.back_site = 1;
    loop.label = "step";
    chain.items = {item(graph::Item::Kind::Op, 0), item(graph::Item::Kind::Site, 0), loop};
    theCase->hardware.name = "Test GPU";
    theCase->hardware.sm_count = 8;
    theCase->hardware.launch_gap_us = {1.08, 0.02, false, "measured for this test"};
    theCase->hardware.prologue_us = {2.5, 0.5, true, "estimated for this test"};
    return theCase;
}

search::Prediction smallPrediction() {
    search::Prediction prediction;
    prediction.composition.first_mode = graph::Mode::Conventional;
    prediction.composition.cuts = {{0, graph::Mode::Megakernel}, {1, graph::Mode::Megakernel}};
    prediction.kind = graph::Kind::Mixed;
    search::RegionPrediction first;
    first.use = {{graph::kPathStart, 0}, graph::Mode::Conventional, 1};
    first.us = 15;
    first.label = "conventional";
    search::RegionPrediction middle;
    middle.use = {{0, 1}, graph::Mode::Megakernel, 1};
    middle.us = 8;
    middle.boundary_us = 2;
    middle.workers = 8;
    middle.label = "megakernel 1";
    middle.blame = {3, 1, 1.5, 2, 0.5};
    search::RegionPrediction last = middle;
    last.use.region = {1, 2};
    prediction.regions = {first, middle, last};
    prediction.ttfa_us = 31;
    prediction.ttfa_interval_us = {28, 35};
    prediction.coverage = 0.57;
    prediction.launches = 3;
    prediction.throughput_per_s = 32'000;
    prediction.parts = {15, 8, 0, 2, 0, 0, 0, 4, 2};
    return prediction;
}

sim::RegionResult smallRegion() {
    sim::RegionResult region;
    region.makespan_us = 6;
    for (std::uint32_t worker = 0; worker < 8; ++worker) {
        region.records.push_back(
            {.op = 0, .tile = worker, .worker = worker, .start_us = 0, .end_us = 1});
        if (worker < 4) {
            region.records.push_back({.op = 1,
                                      .tile = worker,
                                      .worker = worker,
                                      .load_start_us = 0,
                                      .load_end_us = 1.5F,
                                      .start_us = 1,
                                      .end_us = 6,
                                      .bound = sim::Bound::Event,
                                      .critical = true});
        }
    }
    region.tiles = region.simulated_tiles = region.records.size();
    return region;
}

} // namespace kerf::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/validation/chain_prediction.h"

#include "core/cost/machine.h"
#include "core/sim/bandwidth_floor.h"
#include "core/sim/engine.h"

#include <algorithm>

namespace kerf::validation {
namespace {

constexpr double kBytesPerUsPerGbps = 1e3;
/// A single op's slope this much above the memory's is the consumer's.
constexpr double kConsumerBound = 1.05;

std::string nameOf(const Product& op) {
    return fmt::format("{} x {}", op.rows, op.k);
}

/// Bytes that the busiest worker of a single op streams.
double busiestWorkerBytes(const Kernel& kernel, const Product& op) {
    const std::int64_t tiles = tilesOf(kernel, op);
    const std::int64_t waves = (tiles + kernel.workers - 1) / kernel.workers;
    return static_cast<double>(waves) * bytesOf(kernel, op) / static_cast<double>(tiles);
}

/// No kernel streams cold weights faster than the memory does.
Expected<void> checkSingles(const ChainFile& file, double memoryGbps) {
    for (const SingleOp& single : file.singles) {
        const std::pair<const char*, double> timings[] = {
            {"conventional_us", single.conventional_us},
            {"library_us", single.library_us},
            {"persistent_us", single.persistent_us}};
        for (const auto& [name, us] : timings) {
            if (us > 0) {
                auto ok = sim::checkBandwidthFloor(
                    fmt::format("single op {}, {}", nameOf(single.product), name),
                    bytesOf(file.kernel, single.product), us, memoryGbps);
                if (!ok) {
                    return ok;
                }
            }
        }
    }
    return {};
}

/// The machine of the file's kernel: its workers and rates; the ring follows from the ops.
Expected<sim::Machine> machineOfKernel(const Kernel& kernel, const cost::Hardware& hardware) {
    const auto ring_bytes = kernel.ring_stages * kernel.stage_bytes;
    auto machine = cost::machineFor(
        hardware, {.threads = kernel.threads,
                   .registers = 0, // not given: the file says how many workers are resident
                   .shared_bytes = static_cast<int>(
                       std::min<std::int64_t>(ring_bytes, hardware.shared_bytes_per_sm))});
    if (!machine) {
        return machine;
    }
    if (kernel.workers > machine->workers) {
        return fail(fmt::format("{} workers of {} threads and a ring of {} bytes: only {} fit {}",
                                kernel.workers, kernel.threads, ring_bytes, machine->workers,
                                hardware.name),
                    {}, "Correct \"kernel\" of the chain file.");
    }
    // Shared by those that are there, not by all that would fit.
    const int residency = (kernel.workers + hardware.sm_count - 1) / hardware.sm_count;
    machine->worker_gbps = hardware.bulk_gbps_per_sm.value / residency;
    machine->workers = kernel.workers;
    machine->l2_gbps_per_worker = hardware.l2_gbps.value / kernel.workers;
    machine->event_fan_in_us =
        std::max(0.0, cost::interpolate(hardware.barrier_us_by_workers, kernel.workers) -
                          machine->event_one_way_us);
    return machine;
}

} // namespace

double consumeUsPerByte(const ChainFile& file, const cost::Hardware& hardware) {
    const Kernel& kernel = file.kernel;
    const int residency = (kernel.workers + hardware.sm_count - 1) / hardware.sm_count;
    const double load_us_per_byte = std::max(kernel.workers / hardware.memory_gbps.value,
                                             residency / hardware.bulk_gbps_per_sm.value) /
                                    kBytesPerUsPerGbps;
    std::vector<std::pair<double, double>> us_by_bytes;
    for (const SingleOp& single : file.singles) {
        if (single.persistent_us > 0) {
            us_by_bytes.emplace_back(busiestWorkerBytes(file.kernel, single.product),
                                     single.persistent_us);
        }
    }
    std::sort(us_by_bytes.begin(), us_by_bytes.end());
    if (us_by_bytes.size() >= 2) {
        const auto& [large_bytes, large_us] = us_by_bytes.back();
        const auto& [small_bytes, small_us] = us_by_bytes[us_by_bytes.size() - 2];
        if (large_bytes > small_bytes && large_us > small_us) {
            const double slope = (large_us - small_us) / (large_bytes - small_bytes);
            if (slope > kConsumerBound * load_us_per_byte) {
                return slope;
            }
        }
    }
    return residency / (hardware.on_chip_gbps_per_sm.value * kBytesPerUsPerGbps);
}

ChainPredictor::ChainPredictor(const ChainFile& file, Setting setting)
    : file_(&file), setting_(std::move(setting)),
      consume_us_per_byte_(consumeUsPerByte(file, setting_.hardware)) {}

Expected<ChainPredictor> ChainPredictor::make(const ChainFile& file, Setting setting) {
    if (auto ok = checkSingles(file, setting.hardware.memory_gbps.value); !ok) {
        return tl::unexpected(ok.error());
    }
    auto machine = machineOfKernel(file.kernel, setting.hardware);
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    ChainPredictor predictor(file, std::move(setting));
    predictor.machine_ = *machine;
    return predictor;
}

/// Equal neighbours become a loop, which the engine can skip through.
sim::RegionGraph ChainPredictor::graphOf(std::span<const Product> ops) const {
    sim::RegionGraph graph;
    for (std::size_t at = 0; at < ops.size();) {
        std::size_t next = at;
        while (next < ops.size() && ops[next] == ops[at]) {
            ++next;
        }
        const Product& product = ops[at];
        sim::TileOp op;
        op.label = nameOf(product);
        op.tiles = static_cast<std::uint32_t>(tilesOf(file_->kernel, product));
        op.load_bytes = bytesOf(file_->kernel, product) / op.tiles;
        op.worker_dependent_bytes = static_cast<double>(product.k) * file_->kernel.bytes_per_weight;
        op.compute_us = op.load_bytes * consume_us_per_byte_;
        const auto index = static_cast<sim::OpIndex>(graph.ops.size());
        graph.ops.push_back(std::move(op));
        if (next - at > 1) {
            graph.loops.push_back({index, index + 1, static_cast<std::uint32_t>(next - at)});
        }
        at = next;
    }
    return graph;
}

sim::Machine ChainPredictor::machineOf(std::span<const Product> ops) const {
    // A tile takes a whole stage, however little of it it fills.
    double tile_bytes = 0;
    for (const Product& op : ops) {
        tile_bytes = std::max(tile_bytes, bytesOf(file_->kernel, op) /
                                              static_cast<double>(tilesOf(file_->kernel, op)));
    }
    sim::Machine machine = machine_;
    machine.ring_bytes = file_->kernel.ring_stages *
                         std::min(tile_bytes, static_cast<double>(file_->kernel.stage_bytes));
    return machine;
}

Expected<double> ChainPredictor::launchUs(std::span<const Product> ops) {
    std::vector<Product> key(ops.begin(), ops.end());
    if (const auto found = known_.find(key); found != known_.end()) {
        return found->second;
    }
    sim::Machine machine = machineOf(ops);
    sim::RegionGraph graph = graphOf(ops);
    if (setting_.edit_machine) {
        setting_.edit_machine(machine);
    }
    if (setting_.edit_graph) {
        setting_.edit_graph(graph, machine);
    }
    const auto result = sim::simulate(graph, machine);
    if (!result) {
        return tl::unexpected(result.error());
    }
    const double us = cost::boundaryUs(setting_.hardware) + result->makespan_us;
    if (auto ok = sim::checkBandwidthFloor(graph, us, machine.memory_gbps); !ok) {
        return tl::unexpected(ok.error());
    }
    known_.emplace(std::move(key), us);
    return us;
}

Expected<double> ChainPredictor::chainUs(const MeasuredChain& chain,
                                         const std::vector<std::size_t>& starts) {
    const auto& hardware = setting_.hardware;
    const double nodes_us =
        file_->kernel.memset_nodes * (hardware.launch_gap_us.value + hardware.memset_us.value);
    const std::span<const Product> ops(chain.ops);
    double us = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : ops.size();
        auto launch = launchUs(ops.subspan(starts[i], end - starts[i]));
        if (!launch) {
            return launch;
        }
        us += nodes_us + *launch;
    }
    return us;
}

} // namespace kerf::validation

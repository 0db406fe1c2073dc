// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/machine.h"

#include <algorithm>

namespace kerf::cost {
Expected<sim::Machine> machineFor(const Hardware& hardware, const Footprint& footprint,
                                  sim::Policy policy) {
    const int residency = blocksPerSm(footprint, hardware);
    if (residency == 0) {
        return fail(
            fmt::format("a worker of {} threads, {} registers a thread and {} bytes of shared "
                        "memory does not fit an SM of {} ({} registers, {} bytes a block)",
                        footprint.threads, footprint.registers, footprint.shared_bytes,
                        hardware.name, hardware.registers_per_sm,
                        hardware.shared_bytes_per_block_max),
            {}, "Split the region, or give its largest op a smaller footprint.");
    }
    sim::Machine machine;
    machine.workers = hardware.sm_count * residency;
    machine.policy = policy;
    // A worker's staging buffers are its ring: whatever shared memory its ops ask for in their
    // conventional form holds tiles on their way in, and so does what the SM has left over.
    const int ring = std::min(hardware.shared_bytes_per_sm / residency -
                                  hardware.shared_bytes_reserved_per_block,
                              hardware.shared_bytes_per_block_max);
    machine.ring_bytes = ring;
    // Its share of what a lone SM pulls; that a small ring pulls less follows from the ramp.
    machine.worker_gbps = hardware.bulk_gbps_per_sm.value / residency;
    machine.memory_gbps = hardware.memory_gbps.value;
    machine.l2_gbps_per_worker = hardware.l2_gbps.value / machine.workers;
    machine.ramp_us = hardware.ramp_us.value;
    machine.in_order_memory = true;
    machine.dependent_latency_us = hardware.dependent_latency_us.value;
    machine.dispatch_us = hardware.dispatch_us.value;
    machine.queue_pop_us = hardware.queue_pop_us.value;
    // A barrier is one event at full fan-in: what it takes beyond one way is the fan-in.
    machine.event_one_way_us = hardware.event_one_way_us.value;
    machine.event_fan_in_us =
        std::max(0.0, interpolate(hardware.barrier_us_by_workers, machine.workers) -
                          machine.event_one_way_us);
    return machine;
}

double boundaryUs(const Hardware& hardware, bool programmatic) {
    const Constant& gap = programmatic ? hardware.launch_gap_pdl_us : hardware.launch_gap_us;
    return gap.value + hardware.prologue_us.value + hardware.drain_us.value;
}

} // namespace kerf::cost

// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine says of a measured chain. Every constant comes from the hardware file and the
// single-op timings; the measured chains and region lengths are never looked at.
#pragma once

#include "core/cost/hardware.h"
#include "core/sim/region_graph.h"
#include "core/validation/chain.h"

#include <functional>
#include <map>
#include <span>

namespace kerf::validation {

/// What a prediction rests on; the edits serve to switch an effect off.
struct Setting {
    cost::Hardware hardware;
    std::function<void(sim::Machine&)> edit_machine;                        ///< may be empty
    std::function<void(sim::RegionGraph&, const sim::Machine&)> edit_graph; ///< may be empty
};

/// µs a byte that a worker's consumer takes from its ring: its share of `on_chip_gbps_per_sm`.
/// Where the two largest single ops, as persistent kernels, differ by more than 1.05 × what their
/// bytes take at the memory's rate, the consumer is the slower one and that slope is its time.
[[nodiscard]] double consumeUsPerByte(const ChainFile& file, const cost::Hardware& hardware);

/// Predicts cuts of chains; equal regions are simulated once. `file` outlives it.
class ChainPredictor {
public:
    /// Errors: the workers do not fit the GPU; a single-op timing below its bytes over bandwidth.
    [[nodiscard]] static Expected<ChainPredictor> make(const ChainFile& file, Setting setting);

    /// The whole chain cut at `starts`, with the memset nodes and gaps before each region. µs.
    /// Errors: a tile that does not fit the ring, another engine error, or a prediction below
    /// bytes over bandwidth (names the op).
    [[nodiscard]] Expected<double> chainUs(const MeasuredChain& chain,
                                           const std::vector<std::size_t>& starts);
    /// One region as one launch, without memset nodes. µs. Errors: as above.
    [[nodiscard]] Expected<double> launchUs(std::span<const Product> ops);

private:
    ChainPredictor(const ChainFile& file, Setting setting);
    [[nodiscard]] sim::RegionGraph graphOf(std::span<const Product> ops) const;
    [[nodiscard]] sim::Machine machineOf(std::span<const Product> ops) const;

    const ChainFile* file_;
    Setting setting_;
    double consume_us_per_byte_;
    sim::Machine machine_;
    std::map<std::vector<Product>, double> known_; ///< launches by their ops
};

} // namespace kerf::validation

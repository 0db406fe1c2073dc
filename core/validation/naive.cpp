// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/validation/naive.h"

namespace kerf::validation {

double launchGapSubtractionUs(const ChainFile& file, const MeasuredChain& chain,
                              std::size_t regions, const cost::Hardware& hardware) {
    double us = 0;
    for (const Product& op : chain.ops) {
        us += singleOf(file, op)->conventional_us; // the reader made sure that it is there
    }
    const double gap_us = hardware.launch_gap_us.value;
    us -= static_cast<double>(chain.ops.size() - regions) * gap_us;
    us += static_cast<double>(regions) * file.kernel.memset_nodes *
          (gap_us + hardware.memset_us.value);
    return us;
}

double rooflineUs(const ChainFile& file, const MeasuredChain& chain,
                  const cost::Hardware& hardware) {
    constexpr double kBytesPerUsPerGbps = 1e3;
    double bytes = 0;
    for (const Product& op : chain.ops) {
        bytes += bytesOf(file.kernel, op);
    }
    return bytes / (hardware.memory_gbps.value * kBytesPerUsPerGbps);
}

} // namespace kerf::validation

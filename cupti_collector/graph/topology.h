// SPDX-License-Identifier: GPL-3.0-or-later
// Nodes and edges of a CUDA graph, read when it is instantiated: the program may destroy it right
// after.
#pragma once

#include "cupti_collector/cupti/cupti_api.h"
#include "cupti_collector/rows/rows.h"

#include <cuda.h>

#include <string>
#include <vector>

namespace kerf::collector {

/// Functions of the driver that the program has loaded. Graphs can be read where all are found.
struct DriverApi {
    CUresult (*graphGetNodes)(CUgraph, CUgraphNode*, std::size_t*) = nullptr;
    CUresult (*graphGetEdges)(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*,
                              std::size_t*) = nullptr;
    CUresult (*graphNodeGetType)(CUgraphNode, CUgraphNodeType*) = nullptr;
    CUresult (*graphKernelNodeGetParams)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*) = nullptr;
    CUresult (*graphKernelNodeGetAttribute)(CUgraphNode, CUlaunchAttributeID,
                                            CUlaunchAttributeValue*) = nullptr;
    CUresult (*graphChildGraphNodeGetGraph)(CUgraphNode, CUgraph*) = nullptr;
    CUresult (*funcGetName)(const char**, CUfunction) = nullptr;
    CUresult (*kernelGetName)(const char**, CUkernel) = nullptr;

    /// False where the driver lacks one, or is not loaded.
    [[nodiscard]] bool load();
};

/// A graph with its child graphs. Texts are not interned yet: that is the writer's thread's.
struct Topology {
    std::vector<GraphRow> graphs; ///< the graph itself first
    std::vector<GraphNodeRow> nodes;
    std::vector<std::string> names; ///< of the nodes; empty: none
    std::vector<GraphEdgeRow> edges;
    std::string fault; ///< why something is missing; empty: complete
};

/// Reads `graph`; definitions are numbered from `first_definition`. The ids of the whole are left
/// to the caller.
[[nodiscard]] Topology readTopology(const DriverApi& driver, const CuptiApi& cupti, CUgraph graph,
                                    std::uint32_t first_definition);

} // namespace kerf::collector

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_collector/graph/topology.h"

#include <dlfcn.h>

#include <map>
#include <optional>

namespace kerf::collector {
namespace {

constexpr int kMostDepth = 16; ///< child graphs in child graphs

class TopologyReader {
public:
    TopologyReader(const DriverApi& driver, const CuptiApi& cupti, std::uint32_t first_definition)
        : driver_(driver), cupti_(cupti), next_definition_(first_definition) {}

    void read(CUgraph graph, std::uint32_t parent_definition, std::uint64_t parent_node,
              int depth) {
        const std::uint32_t definition = next_definition_++;
        GraphRow row;
        row.definition = definition;
        row.parent_definition = parent_definition;
        row.parent_node = parent_node;
        if (cupti_.getGraphId(graph, &row.graph) != CUPTI_SUCCESS) {
            fine(CUDA_ERROR_UNKNOWN, "a graph's id");
        }
        found_.graphs.push_back(row);
        std::size_t count = 0;
        if (!fine(driver_.graphGetNodes(graph, nullptr, &count), "its nodes")) {
            return;
        }
        std::vector<CUgraphNode> nodes(count);
        if (count > 0 && !fine(driver_.graphGetNodes(graph, nodes.data(), &count), "its nodes")) {
            return;
        }
        for (const CUgraphNode node : nodes) {
            readNode(node, definition, depth);
        }
        readEdges(graph, definition);
    }

    [[nodiscard]] Topology take() { return std::move(found_); }

private:
    bool fine(CUresult result, const char* what) {
        if (result != CUDA_SUCCESS && found_.fault.empty()) {
            found_.fault = std::string("the driver did not tell ") + what + " (error " +
                           std::to_string(static_cast<int>(result)) + ")";
        }
        return result == CUDA_SUCCESS;
    }

    std::optional<std::uint64_t> idOf(CUgraphNode node) {
        if (const auto known = ids_.find(node); known != ids_.end()) {
            return known->second;
        }
        std::uint64_t id = 0;
        if (cupti_.getGraphNodeId(node, &id) != CUPTI_SUCCESS) {
            fine(CUDA_ERROR_UNKNOWN, "a node's id");
            return std::nullopt;
        }
        ids_[node] = id;
        return id;
    }

    void readNode(CUgraphNode node, std::uint32_t definition, int depth) {
        const auto id = idOf(node);
        CUgraphNodeType type{};
        if (!id || !fine(driver_.graphNodeGetType(node, &type), "a node's type")) {
            return;
        }
        GraphNodeRow row;
        row.definition = definition;
        row.node = *id;
        row.type = static_cast<std::uint32_t>(type);
        std::string name;
        if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
            name = readKernel(node, row);
        }
        found_.nodes.push_back(row);
        found_.names.push_back(std::move(name));
        if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
            CUgraph child = nullptr;
            if (!fine(driver_.graphChildGraphNodeGetGraph(node, &child), "a child graph")) {
                return;
            }
            if (depth < kMostDepth) {
                read(child, definition, *id, depth + 1);
            } else {
                fine(CUDA_ERROR_UNKNOWN, "graphs nested more than 16 deep");
            }
        }
    }

    std::string readKernel(CUgraphNode node, GraphNodeRow& row) const {
        CUDA_KERNEL_NODE_PARAMS params{};
        if (driver_.graphKernelNodeGetParams(node, &params) != CUDA_SUCCESS) {
            return {};
        }
        row.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
        row.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
        row.dynamic_shared_bytes = params.sharedMemBytes;
        CUlaunchAttributeValue value{};
        if (driver_.graphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) ==
            CUDA_SUCCESS) {
            row.priority = value.priority;
        }
        // A kernel from a library has no function until it is loaded.
        const char* name = nullptr;
        const bool named =
            (params.func != nullptr && driver_.funcGetName(&name, params.func) == CUDA_SUCCESS) ||
            (params.kern != nullptr && driver_.kernelGetName(&name, params.kern) == CUDA_SUCCESS);
        return named && name != nullptr ? name : "";
    }

    void readEdges(CUgraph graph, std::uint32_t definition) {
        // With the array of edge data: without it graphs with programmatic edges are refused.
        std::size_t count = 0;
        if (!fine(driver_.graphGetEdges(graph, nullptr, nullptr, nullptr, &count), "its edges") ||
            count == 0) {
            return;
        }
        std::vector<CUgraphNode> from(count);
        std::vector<CUgraphNode> to(count);
        std::vector<CUgraphEdgeData> data(count);
        if (!fine(driver_.graphGetEdges(graph, from.data(), to.data(), data.data(), &count),
                  "its edges")) {
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto source = idOf(from[i]);
            const auto target = idOf(to[i]);
            if (source && target) {
                found_.edges.push_back({definition, *source, *target, data[i].type,
                                        data[i].from_port, data[i].to_port});
            }
        }
    }

    const DriverApi& driver_;
    const CuptiApi& cupti_;
    std::uint32_t next_definition_;
    std::map<CUgraphNode, std::uint64_t> ids_;
    Topology found_;
};

template <class Function> bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

bool DriverApi::load() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return library != nullptr && find(library, "cuGraphGetNodes", graphGetNodes) &&
           find(library, "cuGraphGetEdges_v2", graphGetEdges) &&
           find(library, "cuGraphNodeGetType", graphNodeGetType) &&
           find(library, "cuGraphKernelNodeGetParams_v2", graphKernelNodeGetParams) &&
           find(library, "cuGraphChildGraphNodeGetGraph", graphChildGraphNodeGetGraph) &&
           find(library, "cuGraphKernelNodeGetAttribute", graphKernelNodeGetAttribute) &&
           find(library, "cuFuncGetName", funcGetName) &&
           find(library, "cuKernelGetName", kernelGetName);
}

Topology readTopology(const DriverApi& driver, const CuptiApi& cupti, CUgraph graph,
                      std::uint32_t first_definition) {
    TopologyReader reader(driver, cupti, first_definition);
    reader.read(graph, 0, 0, 0);
    return reader.take();
}

} // namespace kerf::collector

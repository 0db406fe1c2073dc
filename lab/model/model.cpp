// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/model/model.h"

namespace kerf::lab {

std::vector<Execution> executionsOf(const Model& model) {
    std::vector<Execution> executions;
    for (std::size_t op = 0; op < model.layer_begin; ++op) {
        executions.push_back({op, 0});
    }
    for (int layer = 0; layer < model.layers; ++layer) {
        for (std::size_t op = model.layer_begin; op < model.layer_end; ++op) {
            executions.push_back({op, layer});
        }
    }
    for (std::size_t op = model.layer_end; op < model.ops.size(); ++op) {
        executions.push_back({op, 0});
    }
    return executions;
}

double weightBytes(const Model& model, int batch) {
    double bytes = 0;
    for (const Execution& execution : executionsOf(model)) {
        const ModelOp& op = model.ops[execution.op];
        if (op.kind == OpKind::Product) {
            bytes += 2.0 * op.rows * op.columns;
        } else if (op.kind == OpKind::Embedding) {
            bytes += 2.0 * batch * model.buffers[static_cast<std::size_t>(op.output)].width;
        }
    }
    return bytes;
}

double cacheBytes(const Model& model, int batch) {
    double bytes = 0;
    for (const Execution& execution : executionsOf(model)) {
        if (model.ops[execution.op].kind == OpKind::Attention) {
            bytes += 2.0 * 2.0 * batch * model.context * model.kv_heads * model.head_dim;
        }
    }
    return bytes;
}

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
// A small model in host memory, and its step run by the megakernel under the emulator.
#pragma once

#include "lab/megakernel/plan.h"
#include "lab/megakernel/worker.h"
#include "lab/model/layout.h"
#include "lab/reference/reference.h"
#include "lab/simt/emulator.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>

namespace kerf::lab::tests {

/// Two layers, all kinds of ops, 24 positions.
inline Model smallModel() {
    return parseModel(R"({
      "format": "kerf-lab-model", "version": 1, "name": "small", "source": "test", "stage": "decode",
      "context": 24, "attention": {"heads": 4, "kv_heads": 2, "head_dim": 32, "rotary_base": 10000},
      "norm_epsilon": 1e-5, "vocabulary": 512, "layers": 2,
      "buffers": {"x": 128, "q": 128, "mixed": 128, "hidden": 256},
      "prefix": [{"name": "embed", "kind": "embedding", "output": "x"}],
      "layer": [
        {"name": "qkv", "kind": "product", "rows": 256, "input": "x", "norm": true,
         "epilogue": "rotary_append", "output": "q"},
        {"name": "attention", "kind": "attention", "input": "q", "output": "mixed"},
        {"name": "o", "kind": "product", "rows": 128, "input": "mixed", "epilogue": "residual", "output": "x"},
        {"name": "gate_up", "kind": "product", "rows": 512, "input": "x", "norm": true,
         "epilogue": "gated_silu", "output": "hidden"},
        {"name": "down", "kind": "product", "rows": 128, "input": "hidden", "epilogue": "residual", "output": "x"}],
      "suffix": [
        {"name": "head", "kind": "product", "rows": 512, "input": "x", "norm": true, "epilogue": "best_of_tile"},
        {"name": "sample", "kind": "best"}]
    })");
}

/// Everything that a step reads and writes, in host memory.
class HostModel {
public:
    HostModel(const Model& model, int batch, std::uint64_t seed, std::vector<Tiling> tilings,
              std::uint32_t stage_bytes)
        : model_(model), batch_(batch), seed_(seed), tilings_(std::move(tilings)),
          stage_bytes_(stage_bytes), position_(static_cast<std::uint32_t>(model.context - 1)),
          rotary_(rotaryTable(model)) {
        for (const Execution& execution : executionsOf(model)) {
            weights_[{execution.op, execution.layer}] = pack(execution);
        }
        for (const Buffer& buffer :
             model.buffers) { // NaN: what is read too early spoils the result
            buffers_.emplace_back(size(batch) * size(buffer.width), BFloat16{0x7fff});
        }
        const std::size_t cached =
            size(batch) * size(model.kv_heads) * size(model.context) * size(model.head_dim);
        for (int layer = 0; layer < model.layers; ++layer) {
            for (const bool is_value : {false, true}) {
                auto& cache = (is_value ? values_ : keys_).emplace_back(cached);
                for (std::size_t i = 0; i < cached; ++i) {
                    const bool current =
                        i / size(model.head_dim) % size(model.context) == position_;
                    cache[i] = current ? BFloat16{0x7fff} : cachedValue(seed, is_value, layer, i);
                }
            }
        }
        for (int request = 0; request < batch; ++request) {
            tokens.push_back(static_cast<std::uint32_t>((request * 37 + 5) % model.vocabulary));
        }
        logits.assign(size(batch) * size(model.vocabulary),
                      std::numeric_limits<float>::quiet_NaN());
    }

    /// Plans a region and keeps its queues and counters for further launches.
    std::size_t addRegion(const RegionRequest& request, const WorkerShape& shape) {
        auto region = std::make_unique<Region>();
        region->plan = planRegion(model_, batch_, shape, tilings_, request);
        region->events.assign(region->plan.events, 0);
        region->times.resize(region->plan.tasks.size());
        scratch_.cover(region->plan.scratch);
        regions_.push_back(std::move(region));
        return regions_.size() - 1;
    }

    template <class Config> simt::RunCounts launch(std::size_t index, std::uint64_t seed) {
        Region& region = *regions_[index];
        product_partials_.resize(scratch_.product_partials,
                                 std::numeric_limits<float>::quiet_NaN());
        attention_partials_.resize(scratch_.attention_partials,
                                   std::numeric_limits<float>::quiet_NaN());
        product_arrivals_.resize(scratch_.product_arrivals);
        attention_arrivals_.resize(scratch_.attention_arrivals);
        candidates_.resize(scratch_.candidates);
        Memory memory;
        memory.weights = [&](const Execution& execution) {
            return weights_.at({execution.op, execution.layer}).data();
        };
        for (auto& buffer : buffers_) {
            memory.buffers.push_back(buffer.data());
        }
        for (int layer = 0; layer < model_.layers; ++layer) {
            memory.keys.push_back(keys_[size(layer)].data());
            memory.values.push_back(values_[size(layer)].data());
        }
        memory.product_partials = product_partials_.data();
        memory.attention_partials = attention_partials_.data();
        memory.product_arrivals = product_arrivals_.data();
        memory.attention_arrivals = attention_arrivals_.data();
        memory.candidates = candidates_.data();
        const std::vector<DeviceOp> ops = bindOps(model_, region.plan, memory);
        RegionArguments arguments = regionArguments(model_, batch_, region.plan);
        arguments.ops = ops.data();
        arguments.tasks = region.plan.tasks.data();
        arguments.task_begin = region.plan.task_begin.data();
        arguments.events = region.events.data();
        arguments.finished = &region.finished;
        arguments.fault = &fault_;
        arguments.times = region.times.data();
        arguments.rotary = rotary_.data();
        arguments.position = &position_;
        arguments.tokens = tokens.data();
        arguments.logits = logits.data();
        const simt::GridShape grid{static_cast<unsigned>(region.plan.task_begin.size() - 1),
                                   Config::kThreads, region.plan.shared_bytes};
        return simt::runGrid(grid, seed, [&](std::byte* shared) {
            runWorker<Config>(arguments, reinterpret_cast<unsigned char*>(shared));
        });
    }

    [[nodiscard]] const RegionPlan& plan(std::size_t index) const { return regions_[index]->plan; }
    [[nodiscard]] const std::vector<TaskTimes>& times(std::size_t index) const {
        return regions_[index]->times;
    }
    [[nodiscard]] ReferenceStep reference() const {
        return referenceStep(model_, seed_, static_cast<int>(position_), tokens);
    }
    [[nodiscard]] const std::vector<BFloat16>& buffer(std::size_t index) const {
        return buffers_[index];
    }
    /// The key (or value) that the step appended.
    [[nodiscard]] BFloat16 appended(bool is_value, int layer, std::size_t pair, int i) const {
        const auto& cache = is_value ? values_ : keys_;
        return cache[size(layer)]
                    [(pair * size(model_.context) + position_) * size(model_.head_dim) + size(i)];
    }

    std::vector<std::uint32_t> tokens;
    std::vector<float> logits;

private:
    struct Region {
        RegionPlan plan;
        std::vector<std::uint32_t> events;
        std::vector<TaskTimes> times;
        unsigned long long finished = 0;
    };

    static std::size_t size(int value) { return static_cast<std::size_t>(value); }

    std::vector<BFloat16> pack(const Execution& execution) const {
        const ModelOp& op = model_.ops[execution.op];
        std::vector<BFloat16> packed;
        if (op.kind == OpKind::Embedding) {
            const int width = model_.buffers[size(op.output)].width;
            for (int row = 0; row < model_.vocabulary; ++row) {
                for (int column = 0; column < width; ++column) {
                    packed.push_back(weightValue(model_, seed_, execution, row, column));
                }
            }
        } else if (op.kind == OpKind::Product) {
            packed.resize(size(op.rows) * size(op.columns), BFloat16{0x7fff});
            const int rows = tilings_[execution.op].rows_a_tile;
            const int columns = static_cast<int>(stage_bytes_) / 2 / rows;
            for (int row = 0; row < op.rows; ++row) {
                for (int column = 0; column < op.columns; ++column) {
                    packed[packedOffset(op, rows, columns, row, column)] =
                        weightValue(model_, seed_, execution, matrixRow(model_, op, row), column);
                }
            }
        }
        return packed;
    }

    Model model_;
    int batch_;
    std::uint64_t seed_;
    std::vector<Tiling> tilings_;
    std::uint32_t stage_bytes_;
    std::uint32_t position_;
    std::vector<float> rotary_;
    std::map<std::pair<std::size_t, int>, std::vector<BFloat16>> weights_;
    std::vector<std::vector<BFloat16>> buffers_, keys_, values_;
    Scratch scratch_;
    std::vector<float> product_partials_, attention_partials_;
    std::vector<std::uint32_t> product_arrivals_, attention_arrivals_;
    std::vector<Candidate> candidates_;
    std::vector<std::unique_ptr<Region>> regions_;
    unsigned fault_ = 0;
};

} // namespace kerf::lab::tests

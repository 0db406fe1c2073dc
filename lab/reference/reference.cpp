// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/reference/reference.h"

#include "lab/model/random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>

namespace kerf::lab {
namespace {

constexpr std::uint32_t kLayers = 1024; ///< most layers, for the numbering of tensors
constexpr std::uint32_t kKeys = 0x40000000U;
constexpr std::uint32_t kValues = 0x50000000U;
constexpr double kRoot3 = 1.7320508075688772; ///< range of a uniform value of unit variance

std::size_t size(int value) {
    return static_cast<std::size_t>(value);
}

void inParallel(int count, const std::function<void(int begin, int end)>& work) {
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int share = (count + threads - 1) / threads;
    std::vector<std::thread> running;
    for (int begin = 0; begin < count; begin += share) {
        running.emplace_back(work, begin, std::min(count, begin + share));
    }
    for (std::thread& thread : running) {
        thread.join();
    }
}

class Step {
public:
    Step(const Model& model, std::uint64_t seed, int position,
         const std::vector<std::uint32_t>& tokens)
        : model_(model), seed_(seed), position_(position), batch_(static_cast<int>(tokens.size())) {
        result_.tokens = tokens;
        for (const Buffer& buffer : model.buffers) {
            result_.buffers.emplace_back(size(batch_) * size(buffer.width));
        }
        const std::size_t appended = size(batch_) * size(model.kv_heads) * size(model.head_dim);
        result_.keys.assign(size(model.layers), std::vector<double>(appended));
        result_.values = result_.keys;
    }

    ReferenceStep run() {
        for (const Execution& execution : executionsOf(model_)) {
            const ModelOp& op = model_.ops[execution.op];
            switch (op.kind) {
            case OpKind::Embedding:
                embed(execution);
                break;
            case OpKind::Product:
                product(execution);
                break;
            case OpKind::Attention:
                attend(execution);
                break;
            case OpKind::Best:
                best();
                break;
            }
        }
        return std::move(result_);
    }

private:
    std::vector<double>& buffer(int index) { return result_.buffers[size(index)]; }
    int width(int index) const { return model_.buffers[size(index)].width; }

    void embed(const Execution& execution) {
        const int output = model_.ops[execution.op].output;
        for (int request = 0; request < batch_; ++request) {
            for (int i = 0; i < width(output); ++i) {
                buffer(output)[size(request) * size(width(output)) + size(i)] = toFloat(weightValue(
                    model_, seed_, execution, static_cast<int>(result_.tokens[size(request)]), i));
            }
        }
    }

    void product(const Execution& execution) {
        const ModelOp& op = model_.ops[execution.op];
        std::vector<double> input = buffer(op.input);
        if (op.norm) {
            for (int request = 0; request < batch_; ++request) {
                double* row = input.data() + size(request) * size(op.columns);
                double squares = 0;
                for (int i = 0; i < op.columns; ++i) {
                    squares += row[i] * row[i];
                }
                const double factor = 1 / std::sqrt(squares / op.columns + model_.norm_epsilon);
                for (int i = 0; i < op.columns; ++i) {
                    row[i] *= factor;
                }
            }
        }
        std::vector<double> output(size(batch_) * size(op.rows));
        inParallel(op.rows, [&](int begin, int end) {
            std::vector<double> weights(size(op.columns));
            for (int row = begin; row < end; ++row) {
                for (int column = 0; column < op.columns; ++column) {
                    weights[size(column)] =
                        toFloat(weightValue(model_, seed_, execution, row, column));
                }
                for (int request = 0; request < batch_; ++request) {
                    const double* x = input.data() + size(request) * size(op.columns);
                    double sum = 0;
                    for (int column = 0; column < op.columns; ++column) {
                        sum += weights[size(column)] * x[column];
                    }
                    output[size(request) * size(op.rows) + size(row)] = sum;
                }
            }
        });
        finish(execution, output);
    }

    void finish(const Execution& execution, const std::vector<double>& output) {
        const ModelOp& op = model_.ops[execution.op];
        if (op.epilogue == Epilogue::BestOfTile) {
            result_.logits = output;
            return;
        }
        for (int request = 0; request < batch_; ++request) {
            const double* from = output.data() + size(request) * size(op.rows);
            double* to = buffer(op.output).data() + size(request) * size(width(op.output));
            switch (op.epilogue) {
            case Epilogue::Store:
                std::copy_n(from, op.rows, to);
                break;
            case Epilogue::Residual:
                for (int i = 0; i < op.rows; ++i) {
                    to[i] += from[i];
                }
                break;
            case Epilogue::GatedSilu:
                for (int i = 0; i < op.rows / 2; ++i) {
                    to[i] = from[i] / (1 + std::exp(-from[i])) * from[op.rows / 2 + i];
                }
                break;
            case Epilogue::RotaryAppend: {
                const int dim = model_.head_dim;
                for (int head = 0; head < model_.heads; ++head) {
                    rotate(from + head * dim, to + head * dim);
                }
                const std::size_t cached = size(request) * size(model_.kv_heads) * size(dim);
                for (int head = 0; head < model_.kv_heads; ++head) {
                    const double* key = from + (model_.heads + head) * dim;
                    rotate(key, result_.keys[size(execution.layer)].data() + cached + head * dim);
                    std::copy_n(key + model_.kv_heads * dim, dim,
                                result_.values[size(execution.layer)].data() + cached + head * dim);
                }
                break;
            }
            case Epilogue::BestOfTile:
                break;
            }
        }
    }

    /// Rotates the pairs (i, i + half) of a head by the position.
    void rotate(const double* from, double* to) const {
        const int half = model_.head_dim / 2;
        for (int i = 0; i < half; ++i) {
            const double angle =
                position_ * std::pow(model_.rotary_base, -2.0 * i / model_.head_dim);
            to[i] = from[i] * std::cos(angle) - from[i + half] * std::sin(angle);
            to[i + half] = from[i + half] * std::cos(angle) + from[i] * std::sin(angle);
        }
    }

    void attend(const Execution& execution) {
        const ModelOp& op = model_.ops[execution.op];
        const int shared = model_.heads / model_.kv_heads;
        inParallel(batch_ * model_.heads, [&](int begin, int end) {
            for (int i = begin; i < end; ++i) {
                const int request = i / model_.heads;
                const int head = i % model_.heads;
                attendHead(execution.layer, request, head / shared,
                           buffer(op.input).data() + size(i) * size(model_.head_dim),
                           buffer(op.output).data() + size(i) * size(model_.head_dim));
            }
        });
    }

    void attendHead(int layer, int request, int kv_head, const double* query, double* output) {
        const int dim = model_.head_dim;
        const std::size_t pair = size(request * model_.kv_heads + kv_head);
        const auto cached = [&](bool is_value, int position, int i) -> double {
            if (position == position_) {
                const auto& appended = is_value ? result_.values : result_.keys;
                return appended[size(layer)][pair * size(dim) + size(i)];
            }
            return toFloat(
                cachedValue(seed_, is_value, layer,
                            (pair * size(model_.context) + size(position)) * size(dim) + size(i)));
        };
        std::vector<double> scores(size(position_ + 1));
        double most = -1e300;
        for (int position = 0; position <= position_; ++position) {
            double sum = 0;
            for (int i = 0; i < dim; ++i) {
                sum += query[i] * cached(false, position, i);
            }
            scores[size(position)] = sum / std::sqrt(static_cast<double>(dim));
            most = std::max(most, scores[size(position)]);
        }
        double total = 0;
        std::fill_n(output, dim, 0.0);
        for (int position = 0; position <= position_; ++position) {
            const double weight = std::exp(scores[size(position)] - most);
            total += weight;
            for (int i = 0; i < dim; ++i) {
                output[i] += weight * cached(true, position, i);
            }
        }
        for (int i = 0; i < dim; ++i) {
            output[i] /= total;
        }
    }

    void best() {
        for (int request = 0; request < batch_; ++request) {
            const auto begin =
                result_.logits.begin() + static_cast<std::ptrdiff_t>(request) * model_.vocabulary;
            result_.tokens[size(request)] = static_cast<std::uint32_t>(
                std::max_element(begin, begin + model_.vocabulary) - begin);
        }
    }

    const Model& model_;
    std::uint64_t seed_;
    int position_;
    int batch_;
    ReferenceStep result_;
};

} // namespace

TensorName tensorName(const Model& model, const Execution& execution) {
    const ModelOp& op = model.ops[execution.op];
    TensorName name;
    name.tensor = static_cast<std::uint32_t>(execution.op) * kLayers +
                  static_cast<std::uint32_t>(execution.layer);
    // Products keep unit variance; what is added to the residual stream is half of that, so that 32
    // additions do not drown the embedding.
    double range = kRoot3;
    if (op.kind == OpKind::Product) {
        range /= std::sqrt(static_cast<double>(op.columns));
        range *= op.epilogue == Epilogue::Residual ? 0.5 : 1.0;
    }
    name.range = static_cast<float>(range);
    return name;
}

BFloat16 weightValue(const Model& model, std::uint64_t seed, const Execution& execution, int row,
                     int column) {
    const ModelOp& op = model.ops[execution.op];
    const int columns =
        op.kind == OpKind::Embedding ? model.buffers[size(op.output)].width : op.columns;
    const TensorName name = tensorName(model, execution);
    return randomValue(seed, name.tensor,
                       static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(columns) +
                           static_cast<std::uint64_t>(column),
                       name.range);
}

BFloat16 cachedValue(std::uint64_t seed, bool is_value, int layer, std::uint64_t index) {
    return randomValue(seed, (is_value ? kValues : kKeys) + static_cast<std::uint32_t>(layer),
                       index, static_cast<float>(kRoot3));
}

std::vector<float> rotaryTable(const Model& model) {
    std::vector<float> table;
    const int half = model.head_dim / 2;
    for (int position = 0; position < model.context; ++position) {
        for (int i = 0; i < half; ++i) {
            const double angle = position * std::pow(model.rotary_base, -2.0 * i / model.head_dim);
            table.push_back(static_cast<float>(std::cos(angle)));
            table.push_back(static_cast<float>(std::sin(angle)));
        }
    }
    return table;
}

ReferenceStep referenceStep(const Model& model, std::uint64_t seed, int position,
                            const std::vector<std::uint32_t>& tokens) {
    return Step(model, seed, position, tokens).run();
}

} // namespace kerf::lab

// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/lab_error.h"
#include "lab/model/model.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace kerf::lab {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
    throw LabError("model file: " + where + ": " + what);
}

const json& field(const json& object, const char* name, const std::string& where) {
    const auto found = object.find(name);
    if (found == object.end()) {
        fail(where, "\"" + std::string(name) + "\" is missing");
    }
    return *found;
}

int whole(const json& object, const char* name, int least, int most, const std::string& where) {
    const json& value = field(object, name, where);
    const bool fits = value.is_number_integer() && value >= least && value <= most;
    if (!fits) {
        fail(where + "." + name, "a whole number from " + std::to_string(least) + " to " +
                                     std::to_string(most) + " is needed");
    }
    return value.get<int>();
}

double positive(const json& object, const char* name, const std::string& where) {
    const json& value = field(object, name, where);
    if (!value.is_number() || !(value.get<double>() > 0)) {
        fail(where + "." + name, "a positive number is needed");
    }
    return value.get<double>();
}

std::string text(const json& object, const char* name, const std::string& where) {
    const json& value = field(object, name, where);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
        fail(where + "." + name, "a text is needed");
    }
    return value.get<std::string>();
}

template <class Value, std::size_t Count>
Value oneOf(const json& object, const char* name, const std::string& where,
            const std::array<std::pair<std::string_view, Value>, Count>& table) {
    const std::string given = text(object, name, where);
    std::string all;
    for (const auto& [word, value] : table) {
        if (word == given) {
            return value;
        }
        all += (all.empty() ? "" : ", ") + std::string(word);
    }
    fail(where + "." + name, "\"" + given + "\" is not one of " + all);
}

constexpr std::array<std::pair<std::string_view, OpKind>, 4> kKinds{
    {{"embedding", OpKind::Embedding},
     {"product", OpKind::Product},
     {"attention", OpKind::Attention},
     {"best", OpKind::Best}}};
constexpr std::array<std::pair<std::string_view, Epilogue>, 5> kEpilogues{
    {{"store", Epilogue::Store},
     {"rotary_append", Epilogue::RotaryAppend},
     {"residual", Epilogue::Residual},
     {"gated_silu", Epilogue::GatedSilu},
     {"best_of_tile", Epilogue::BestOfTile}}};

/// The role's name in Kerf's keys.
std::string_view roleOf(OpKind kind) {
    switch (kind) {
    case OpKind::Embedding:
        return "embedding";
    case OpKind::Product:
        return "product";
    case OpKind::Attention:
        return "attention";
    case OpKind::Best:
        return "sample";
    }
    return "";
}

class Reader {
public:
    explicit Reader(const json& document) : document_(document) {}

    Model read() {
        readShape();
        const auto section = [&](const char* name, const char* part) {
            const json& ops = field(document_, name, "file");
            if (!ops.is_array()) {
                fail(name, "a list of ops is needed");
            }
            std::map<std::string_view, int> counts;
            for (std::size_t i = 0; i < ops.size(); ++i) {
                ModelOp op = readOp(ops[i], std::string(name) + "[" + std::to_string(i) + "]");
                const std::string_view role = roleOf(op.kind);
                op.key = model_.stage + "/" + part + "/" + std::string(role) + "." +
                         std::to_string(++counts[role]);
                model_.ops.push_back(std::move(op));
            }
        };
        section("prefix", "start");
        model_.layer_begin = model_.ops.size();
        section("layer", "layer");
        model_.layer_end = model_.ops.size();
        section("suffix", "end");
        if (model_.layer_begin == model_.layer_end) {
            fail("layer", "a layer needs at least one op");
        }
        return std::move(model_);
    }

private:
    void readShape() {
        if (!document_.is_object() || document_.value("format", "") != "kerf-lab-model") {
            fail("file", "this is not a model of kerf-lab (\"format\": \"kerf-lab-model\")");
        }
        if (whole(document_, "version", 0, 1'000'000, "file") != 1) {
            fail("version", "only version 1 is known; use a newer kerf-lab");
        }
        model_.name = text(document_, "name", "file");
        model_.source = text(document_, "source", "file");
        model_.stage = text(document_, "stage", "file");
        model_.context = whole(document_, "context", 1, 1 << 20, "file");
        model_.vocabulary = whole(document_, "vocabulary", 1, 1 << 24, "file");
        model_.layers = whole(document_, "layers", 1, 1000, "file");
        model_.norm_epsilon = positive(document_, "norm_epsilon", "file");
        const json& attention = field(document_, "attention", "file");
        model_.heads = whole(attention, "heads", 1, 1024, "attention");
        model_.kv_heads = whole(attention, "kv_heads", 1, 1024, "attention");
        model_.head_dim = whole(attention, "head_dim", 32, 256, "attention");
        model_.rotary_base = positive(attention, "rotary_base", "attention");
        if (model_.heads % model_.kv_heads != 0) {
            fail("attention.heads", "must be a multiple of kv_heads");
        }
        if (model_.heads / model_.kv_heads > 4) {
            fail("attention.heads", "at most 4 heads can share keys and values");
        }
        if ((model_.head_dim & (model_.head_dim - 1)) != 0) {
            fail("attention.head_dim", "must be 32, 64, 128 or 256");
        }
        const json& buffers = field(document_, "buffers", "file");
        if (!buffers.is_object()) {
            fail("buffers", "names with widths are needed");
        }
        for (const auto& [name, width] : buffers.items()) {
            model_.buffers.push_back({name, whole(buffers, name.c_str(), 32, 1 << 20, "buffers")});
            if (model_.buffers.back().width % 32 != 0) {
                fail("buffers." + name, "the width must be a multiple of 32");
            }
        }
    }

    int buffer(const json& object, const char* name, const std::string& where) {
        const std::string wanted = text(object, name, where);
        for (std::size_t i = 0; i < model_.buffers.size(); ++i) {
            if (model_.buffers[i].name == wanted) {
                return static_cast<int>(i);
            }
        }
        fail(where + "." + name, "there is no buffer \"" + wanted + "\"");
    }

    int widthOf(int buffer) const { return model_.buffers[static_cast<std::size_t>(buffer)].width; }

    void needWidth(int buffer, int width, const std::string& where) const {
        if (widthOf(buffer) != width) {
            fail(where, "buffer \"" + model_.buffers[static_cast<std::size_t>(buffer)].name +
                            "\" is " + std::to_string(widthOf(buffer)) + " wide, not " +
                            std::to_string(width));
        }
    }

    ModelOp readOp(const json& object, const std::string& where) {
        ModelOp op;
        op.name = text(object, "name", where);
        op.kind = oneOf(object, "kind", where, kKinds);
        switch (op.kind) {
        case OpKind::Embedding:
            op.output = buffer(object, "output", where);
            break;
        case OpKind::Attention:
            op.input = buffer(object, "input", where);
            op.output = buffer(object, "output", where);
            needWidth(op.input, model_.heads * model_.head_dim, where + ".input");
            needWidth(op.output, model_.heads * model_.head_dim, where + ".output");
            break;
        case OpKind::Best:
            if (model_.ops.empty() || model_.ops.back().epilogue != Epilogue::BestOfTile) {
                fail(where, "must follow a product with epilogue best_of_tile");
            }
            break;
        case OpKind::Product:
            readProduct(object, where, op);
            break;
        }
        return op;
    }

    void readProduct(const json& object, const std::string& where, ModelOp& op) {
        op.rows = whole(object, "rows", 16, 1 << 24, where);
        op.input = buffer(object, "input", where);
        op.columns = widthOf(op.input);
        op.norm = object.value("norm", false);
        op.epilogue = oneOf(object, "epilogue", where, kEpilogues);
        if (op.rows % 16 != 0) {
            fail(where + ".rows", "must be a multiple of 16");
        }
        if (op.epilogue == Epilogue::BestOfTile) {
            if (op.rows != model_.vocabulary) {
                fail(where + ".rows", "must be the vocabulary");
            }
            return;
        }
        op.output = buffer(object, "output", where);
        int width = op.rows;
        if (op.epilogue == Epilogue::RotaryAppend) {
            width = model_.heads * model_.head_dim;
            const int all = (model_.heads + 2 * model_.kv_heads) * model_.head_dim;
            if (op.rows != all) {
                fail(where + ".rows", "q, k and v heads together have " + std::to_string(all));
            }
        } else if (op.epilogue == Epilogue::GatedSilu) {
            width = op.rows / 2;
        }
        needWidth(op.output, width, where + ".output");
    }

    const json& document_;
    Model model_;
};

} // namespace

Model parseModel(std::string_view text) {
    json document;
    try {
        document = json::parse(text);
    } catch (const json::exception& error) {
        fail("file", error.what());
    }
    try {
        return Reader(document).read();
    } catch (const json::exception& error) { // a value of another type than expected
        fail("file", error.what());
    }
}

} // namespace kerf::lab

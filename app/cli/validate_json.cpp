// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/validate.h"

namespace kerf::cli {

namespace {

using Json = nlohmann::ordered_json;

Json summary(const validation::ErrorSummary& errors) {
    return {{"mean_abs_error", errors.mean_abs}, {"worst_abs_error", errors.worst_abs}};
}

Json caseJson(const validation::ChainFile& file, const validation::CaseResult& one) {
    const auto& chain = file.chains[one.chain];
    const auto& cut = chain.cases[one.chain_case];
    const auto ops = static_cast<double>(chain.ops.size());
    Json json{{"chain", chain.name}, {"kind", toString(cut.kind)}};
    json["region_ops"] =
        cut.kind == validation::CaseKind::RegionsOf ? Json(cut.region_ops) : Json(nullptr);
    json.update({{"ops", chain.ops.size()},
                 {"regions", cut.starts.size()},
                 {"predicted_us", one.predicted_us},
                 {"measured_us", one.measured_us},
                 {"error", validation::relativeError(one.predicted_us, one.measured_us)},
                 {"predicted_us_per_op", one.predicted_us / ops},
                 {"measured_us_per_op", one.measured_us / ops},
                 {"launch_gap_subtraction_us", one.launch_gap_us},
                 {"roofline_us", one.roofline_us}});
    return json;
}

Json constantsJson(const cost::Hardware& hardware) {
    Json constants = Json::object();
    for (const auto& [name, constant] : constantsUsed(hardware)) {
        constants[name] = {{"value", constant->value}, {"estimated", constant->estimated}};
    }
    return constants;
}

} // namespace

Json toJson(const validation::ChainFile& file, const cost::Hardware& hardware,
            const validation::Validation& made,
            const std::vector<validation::AblationRow>& ablation) {
    Json json{{"gpu", file.gpu}, {"hardware", hardware.name}};
    json.update(summary(made.engine));
    json["order_right"] = made.order_right;
    json["cases"] = Json::array();
    for (const auto& one : made.cases) {
        json["cases"].push_back(caseJson(file, one));
    }
    json["naive"] = {{"launch_gap_subtraction", summary(made.launch_gap)},
                     {"roofline", summary(made.roofline)}};
    json["wrong_pairs"] = Json::array();
    for (const auto& pair : made.wrong_pairs) {
        json["wrong_pairs"].push_back({{"chain", file.chains[pair.chain].name},
                                       {"faster_case", pair.faster},
                                       {"slower_case", pair.slower},
                                       {"measured_difference", pair.measured_difference}});
    }
    json["single_ops"] = Json::array();
    for (const auto& one : made.singles) {
        json["single_ops"].push_back({{"rows", one.product.rows},
                                      {"k", one.product.k},
                                      {"predicted_us", one.predicted_us},
                                      {"measured_us", one.measured_us}});
    }
    json["constants"] = constantsJson(hardware);
    if (!ablation.empty()) {
        json["ablation"] = Json::array();
        for (const auto& row : ablation) {
            Json effect{{"effect", row.effect}};
            effect.update(summary(row.error));
            effect.update({{"mean_shift", row.mean_shift}, {"order_right", row.order_right}});
            json["ablation"].push_back(std::move(effect));
        }
    }
    return json;
}

} // namespace kerf::cli

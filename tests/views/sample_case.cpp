// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_case.h"

#include <cstdlib>

namespace kerf::test {
namespace {

using graph::Item;
using graph::SiteIndex;
using workload::OpRole;

struct SampleOp {
    const char* label;
    OpRole role;
    double us;
};

class Builder {
public:
    search::Case result;

    std::size_t stage(const std::string& name) {
        workload::Stage stage;
        stage.name = name;
        result.traced.stages.push_back(stage);
        return result.traced.stages.size() - 1;
    }
    SiteIndex newSite(const std::string& key) {
        const std::size_t ops = result.chain.ops.size();
        result.chain.sites.push_back({key, key, ops > 0 ? ops - 1 : 0, ops, 1});
        return static_cast<SiteIndex>(result.chain.sites.size() - 1);
    }
    void site(std::vector<Item>& items, const std::string& key) {
        Item item;
        item.kind = Item::Kind::Site;
        item.index = static_cast<std::size_t>(newSite(key));
        items.push_back(item);
    }
    void op(std::vector<Item>& items, std::size_t stageIndex, const SampleOp& sample) {
        workload::Stage& recorded = result.traced.stages[stageIndex];
        graph::ChainOp op;
        op.stage = stageIndex;
        op.role = sample.role;
        op.label = sample.label;
        op.key = recorded.name + "/" + sample.label;
        op.conventional_us = sample.us;
        op.relative_error = 0.2;
        op.source = "estimated from the recorded duration and the blocks of the kernel";
        for (const char* suffix : {"_kernel", "_epilogue"}) {
            workload::Op kernel;
            kernel.kernel = std::string(sample.label) + suffix;
            kernel.role = sample.role;
            op.members.push_back(recorded.ops.size());
            recorded.ops.push_back(kernel);
        }
        Item item;
        item.kind = Item::Kind::Op;
        item.index = result.chain.ops.size();
        result.chain.ops.push_back(op);
        items.push_back(item);
    }
    /// Ops with a site before each but the first.
    void ops(std::vector<Item>& items, std::size_t stageIndex, const std::vector<SampleOp>& list,
             const std::string& prefix, bool siteFirst = false) {
        for (const SampleOp& sample : list) {
            if (siteFirst) {
                site(items, prefix + "before " + sample.label);
            }
            siteFirst = true;
            op(items, stageIndex, sample);
        }
    }
    void layers(std::vector<Item>& items, std::size_t stageIndex, int count, double scale) {
        const std::string name = result.traced.stages[stageIndex].name;
        site(items, name + "/before layers");
        Item loop;
        loop.kind = Item::Kind::Loop;
        loop.count = count;
        loop.label = "layer";
        loop.back_site = newSite(name + "/each layer");
        ops(loop.body, stageIndex,
            {{"norm", OpRole::Norm, 2 * scale},
             {"qkv", OpRole::Product, 7 * scale},
             {"attn", OpRole::Attention, 8 * scale},
             {"o", OpRole::Product, 5 * scale},
             {"gate_up", OpRole::Product, 14 * scale},
             {"down", OpRole::Product, 9 * scale}},
            name + "/layer/");
        items.push_back(loop);
    }
    std::shared_ptr<const search::Case> finish(int batch) {
        result.traced.model = "sample-tts";
        result.traced.batch = batch;
        result.corrected = result.traced;
        return std::make_shared<const search::Case>(std::move(result));
    }
};

search::Candidate candidate(const graph::Composition& composition, std::string regions,
                            double ttfa_us, double throughput, double coverage, double p_best) {
    search::Candidate c;
    c.prediction = samplePrediction(composition, ttfa_us, throughput, coverage);
    c.uncertain.predicted_us = ttfa_us;
    c.uncertain.interval_us = c.prediction.ttfa_interval_us;
    c.uncertain.p_best = p_best;
    c.ties_best = p_best > 0.05;
    c.regions = std::move(regions);
    return c;
}

} // namespace

std::shared_ptr<const search::Case> sampleCase(int batch) {
    Builder b;
    const std::size_t prefill = b.stage("prefill");
    const std::size_t talker = b.stage("talker_step");
    const std::size_t predictor = b.stage("code_predictor_step");
    const std::size_t codec = b.stage("codec_chunk");
    std::vector<Item>& path = b.result.chain.items;

    b.ops(path, prefill, {{"embed", OpRole::Embedding, 6}}, "prefill/");
    b.layers(path, prefill, 28, 1.6);
    b.ops(path, prefill, {{"lm_head", OpRole::Product, 20}}, "prefill/", true);

    b.site(path, "talker_step loop/enter");
    Item frames;
    frames.kind = Item::Kind::Loop;
    frames.count = 4;
    frames.label = "talker_step loop";
    frames.back_site = b.newSite("talker_step loop/again");
    b.ops(frames.body, talker, {{"embed", OpRole::Embedding, 4}}, "talker_step/");
    b.layers(frames.body, talker, 28, 1);
    b.ops(frames.body, talker, {{"head", OpRole::Product, 12}}, "talker_step/", true);
    b.site(frames.body, "code_predictor_step/enter");
    Item codes;
    codes.kind = Item::Kind::Loop;
    codes.count = 15;
    codes.label = "code_predictor_step";
    codes.back_site = b.newSite("code_predictor_step/again");
    b.ops(codes.body, predictor, {{"embed", OpRole::Embedding, 3}}, "code_predictor_step/");
    b.layers(codes.body, predictor, 5, 0.6);
    b.ops(codes.body, predictor,
          {{"head", OpRole::Product, 7}, {"sample", OpRole::Sample, 3}, {"copy", OpRole::Copy, 1}},
          "code_predictor_step/", true);
    frames.body.push_back(codes);
    path.push_back(frames);

    b.site(path, "codec_chunk/start");
    b.ops(path, codec,
          {{"embed", OpRole::Embedding, 12},
           {"conv 1", OpRole::Convolution, 180},
           {"snake 1", OpRole::Activation, 60},
           {"conv 2", OpRole::Convolution, 320},
           {"snake 2", OpRole::Activation, 90},
           {"conv 3", OpRole::Convolution, 420},
           {"conv 4", OpRole::Convolution, 300}},
          "codec_chunk/");
    return b.finish(batch);
}

std::shared_ptr<const search::Case> flatCase(int ops) {
    Builder b;
    const std::size_t stage = b.stage("stage");
    for (int i = 0; i < ops; ++i) {
        if (i > 0) {
            b.site(b.result.chain.items, "before " + std::to_string(i));
        }
        b.op(b.result.chain.items, stage, {"op", OpRole::Product, 10});
    }
    return b.finish(1);
}

SiteIndex siteOf(const graph::Chain& chain, const std::string& key) {
    for (std::size_t i = 0; i < chain.sites.size(); ++i) {
        if (chain.sites[i].key == key) {
            return static_cast<SiteIndex>(i);
        }
    }
    std::abort();
}

search::Prediction samplePrediction(const graph::Composition& composition, double ttfa_us,
                                    double throughput_per_s, double coverage) {
    search::Prediction p;
    p.composition = composition;
    p.kind = graph::kindOf(composition);
    p.ttfa_us = ttfa_us;
    p.ttfa_interval_us = {ttfa_us * 0.98, ttfa_us * 1.02};
    p.coverage = coverage;
    p.launches = 6;
    p.throughput_per_s = throughput_per_s;
    p.rtf = 20 / throughput_per_s;
    return p;
}

search::SearchResult sampleResult(const graph::Chain& chain) {
    using graph::Mode;
    const SiteIndex talker = siteOf(chain, "talker_step loop/enter");
    const SiteIndex predictor = siteOf(chain, "code_predictor_step/enter");
    const SiteIndex codec = siteOf(chain, "codec_chunk/start");
    const Mode m = Mode::Megakernel;
    const Mode c = Mode::Conventional;
    search::SearchResult result;
    result.model = "sample-tts";
    result.batch = 32;
    result.regions_evaluated = 1204;
    result.candidates = {
        candidate({m, {{talker, m}, {predictor, m}, {codec, m}}}, "M M M M", 14'100, 412, 1, 0.55),
        candidate({c, {{talker, m}, {predictor, m}, {codec, m}}}, "c M M M", 14'200, 408, 0.83,
                  0.45),
        candidate({m, {{codec, m}}}, "M M", 15'000, 390, 1, 0),
        candidate(graph::monolith(), "M", 17'200, 330, 1, 0),
        candidate({c, {{predictor, m}, {codec, c}}}, "c M c", 19'800, 300, 0.4, 0),
        candidate(graph::fullyConventional(), "c", 27'400, 212, 0, 0),
    };
    return result;
}

} // namespace kerf::test

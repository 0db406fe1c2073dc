// SPDX-License-Identifier: GPL-3.0-or-later
// What a kernel does, told from its name by one table of patterns.
#include "core/workload/op.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace kerf::workload {
namespace {

/// `words`, separated by spaces, must all occur in the lower-case name; those after '!' must not.
struct Rule {
    std::string_view words;
    OpRole role;
};

using enum OpRole;

// First match wins. Names of generated kernels list what was fused: the rarest word decides.
constexpr Rule kRules[] = {
    // Inductor (Triton): templates are products, everything else is named after what it fused.
    {"triton_tem convolution", Convolution},
    {"triton_tem attention", Attention},
    {"triton_tem", Product},
    {"triton_ argmax", Sample},
    {"triton_ multinomial", Sample},
    {"triton_ softmax", Sample},
    {"triton_ index_copy", CacheAppend},
    {"triton_ index_put", CacheAppend},
    {"triton_ scaled_dot_product", Mask},
    {"triton_ norm split", Rotary}, // q/k norm on the heads, then the rotary embedding after it
    {"triton_ cos_sin", Rotary},
    {"triton_ cat mul split sub", Rotary},
    {"triton_ norm", Norm},
    {"triton_ embedding", Embedding},
    {"triton_ silu", Activation},
    {"triton_ gelu", Activation},
    {"triton_ erf", Activation},
    {"triton_ pow_sin", Activation}, // snake: x + sin²(ax)/a
    {"triton_ relu", Activation},
    {"triton_ fused_convolution", Elementwise}, // bias of a convolution
    {"triton_ clone transpose", Layout},
    {"triton_ fused_clone", Layout},
    {"triton_ permute", Layout},
    {"triton_ unsafe_view_add !mul !sub", Residual},
    {"triton_ fused_add !mul !sub !bitwise", Residual},
    {"triton_", Elementwise},

    // Helpers whose names also carry the name of the work they prepare.
    {"splitkreduce", Reduction},
    {"splitk_reduce", Reduction},
    {"split_k_reduce", Reduction},
    {"reduce_wgrad", Reduction},
    {"epilogue::impl", Elementwise},
    {"kernel_helper_stage", Other},
    {"init_device_workspace", Other},
    {"computeoffsets", Other},
    {"offsetskernel", Other},
    {"nchwtonhwc", Layout},
    {"nhwctonchw", Layout},
    {"tensortransform", Layout},
    {"reformat", Layout}, // TensorRT
    {"copypacked", Layout},
    {"reshape_and_cache", CacheAppend}, // vLLM
    {"concat_and_cache", CacheAppend},
    {"store_kvcache", CacheAppend}, // SGLang
    {"store_kv_cache", CacheAppend},
    {"appendpagedkv", CacheAppend}, // FlashInfer
    {"kv_indices", Mask},
    {"page_indices", Mask},

    // Attention before products: flash kernels are CUTLASS kernels too.
    {"sdpa", Attention},
    {"fmha", Attention},
    {"flash_fwd", Attention},
    {"flash_fprop", Attention},
    {"flashattn", Attention},
    {"paged_attention", Attention},
    {"unified_attention", Attention},
    {"reduce_segments", Attention},        // combine of vLLM's unified attention
    {"batchdecodewithpagedkv", Attention}, // FlashInfer
    {"batchprefillwithpagedkv", Attention},
    {"singledecodewithkv", Attention},
    {"_attn_fwd", Attention},
    {"attention", Attention},

    // Convolutions before products: they are implicit products.
    {"implicit_gemm", Convolution},
    {"implicit_convolve", Convolution},
    {"fprop", Convolution},
    {"dgrad", Convolution},
    {"wgrad", Convolution},
    {"winograd", Convolution},
    {"scudnn", Convolution},
    {"convolve", Convolution},
    {"conv2d", Convolution},
    {"conv1d", Convolution},
    {"convolution", Convolution},
    {"fft2d", Convolution},

    // Products.
    {"nvjet", Product},
    {"cijk_", Product}, // hipBLASLt and rocBLAS (Tensile)
    {"hipblaslt", Product},
    {"gemm", Product},
    {"gemv", Product},
    {"gemk1", Product},
    {"matmul", Product},
    {"bmm_", Product}, // TensorRT-LLM
    {"xmma", Product},
    {"cutlass::kernel", Product},
    {"cutlass::device_kernel", Product},
    {"dot_kernel", Product},
    {"__myl_fc", Product}, // TensorRT Myelin

    // Norms, rotary embeddings, activations of libraries.
    {"qk_norm", Rotary},
    {"qknorm", Rotary},
    {"rms_norm", Norm},
    {"rmsnorm", Norm},
    {"layer_norm", Norm},
    {"layernorm", Norm},
    {"group_norm", Norm},
    {"groupnorm", Norm},
    {"batch_norm", Norm},
    {"ln_fwd", Norm},
    {"bn_fw", Norm},
    {"bn_bw", Norm},
    {"rotary", Rotary},
    {"_rope", Rotary},
    {"rope_", Rotary},
    {"act_and_mul", Activation},
    {"silu", Activation},
    {"gelu", Activation},
    {"swiglu", Activation},
    {"sigmoid", Activation},
    {"tanh_kernel", Activation},
    {"launch_clamp_scalar", Activation}, // ReLU in PyTorch
    {"leaky_relu", Activation},

    // Sampling and gathers.
    {"argmax", Sample},
    {"softmax", Sample},
    {"topk", Sample},
    {"top_k", Sample},
    {"multinomial", Sample},
    {"sampling", Sample},
    {"indexselect", Embedding},
    {"vectorized_gather", Embedding},
    {"embedding", Embedding},

    // The rest of PyTorch.
    {"catarray", Layout},
    {"nocast<at::native::direct_copy", Layout}, // strided copy
    {"permute", Layout},
    {"transpose", Layout},
    {"cudafunctor_add<c10::", Residual},
    {"cudafunctor_add<float", Residual},
    {"memcpy", Copy},
    {"at::native", Elementwise},
    {"elementwise", Elementwise},
    {"pointwise", Elementwise},
    {"quant", Elementwise},
    {"scalepackedtensor", Elementwise},
};

bool matches(std::string_view words, std::string_view name) {
    while (!words.empty()) {
        const auto end = std::min(words.find(' '), words.size());
        std::string_view word = words.substr(0, end);
        words.remove_prefix(std::min(end + 1, words.size()));
        const bool unwanted = word.starts_with('!');
        if (unwanted) {
            word.remove_prefix(1);
        }
        if ((name.find(word) != std::string_view::npos) == unwanted) {
            return false;
        }
    }
    return true;
}

} // namespace

OpRole roleOf(trace::ActivityKind kind, std::string_view kernelName) {
    if (kind == trace::ActivityKind::Memcpy) {
        return Copy;
    }
    if (kind == trace::ActivityKind::Memset) {
        return Memset;
    }
    std::string name(kernelName);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const Rule& r) { return matches(r.words, name); });
    return rule == std::end(kRules) ? Other : rule->role;
}

std::string_view toString(OpRole role) {
    switch (role) {
    case Product:
        return "product";
    case Reduction:
        return "reduction";
    case Attention:
        return "attention";
    case Convolution:
        return "convolution";
    case Embedding:
        return "embedding";
    case Norm:
        return "norm";
    case Rotary:
        return "rotary";
    case CacheAppend:
        return "cache-append";
    case Activation:
        return "activation";
    case Residual:
        return "residual";
    case Mask:
        return "mask";
    case Sample:
        return "sample";
    case Layout:
        return "layout";
    case Elementwise:
        return "elementwise";
    case Copy:
        return "copy";
    case Memset:
        return "memset";
    case Other:
        return "other";
    }
    return "other";
}

bool isAnchor(OpRole role) {
    return role == Product || role == Attention || role == Convolution || role == Embedding ||
           role == Sample;
}

OpClass classOf(OpRole role) {
    switch (role) {
    case Product:
    case Reduction:
        return OpClass::Product;
    case Attention:
        return OpClass::Attention;
    case Convolution:
        return OpClass::Convolution;
    case Embedding:
        return OpClass::Embedding;
    case Layout:
    case Copy:
    case Memset:
        return OpClass::Copy;
    case Norm:
    case Rotary:
    case CacheAppend:
    case Activation:
    case Residual:
    case Mask:
    case Sample:
    case Elementwise:
    case Other:
        return OpClass::Elementwise;
    }
    return OpClass::Elementwise;
}

std::string_view toString(OpClass opClass) {
    switch (opClass) {
    case OpClass::Product:
        return "matrix product";
    case OpClass::Attention:
        return "attention";
    case OpClass::Elementwise:
        return "norm and elementwise";
    case OpClass::Convolution:
        return "convolution";
    case OpClass::Embedding:
        return "embedding";
    case OpClass::Copy:
        return "copy and layout";
    }
    return "norm and elementwise";
}

} // namespace kerf::workload

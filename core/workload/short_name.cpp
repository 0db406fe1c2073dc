// SPDX-License-Identifier: GPL-3.0-or-later
// Short readable kernel names for labels: "nvjet 64x8 splitK", "add + rms_norm", "xmma fprop
// 64x64x64".
#include "core/workload/op.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace kerf::workload {
namespace {

constexpr std::size_t kMaxLength = 40;

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string demangled(std::string_view name) {
    if (!name.starts_with("_Z")) {
        return std::string(name);
    }
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? std::string(text.get()) : std::string(name);
}

/// First stretch of `text` after `from` that reads like 64x128 or 64x128x32; empty if none.
std::string_view tileIn(std::string_view text, std::size_t from) {
    const auto isDigit = [&](std::size_t i) {
        return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    };
    for (std::size_t i = from; i < text.size(); ++i) {
        if (!isDigit(i) || (i > 0 && isDigit(i - 1))) {
            continue;
        }
        std::size_t end = i;
        bool crossed = false;
        while (isDigit(end) || (end < text.size() && text[end] == 'x' && isDigit(end + 1))) {
            crossed = crossed || text[end] == 'x';
            ++end;
        }
        if (crossed) {
            return text.substr(i, end - i);
        }
    }
    return {};
}

std::string withTile(std::string label, std::string_view name, std::size_t from = 0) {
    if (const auto tile = tileIn(name, from); !tile.empty()) {
        label.append(" ").append(tile);
    }
    if (contains(name, "splitK")) {
        label += " splitK";
    }
    return label;
}

std::string inductorName(std::string_view name) {
    switch (roleOf(trace::ActivityKind::Kernel, name)) {
    case OpRole::Sample:
        return contains(name, "argmax") ? "argmax" : "sample";
    case OpRole::CacheAppend:
        return contains(name, "mul") ? "rotary + cache append" : "cache append";
    case OpRole::Mask:
        return "attention inputs";
    case OpRole::Rotary:
        return contains(name, "norm") && !contains(name, "mul") ? "q/k norm" : "rotary";
    case OpRole::Norm: {
        const char* norm = contains(name, "rms_norm") ? "rms_norm" : "layer_norm";
        return contains(name, "_add") ? std::string("add + ") + norm : norm;
    }
    case OpRole::Activation:
        return contains(name, "silu")   ? "silu · mul"
               : contains(name, "gelu") ? "gelu"
               : contains(name, "sin")  ? "snake"
                                        : "activation";
    case OpRole::Residual:
        return "add";
    case OpRole::Layout:
        return "transpose";
    case OpRole::Product:
        return "triton product";
    default:
        break;
    }
    // "triton_poi_fused_a_b_12" → "a_b"
    const auto body = name.find("fused_");
    std::string_view rest = body == std::string_view::npos ? name : name.substr(body + 6);
    while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.back())) != 0) {
        rest.remove_suffix(1);
    }
    while (rest.ends_with('_')) {
        rest.remove_suffix(1);
    }
    while (rest.starts_with('_')) {
        rest.remove_prefix(1);
    }
    return rest.empty() ? std::string(name) : std::string(rest);
}

/// The functor inside a generic PyTorch kernel: "neg_kernel_cuda" → "neg", "FillFunctor" → "Fill".
std::string functorName(std::string_view name) {
    for (std::size_t i = 0; i < name.size();) {
        if (!isWord(name[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < name.size() && isWord(name[end])) {
            ++end;
        }
        const std::string_view word = name.substr(i, end - i);
        i = end;
        for (const std::string_view tail : {"_kernel_cuda", "_cuda_out", "_kernel_impl", "Functor",
                                            "_functor", "Ops", "_kernel"}) {
            const bool generic = contains(word, "elementwise") || contains(word, "reduce_kernel") ||
                                 contains(word, "gpu_kernel") || contains(word, "index_kernel");
            if (word.ends_with(tail) && word.size() > tail.size() && !generic &&
                word != "AUnaryFunctor" && word != "BUnaryFunctor" && word != "BinaryFunctor") {
                return std::string(word.substr(0, word.size() - tail.size()));
            }
        }
        if (word.starts_with("CUDAFunctor")) {
            return contains(word, "add") ? "add" : std::string(word.substr(11));
        }
    }
    return {};
}

/// "void a::b<c>::d<e>(f)" → "d".
std::string lastIdentifier(std::string_view name) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    std::string flat;
    int angles = 0;
    int parentheses = 0; // inside angles: "enable_if<((8)>(0))>" has a > that closes nothing
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (angles == 0 && name.substr(i).starts_with(kAnonymous)) {
            i += kAnonymous.size() - 1;
        } else if (angles == 0 && c == '(') {
            break;
        } else if (c == '(' || c == ')') {
            parentheses += c == '(' ? 1 : -1;
        } else if (parentheses == 0 && (c == '<' || c == '>')) {
            angles = std::max(0, angles + (c == '<' ? 1 : -1));
        } else if (angles == 0) {
            flat += c;
        }
    }
    while (!flat.empty() && !isWord(flat.back())) {
        flat.pop_back();
    }
    std::size_t begin = flat.size();
    while (begin > 0 && isWord(flat[begin - 1])) {
        --begin;
    }
    return flat.substr(begin);
}

/// Last plain name of a mangled one that the C++ library cannot read (AMD's bfloat16 is too new):
/// "_ZN5aiter12rmsnorm_kernIDF16bE…" → "rmsnorm_kern".
std::string lastMangledName(std::string_view name) {
    std::string_view last;
    std::size_t i = name.find_first_of("0123456789");
    while (i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0) {
        std::size_t length = 0;
        for (; i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0; ++i) {
            length = std::min<std::size_t>(length * 10 + static_cast<std::size_t>(name[i] - '0'),
                                           name.size());
        }
        last = name.substr(i, length);
        i += length;
    }
    return std::string(last);
}

std::string unlimitedName(std::string_view name) {
    if (name.starts_with("Memset") || name.starts_with("Memcpy")) {
        return std::string(name);
    }
    if (name.starts_with("triton_")) {
        return inductorName(name);
    }
    if (name.starts_with("nvjet")) {
        return withTile("nvjet", name);
    }
    if (name.starts_with("Cijk_")) {
        return withTile("Cijk", name, std::min(name.find("_MT"), name.size()));
    }
    if (name.starts_with("_Z")) {
        return lastMangledName(name);
    }
    if (contains(name, "splitKreduce")) {
        return "splitK reduce";
    }
    if (contains(name, "kernel_helper_stage") || contains(name, "init_device_workspace")) {
        return "convolution helper";
    }
    if (contains(name, "sdpa")) {
        return contains(name, "flash") ? "cudnn flash sdpa" : "cudnn sdpa";
    }
    if (contains(name, "nchwToNhwc")) {
        return "nchw → nhwc";
    }
    if (contains(name, "nhwcToNchw")) {
        return "nhwc → nchw";
    }
    for (const std::string_view direction : {"fprop", "dgrad", "wgrad"}) {
        if (contains(name, direction)) {
            const char* library = contains(name, "cutlass") ? "cutlass " : "xmma ";
            const auto tile = name.find(contains(name, "tilesize") ? "tilesize" : "optimized");
            return withTile(library + std::string(direction), name, std::min(tile, name.size()));
        }
    }
    if (contains(name, "cutlass::Kernel") || contains(name, "cutlass::device_kernel")) {
        const auto gemm = name.find("gemm");
        return withTile("cutlass gemm", name, gemm == std::string_view::npos ? 0 : gemm);
    }
    if (contains(name, "gemvx::kernel")) {
        return "gemvx";
    }
    if (contains(name, "elementwise_kernel") || contains(name, "reduce_kernel<")) {
        if (auto functor = functorName(name); !functor.empty()) {
            return functor;
        }
    }
    return lastIdentifier(name);
}

} // namespace

std::string shortName(std::string_view kernelName) {
    const std::string readable = demangled(kernelName);
    std::string name = unlimitedName(readable);
    if (name.empty()) {
        name = readable;
    }
    if (name.size() > kMaxLength) {
        std::size_t end = kMaxLength - 1;
        while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) {
            --end; // never inside a UTF-8 character
        }
        name = name.substr(0, end) + "…";
    }
    return name;
}

} // namespace kerf::workload

// SPDX-License-Identifier: GPL-3.0-or-later
// Roles and short names of kernels met in real traces.
#include "core/workload/op.h"

#include <QTest>

using namespace kerf;
using namespace kerf::workload;
using trace::ActivityKind;

Q_DECLARE_METATYPE(kerf::workload::OpRole)

class TestRoles : public QObject {
    Q_OBJECT

private slots:
    void kernelHasRole_data();
    void kernelHasRole();
    void copiesAndMemsetsGoByKind();
    void shortNameIsReadable_data();
    void shortNameIsReadable();
    void shortNameIsNeverEmptyOrLong_data();
    void shortNameIsNeverEmptyOrLong();
    void everyRoleHasNameAndClass();
};

void TestRoles::kernelHasRole_data() {
    QTest::addColumn<QString>("kernel");
    QTest::addColumn<OpRole>("role");
    const auto row = [](const char* kernel, OpRole role) {
        QTest::newRow(kernel) << kernel << role;
    };
    using enum OpRole;
    // cuBLAS, CUTLASS
    row("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", Product);
    row("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", Product);
    row("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>("
        "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::Params)",
        Product);
    row("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        Product);
    row("void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false, "
        "cublasGemvTensorStridedBatched<__nv_bfloat16 const>>(cublasGemmSmallNParams)",
        Product);
    row("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, "
        "__nv_bfloat16>(int)",
        Product);
    row("ampere_sgemm_128x64_nn", Product);
    row("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(int)", Reduction);
    row("void epilogue::impl::globalKernel<float, float>(int, cublasLtEpilogue_t)", Elementwise);
    // ROCm, vLLM, SGLang, TensorRT-LLM
    row("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN", Product);
    row("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", Product);
    row("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16", Product);
    row("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0EEEvPT0_", Norm);
    row("void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*)", Norm);
    row("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", Rotary);
    row("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(int)",
        CacheAppend);
    row("void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(int)", CacheAppend);
    row("void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, "
        "(vllm::Fp8KVCacheDataType)0>(int)",
        Attention);
    row("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
        Attention);
    row("kernel_unified_attention_2d", Attention);
    row("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16EEvPS3_i", Activation);
    row("void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16>(int)", Elementwise);
    // cuDNN
    row("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_"
        "kernel0_0",
        Attention);
    row("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, "
        "cutlass::bfloat16_t>>(int)",
        Attention);
    row("void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, float>(int)", Layout);
    row("sm80_xmma_dgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize64x64x64",
        Convolution);
    row("void "
        "cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_64x64_64x5>("
        "int)",
        Convolution);
    row("void dgrad_engine<__nv_bfloat16, 512, 6, 5, 3, 3, 3, false>(int)", Convolution);
    row("void "
        "xmma__5x_cudnn::implicit_gemm::strided_dgrad_indexed::kernel_helper_stage_0<int>(int)",
        Other);
    // Inductor
    row("triton_per_fused__fused_rms_norm_0", Norm);
    row("triton_red_fused__fused_rms_norm__unsafe_view_add_5", Norm);
    row("triton_per_fused__fused_rms_norm__unsafe_view_split_with_sizes_transpose_view_1", Rotary);
    row("triton_poi_fused__fused_rms_norm__unsafe_view_add_mul_split_split_with_sizes_sub_"
        "transpose_"
        "view_3",
        Rotary);
    row("triton_poi_fused__unsafe_view_index_copy_split_with_sizes_transpose_view_6", CacheAppend);
    row("triton_poi_fused__scaled_dot_product_cudnn_attention_scalar_tensor_where_7", Mask);
    row("triton_poi_fused__unsafe_view_mul_silu_split_9", Activation);
    row("triton_poi_fused_add_convolution_div_mul_pow_sin_tanh_23", Activation);
    row("triton_poi_fused__unsafe_view_add_10", Residual);
    row("triton_poi_fused_clone_transpose_8", Layout);
    row("triton_red_fused__unsafe_view_argmax_1", Sample);
    row("triton_tem_fused_mm_3", Product);
    row("triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0", Elementwise);
    // PyTorch
    row("void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, long>(int)",
        Embedding);
    row("void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)", Embedding);
    row("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16>(int)",
        Norm);
    row("void at::native::vectorized_elementwise_kernel<4, "
        "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>>(int)",
        Residual);
    row("void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<double>>(int)",
        Elementwise);
    row("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
        "at::native::ArgMaxOps<float>>>(int)",
        Sample);
    row("void at::native::(anonymous namespace)::CatArrayBatchedCopy<int, 4, 64>(int)", Layout);
    row("void my_own_kernel(int)", Other);
    row("", Other);
}

void TestRoles::kernelHasRole() {
    QFETCH(QString, kernel);
    QFETCH(OpRole, role);
    const OpRole actual = roleOf(ActivityKind::Kernel, kernel.toStdString());
    QCOMPARE(QString::fromUtf8(toString(actual).data()), QString::fromUtf8(toString(role).data()));
}

void TestRoles::copiesAndMemsetsGoByKind() {
    QVERIFY(roleOf(ActivityKind::Memcpy, "Memcpy DtoD (Device -> Device)") == OpRole::Copy);
    QVERIFY(roleOf(ActivityKind::Memset, "Memset (Device)") == OpRole::Memset);
}

void TestRoles::shortNameIsReadable_data() {
    QTest::addColumn<QString>("kernel");
    QTest::addColumn<QString>("shorter");
    const auto row = [](const char* kernel, const char* shorter) {
        QTest::newRow(shorter) << kernel << shorter;
    };
    row("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "nvjet 64x8 splitK");
    row("triton_per_fused__fused_rms_norm_0", "rms_norm");
    row("triton_red_fused__fused_rms_norm__unsafe_view_add_5", "add + rms_norm");
    row("triton_poi_fused__unsafe_view_mul_silu_split_9", "silu · mul");
    row("triton_poi_fused_convolution_0", "convolution");
    row("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN", "Cijk 64x32x256");
    row("void at::native::vectorized_elementwise_kernel<4, at::native::cos_kernel_cuda("
        "at::TensorIteratorBase&)::{lambda()#2}>(int)",
        "cos");
    row("void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<double>>(int)",
        "Fill");
    row("void cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_bf16_64x64_tn_align1>(int)",
        "cutlass gemm 64x64");
    row("sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_w",
        "xmma fprop 128x128x64");
    row("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
        "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)",
        "fused_add_rms_norm_kernel");
    row("void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(int)", "store_kvcache");
    row("_ZN5aiter7kern_nsIDF16bEEvPT0_", "kern_ns");
    row("_ZN3foo3barEi", "bar");
    row("Memset (Device)", "Memset (Device)");
}

void TestRoles::shortNameIsReadable() {
    QFETCH(QString, kernel);
    QFETCH(QString, shorter);
    QCOMPARE(QString::fromStdString(shortName(kernel.toStdString())), shorter);
}

void TestRoles::shortNameIsNeverEmptyOrLong_data() {
    QTest::addColumn<QString>("kernel");
    QTest::newRow("only punctuation") << "<<<>>>((";
    QTest::newRow("unbalanced") << "void a<b<c(";
    QTest::newRow("triton without body") << "triton_poi_fused_0";
    QTest::newRow("long") << QString(300, 'k');
    QTest::newRow("long, two-byte letters") << QString(300, QChar(0xe9));
    QTest::newRow("mangled length beyond the end") << "_ZN99999999999999999999999abc";
}

void TestRoles::shortNameIsNeverEmptyOrLong() {
    QFETCH(QString, kernel);
    const QString name = QString::fromStdString(shortName(kernel.toStdString()));
    QVERIFY(!name.isEmpty());
    QVERIFY2(name.size() <= 40 && !name.contains(QChar::ReplacementCharacter), qPrintable(name));
}

void TestRoles::everyRoleHasNameAndClass() {
    for (int i = 0; i <= static_cast<int>(OpRole::Other); ++i) {
        const auto role = static_cast<OpRole>(i);
        QVERIFY(!toString(role).empty());
        QVERIFY(!toString(classOf(role)).empty());
        QVERIFY(role == OpRole::Other || toString(role) != "other");
    }
}

QTEST_APPLESS_MAIN(TestRoles)
#include "tst_roles.moc"

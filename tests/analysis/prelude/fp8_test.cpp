#include "cuda_fp8.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

TEST(Fp8, EveryFiniteCodeComesBack) {
    for (const __nv_fp8_interpretation_t kind : {__NV_E4M3, __NV_E5M2})
        for (unsigned code = 0; code < 256; ++code) {
            const float value = ks_fp8_to_float(static_cast<unsigned char>(code), kind);
            if (std::isfinite(value)) {
                EXPECT_EQ(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, kind), code);
            }
        }
}

TEST(Fp8, KnowsItsLimits) {
    EXPECT_EQ(ks_fp8_to_float(0x7e, __NV_E4M3), 448.0f);
    EXPECT_EQ(ks_fp8_to_float(0x7b, __NV_E5M2), 57344.0f);
    EXPECT_EQ(float(__nv_fp8_e4m3(1e9f)), 448.0f);
    EXPECT_EQ(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2), 0x7c);
    EXPECT_EQ(float(__nv_fp8_e4m3(std::ldexp(1.0f, -9))), std::ldexp(1.0f, -9))
        << "the smallest subnormal";
}

TEST(Fp8, TiesGoToTheEvenCode) {
    EXPECT_EQ(float(__nv_fp8_e4m3(1.0625f)), 1.0f);
    EXPECT_EQ(float(__nv_fp8_e4m3(1.1875f)), 1.25f);
}

} // namespace

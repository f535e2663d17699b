#include "analysis/compile/nvrtc.h"
#include "analysis/compile/ptxas_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace kernelskill::analysis {
namespace {

using testing::HasSubstr;

TEST(FindNvrtc, SaysWhatToDoWhereThereIsNone) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "toolkit-without-nvrtc";
    std::filesystem::create_directories(folder / "lib64");
    const auto found = findNvrtc({folder, 13000});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::Missing);
    EXPECT_THAT(found.error().remedy, HasSubstr("cuda-nvrtc"));
}

TEST(LoadNvrtc, RefusesWhatIsNoSuchLibrary) {
    const auto path = std::filesystem::path(testing::TempDir()) / "libnvrtc.so";
    std::ofstream(path) << "not a library";
    for (const auto& library : {path, std::filesystem::path("/lib/x86_64-linux-gnu/libc.so.6")}) {
        const auto loaded = Nvrtc::load(library);
        ASSERT_FALSE(loaded) << library;
        EXPECT_EQ(loaded.error().kind, ErrorKind::Missing);
        EXPECT_FALSE(loaded.error().remedy.empty());
    }
}

class WithNvrtc : public testing::Test {
protected:
    void SetUp() override {
        const auto toolchain = findToolchain({});
        if (!toolchain || !toolchain->toolkit)
            GTEST_SKIP() << "no CUDA toolkit here";
        const auto library = findNvrtc(*toolchain->toolkit);
        if (!library)
            GTEST_SKIP() << library.error().describe();
        auto nvrtc = Nvrtc::load(*library);
        ASSERT_TRUE(nvrtc) << nvrtc.error().describe();
        nvrtc_ = std::make_unique<Nvrtc>(std::move(*nvrtc));
    }

    std::unique_ptr<Nvrtc> nvrtc_;
};

TEST_F(WithNvrtc, CompilesATemplateWithItsHeaders) {
    EXPECT_GE(nvrtc_->version(), 11010);
    EXPECT_TRUE(std::ranges::find(nvrtc_->architectures(), 80) != nvrtc_->architectures().end());
    DeviceCompileRequest request;
    request.file = "/somewhere/tile.cu";
    request.source = "#include \"/somewhere/size.h\"\n"
                     "template <int N> __global__ void tile(float* x) {\n"
                     "    __shared__ float s[N * lanes];\n"
                     "    s[threadIdx.x] = x[threadIdx.x];\n"
                     "    __syncthreads();\n"
                     "    x[threadIdx.x] = s[N - threadIdx.x];\n"
                     "}\n";
    request.headers = {{"/somewhere/size.h", "constexpr int lanes = 32;\n"}};
    request.options = {"--gpu-architecture=sm_80", "--ptxas-options=-v", "-default-device"};
    request.nameExpressions = {"tile<4>"};
    const auto outcome = nvrtc_->compile(request);
    ASSERT_TRUE(outcome) << outcome.error().describe();
    ASSERT_TRUE(outcome->succeeded) << outcome->log;
    ASSERT_EQ(outcome->loweredNames.size(), 1U);
    EXPECT_THAT(outcome->cubin, testing::StartsWith("\x7f"
                                                    "ELF"));
    EXPECT_THAT(outcome->ptx, testing::HasSubstr(".entry " + outcome->loweredNames[0]));
    EXPECT_EQ(outcome->ptx.find('\0'), std::string::npos);
    const auto functions = parsePtxasReport(outcome->log);
    ASSERT_EQ(functions.size(), 1U) << outcome->log;
    EXPECT_EQ(outcome->log.find('\0'), std::string::npos);
    EXPECT_EQ(functions[0].symbol, outcome->loweredNames[0]);
    EXPECT_EQ(functions[0].architecture, "sm_80");
    EXPECT_EQ(functions[0].staticSharedBytes, 512U);
    EXPECT_EQ(functions[0].barriers, 1U);
    EXPECT_GT(functions[0].registers.value_or(0), 0U);
}

TEST_F(WithNvrtc, TellsAProgramThatDoesNotCompileFromARefusedOption) {
    DeviceCompileRequest request;
    request.file = "/somewhere/wrong.cu";
    request.source = "\n__global__ void k(float* x) { x[0] = missing; }\n";
    request.options = {"--gpu-architecture=sm_80"};
    const auto outcome = nvrtc_->compile(request);
    ASSERT_TRUE(outcome) << outcome.error().describe();
    EXPECT_FALSE(outcome->succeeded);
    EXPECT_THAT(outcome->log, HasSubstr("/somewhere/wrong.cu(2): error: identifier \"missing\""));

    request.options = {"--gpu-architecture=sm_12"};
    const auto refused = nvrtc_->compile(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Failed);
    EXPECT_THAT(refused.error().what, HasSubstr("gpu-architecture"));
}

} // namespace
} // namespace kernelskill::analysis

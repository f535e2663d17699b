/// Which compiler's facts a profile on the emulator waits for.
#include "engine/static_facts/nvcc.h"
#include "tests/engine/workbench/workbench_fixture.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;
using ::testing::StartsWith;

class ProfilerTest : public kernelskill::testing::WorkbenchFixture {
protected:
    /// One program is both workers, as `kernelskill` is.
    void SetUp() override {
        auto toolchain = bench_.toolchain;
        if (const auto found = analysis::findToolchain({}))
            toolchain.toolkit = found->toolkit;
        if (!toolchain.toolkit || !findNvcc(*toolchain.toolkit))
            GTEST_SKIP() << "no CUDA toolkit with nvcc here";
        WorkbenchOptions both = options();
        both.executable = folder_.path() / "worker";
        std::ofstream(both.executable) << "#!/bin/sh\n"
                                       << "[ $1 = compile-worker ] && exec " << paths::compileWorker
                                       << " $1\nexec " << paths::testWorker << " $1\n";
        std::filesystem::permissions(both.executable, std::filesystem::perms::owner_all);
        withToolkit_ = std::make_unique<Workbench>(both, toolchain);
    }
    [[nodiscard]] std::string compilerOf(const ProgramSource& source, Profiler::Facts facts) const {
        const auto report =
            withToolkit_->profiler().profile({source, source.model->kernels[0]}, {}, {}, facts);
        EXPECT_TRUE(report) << report.error().describe();
        return report && report->facts && *report->facts ? (*report->facts)->compiler : "";
    }

    std::unique_ptr<Workbench> withToolkit_;
};

TEST_F(ProfilerTest, QuickFactsAreThoseOfNvrtcAlsoWhereNvccsAreKnown) {
    const ProgramSource source = program(sourceFile("examples/saxpy.cu"));
    EXPECT_THAT(compilerOf(source, Profiler::Facts::Awaited), StartsWith("nvcc"));
    EXPECT_THAT(compilerOf(source, Profiler::Facts::Quick), StartsWith("NVRTC"));
    EXPECT_THAT(compilerOf(source, Profiler::Facts::Awaited), StartsWith("nvcc"))
        << "what was known stays";
}

TEST_F(ProfilerTest, QuickFactsComeFromNvccWhereNvrtcCannotCompileTheText) {
    const ProgramSource source = program("#include <cstdio>\n"
                                         "#ifdef __CUDACC_RTC__\n"
                                         "#error not for NVRTC\n"
                                         "#endif\n" +
                                         sourceFile("examples/saxpy.cu"));
    EXPECT_THAT(compilerOf(source, Profiler::Facts::Quick), StartsWith("nvcc"));
}

} // namespace
} // namespace kernelskill::engine

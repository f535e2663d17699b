/// When the repairer must keep quiet, and how it behaves among several errors.
#include "engine/repair/compile_diagnoser.h"
#include "tests/engine/breakage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;
using kernelskill::testing::replaced;
using kernelskill::testing::sourceFile;

TEST(Repairer, OffersNothingForAFileWithoutErrors) {
    RepairBench bench;
    std::string text = sourceFile("examples/saxpy.cu");
    EXPECT_TRUE(bench.fixes(text).empty());
    Repair repair = bench.repaired(text);
    EXPECT_EQ(repair.text, text);
    EXPECT_TRUE(repair.edits.empty());
    EXPECT_EQ(repair.errorsBefore, 0u);
    EXPECT_FALSE(diagnoseFailure(bench.parsed(text)));
}

TEST(Repairer, OffersNothingForANameThatResemblesNone) {
    RepairBench bench;
    std::string text = replaced(sourceFile("examples/saxpy.cu"), "a * x[i]", "qwertyuiop(x[i])");
    EXPECT_TRUE(bench.fixes(text).empty());
    auto failure = diagnoseFailure(bench.parsed(text));
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->cause, "undeclared-identifier");
}

TEST(Repairer, OffersNothingForAnArgumentThatNothingInReachFits) {
    RepairBench bench;
    EXPECT_TRUE(bench.fixes(replaced(sourceFile("examples/saxpy.cu"), "(n, 2.0f, x, y)", "(2.0f)"))
                    .empty());
}

TEST(Repairer, OffersNoVariableThatResemblesNotTheParameterOfADeviceFunction) {
    RepairBench bench;
    EXPECT_TRUE(bench
                    .fixes("__device__ float most(float left, float right);\n"
                           "__global__ void k(float* y, int n) { y[n] = most(y[0]); }\n")
                    .empty());
}

TEST(Repairer, OffersNoOtherNameForOneOfOneLetter) {
    RepairBench bench;
    std::string text = replaced(sourceFile("examples/saxpy.cu"), "a * x[i]", "q * x[i]");
    EXPECT_TRUE(bench.fixes(text).empty());
}

TEST(Repairer, OffersNoOtherNameForAConstantThatIsNotDeclared) {
    RepairBench bench;
    std::string text =
        replaced(sourceFile("examples/transpose.cu"), "#define TILE", "#define SIDE");
    EXPECT_TRUE(bench.fixes(text).empty());
}

TEST(Repairer, OffersNothingForAWrongType) {
    RepairBench bench;
    EXPECT_TRUE(bench
                    .fixes(replaced(sourceFile("examples/saxpy.cu"), "(n, 2.0f, x, y)",
                                    "(n, 2.0f, x, \"y\")"))
                    .empty());
}

TEST(Repairer, LeavesTextThatIsNotCodeAlone) {
    RepairBench bench;
    std::string text = "\x89PNG\r\n\x1a\n this is no program (((( }}}} ''' \"";
    Repair repair = bench.repaired(text);
    EXPECT_LE(repair.errorsAfter, repair.errorsBefore);
}

TEST(Repairer, AFixIsOfferedOnlyWhereItsErrorIs) {
    RepairBench bench;
    std::string text = replaced(sourceFile("examples/saxpy.cu"), "threadIdx.x;", "threadIdx.x");
    auto model = bench.parsed(text);
    auto errors = compileErrors(model);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(proposeFixes(model, bench.command, bench.toolchain, errors[0].span, {}).size(), 1u);
    auto elsewhere = static_cast<std::uint32_t>(text.find("cudaFree"));
    EXPECT_TRUE(proposeFixes(model, bench.command, bench.toolchain,
                             analysis::Span{elsewhere, elsewhere + 4}, {})
                    .empty());
}

TEST(Repairer, TheSoleFixOfAnErrorIsMarked) {
    RepairBench bench;
    auto fixes =
        bench.fixes(replaced(sourceFile("examples/saxpy.cu"), "threadIdx.x;", "threadIdx.x"));
    ASSERT_EQ(fixes.size(), 1u);
    EXPECT_TRUE(fixes[0].isSole);
    EXPECT_EQ(fixes[0].title, "insert ';'");
    EXPECT_EQ(fixes[0].errorsAfter, 0u);
}

TEST(Repairer, AFixOfACascadeIsTheFixOfItsRoot) {
    RepairBench bench;
    std::string text = replaced(sourceFile("examples/saxpy.cu"), "float* y) {", "float* y)");
    auto model = bench.parsed(text);
    auto errors = compileErrors(model);
    ASSERT_GT(errors.size(), 1u);
    auto fixes = proposeFixes(model, bench.command, bench.toolchain, errors.back().span, {});
    ASSERT_FALSE(fixes.empty());
    EXPECT_EQ(fixes[0].errorsAfter, 0u);
    EXPECT_EQ(fixes[0].failure.cause, "missing-brace");
}

TEST(Repairer, SeveralMistakesAreRepairedOneAfterAnother) {
    RepairBench bench;
    std::string original = sourceFile("examples/reduce.cu");
    std::string broken = replaced(original, "partial[tid] = i", "partal[tid] = i");
    broken = replaced(broken, "    __syncthreads();\n    for", "    __syncthreads()\n    for");
    broken = replaced(broken, "cudaFree(out)", "cudaFre(out)");
    Repair repair = bench.repaired(broken);
    EXPECT_EQ(repair.errorsAfter, 0u);
    EXPECT_EQ(repair.applied.size(), 3u);
    EXPECT_EQ(repair.text, original);
    ASSERT_EQ(repair.edits.size(), 1u);
    EXPECT_EQ(repair.edits.begin()->second.size(), 3u) << "one small edit per mistake";
}

TEST(Repairer, AMistakeBeyondItsMeansDoesNotStopTheOthers) {
    RepairBench bench;
    std::string broken = replaced(sourceFile("examples/saxpy.cu"), "a * x[i]", "qwertyuiop(x[i])");
    broken = replaced(broken, "cudaFree(x)", "cudaFre(x)");
    Repair repair = bench.repaired(broken);
    EXPECT_EQ(repair.applied.size(), 1u);
    EXPECT_EQ(repair.errorsAfter, 1u);
}

TEST(Repairer, StopsWhenAsked) {
    RepairBench bench;
    auto model =
        bench.parsed(replaced(sourceFile("examples/saxpy.cu"), "threadIdx.x;", "threadIdx.x"));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_TRUE(proposeFixes(model, bench.command, bench.toolchain, std::nullopt, stop.get_token())
                    .empty());
}

/// Saxpy whose kernel calls a function of the host.
std::string withHostFunctionInKernel() {
    const std::string text = replaced(sourceFile("examples/saxpy.cu"), "__global__",
                                      "float twice(float v) { return 2 * v; }\n\n__global__");
    return replaced(text, "a * x[i]", "twice(a) * x[i]");
}

TEST(Repairer, AFunctionThatTheKernelCallsIsMarkedForTheDevice) {
    RepairBench bench;
    Repair repair = bench.repaired(withHostFunctionInKernel());
    EXPECT_EQ(repair.errorsAfter, 0u);
    ASSERT_FALSE(repair.applied.empty());
    EXPECT_EQ(repair.applied.front().failure.cause, "missing-device");
    EXPECT_NE(repair.text.find("\n__device__ float twice"), std::string::npos) << repair.text;
}

TEST(Repairer, AFunctionThatHostAndDeviceCallIsMarkedForBoth) {
    RepairBench bench;
    Repair repair =
        bench.repaired(replaced(withHostFunctionInKernel(), "n, 2.0f, x", "n, twice(1.0f), x"));
    EXPECT_EQ(repair.errorsAfter, 0u);
    EXPECT_NE(repair.text.find("__device__ float twice"), std::string::npos) << repair.text;
}

} // namespace
} // namespace kernelskill::engine

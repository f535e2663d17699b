#include "analysis/queries/host_statements.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

namespace kernelskill::analysis {
namespace {

struct Case {
    std::string name;
    std::string statement;
    bool isWait = false;
    bool isErrorCheck = false;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.statement;
    }
};

class HostStatements : public ::testing::TestWithParam<Case> {};

TEST_P(HostStatements, AreWaitsOrErrorChecks) {
    const std::string before = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
                               "void check(int, const char*);\nint choose(int);\n"
                               "void run(float* x, cudaStream_t stream) {\n    k<<<1, 32>>>(x);\n"
                               "    ";
    const FileModel file = testing::analyze(before + GetParam().statement + "\n}\n");
    ASSERT_EQ(file.hostFunctions.size(), 1u);
    const FunctionBody& body = file.hostFunctions[0].body;
    const auto stmt = std::ranges::find_if(
        body.stmts, [&](const Stmt& one) { return one.span.begin == before.size(); });
    ASSERT_NE(stmt, body.stmts.end());
    EXPECT_EQ(isWait(*file.source, *stmt), GetParam().isWait);
    EXPECT_EQ(isErrorCheck(*file.source, *stmt), GetParam().isErrorCheck);
}

INSTANTIATE_TEST_SUITE_P(
    All, HostStatements,
    ::testing::Values(Case{"Wait", "cudaDeviceSynchronize();", true, false},
                      Case{"WaitForAStream", "cudaStreamSynchronize(stream);", true, false},
                      Case{"CheckedWait", "check(cudaDeviceSynchronize(), __FILE__);", true, false},
                      Case{"CheckWithMore",
                           "check(cudaDeviceSynchronize(), choose(1) ? \"a\" : \"b\");", false,
                           false},
                      Case{"ErrorCheck", "check(cudaGetLastError(), \"k\");", false, true},
                      Case{"Launch", "k<<<2, 32>>>(x);", false, false}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::analysis

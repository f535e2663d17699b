// `kernelskill optimize -- ./program` judges edits of the host's code by the whole program.
#include "tests/lsp-server/commands/optimize_program_workspace.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

class OptimizeProgramHostEdits : public OptimizeProgramWorkspace {};

TEST_F(OptimizeProgramHostEdits, JudgesEditsOfTheHostsCodeByTheProgram) {
    workspace.write("columns.cu", fusibleProgram());
    const auto result = optimize({"--json", "--build", build()});
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_EQ(document.at("host_edits").size(), 1u) << result.output;
    const auto& fused = document.at("host_edits").at(0);
    EXPECT_EQ(fused.at("skill"), "kernel-fusion");
    EXPECT_EQ(fused.at("outcome"), "kept") << fused.dump();
    EXPECT_EQ(fused.at("why"), "");
    EXPECT_GT(fused.at("speedup"), 1.5) << "there is half of the threads";
    EXPECT_GT(document.at("kernel_time").at("speedup"), 1.5);
    EXPECT_THAT(document.at("diff").get<std::string>(),
                HasSubstr("-    addBias<<<(n + 127) / 128, 128>>>(dy, db, n);"));
    EXPECT_EQ(read(workspace.path("columns.cu")), fusibleProgram());
    expectNothingLeft();
}

TEST_F(OptimizeProgramHostEdits, TakesBackEditsOfTheHostsCodeThatTheProgramDoesNotPass) {
    workspace.write("columns.cu", fusibleProgram());
    const auto result =
        optimize({"--build", build(), "--check", "! grep -q scaleAddBias columns.cu"});
    EXPECT_THAT(result.output, HasSubstr("(kernel-fusion): the check ended with status 1"))
        << result.errors;
    EXPECT_THAT(result.output, HasSubstr("host  taken-back")) << result.errors;
}

} // namespace
} // namespace kernelskill::lsp::testing

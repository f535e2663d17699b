/// Writing of a generated model by the result of its check.
#include "engine/diagnosis/gpus.h"
#include "engine/graph/read_program.h"
#include "lsp-server/features/generated_model.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kernelskill::lsp {
namespace {

using engine::graph::ModelCheck;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GeneratedModelFolder : public ::testing::Test {
protected:
    Result<void> write(const ModelCheck& check) {
        const auto program = engine::graph::readProgram(KERNELSKILL_SOURCE_DIR
                                                        "/tests/engine/graph/programs/mlp.pt2");
        EXPECT_TRUE(program) << program.error().describe();
        auto plan = engine::graph::plannedModel(*program, "mlp", {});
        EXPECT_TRUE(plan) << plan.error().describe();
        return writeGenerated({*std::move(plan), check},
                              {.archive = "mlp.pt2", .folder = target_, .notSimplified = {}},
                              engine::builtinGpus()->front());
    }

    kernelskill::testing::TemporaryFolder folder_;
    const std::filesystem::path target_ = folder_.path() / "model";
};

TEST_F(GeneratedModelFolder, IsNotWrittenIfTheKernelsAreWrong) {
    ModelCheck check;
    check.outcome = ModelCheck::Outcome::Differs;
    check.inputs = {"x float32[5, 8]"};
    check.why = "the output y has 1 instead of 2 as element 3";
    const auto written = write(check);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::Failed);
    EXPECT_THAT(written.error().describe(),
                AllOf(HasSubstr("nothing was written"), HasSubstr("x float32[5, 8]"),
                      HasSubstr("1 instead of 2 as element 3"), HasSubstr("--no-check")));
    EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(GeneratedModelFolder, SaysInItsReportHowItWasChecked) {
    ModelCheck check;
    check.why = "LibTorch is not there";
    ASSERT_TRUE(write(check));
    std::ifstream stream(target_ / "report.html");
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(stream), {}),
                HasSubstr("not checked on the emulator: LibTorch is not there"));
}

} // namespace
} // namespace kernelskill::lsp

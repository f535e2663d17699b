/// Writing of a generated model by the result of its check.
#include "engine/diagnosis/gpus.h"
#include "engine/graph/read_program.h"
#include "lsp-server/features/generated_model.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace kernelskill::lsp {
namespace {

using engine::graph::ModelCheck;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GeneratedModelFolder : public ::testing::Test {
protected:
    Result<void> write(const ModelCheck& check, const std::string& name = "mlp",
                       const std::optional<engine::ModelMeasurement>& measurement = {}) {
        const auto program = engine::graph::readProgram(
            std::string(paths::sourceFolder) + "/tests/engine/graph/programs/" + name + ".pt2");
        EXPECT_TRUE(program) << program.error().describe();
        auto plan = engine::graph::plannedModel(*program, "mlp", {});
        EXPECT_TRUE(plan) << plan.error().describe();
        return writeGenerated({*std::move(plan), check, measurement},
                              {.archive = "mlp.pt2", .folder = target_, .notSimplified = {}},
                              engine::builtinGpus()->front());
    }

    [[nodiscard]] std::string report() const {
        std::ifstream stream(target_ / "report.html");
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    kernelskill::testing::TemporaryFolder folder_;
    const std::filesystem::path target_ = folder_.path() / "model";
};

TEST_F(GeneratedModelFolder, IsNotWrittenIfTheKernelsAreWrong) {
    ModelCheck check;
    check.outcome = ModelCheck::Outcome::Differs;
    check.shapes = {{"x float32[5, 8]"}};
    check.why = "the output y has 1 instead of 2 as element 3";
    const auto written = write(check);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::Failed);
    EXPECT_THAT(written.error().describe(),
                AllOf(HasSubstr("nothing was written"), HasSubstr("x float32[5, 8]"),
                      HasSubstr("1 instead of 2 as element 3"), HasSubstr("--no-check")));
    EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(GeneratedModelFolder, IsNotWrittenIfNothingThatWasMeasuredIsRight) {
    using engine::graph::MixVerdict;
    engine::ModelMeasurement measurement;
    measurement.gpu = "a GPU";
    measurement.accuracy.emplace().verdict = {MixVerdict::Outcome::Wrong, 0.5,
                                              "normal inputs, seed 1: output 0 is wrong", ""};
    const auto written = write({}, "mlp", measurement);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::Failed);
    EXPECT_THAT(written.error().describe(),
                AllOf(HasSubstr("nothing was written"), HasSubstr("normal inputs, seed 1")));
    EXPECT_FALSE(std::filesystem::exists(target_));
    measurement.accuracy->verdict.outcome = MixVerdict::Outcome::NotCompared;
    measurement.accuracy->verdict.why = "the time was up";
    ASSERT_TRUE(write({}, "mlp", measurement));
    EXPECT_THAT(report(), HasSubstr("not compared with LibTorch on a GPU (the time was up)"));
}

TEST_F(GeneratedModelFolder, SaysInItsReportHowItWasChecked) {
    ModelCheck check;
    check.why = "LibTorch is not there";
    ASSERT_TRUE(write(check));
    EXPECT_THAT(report(), AllOf(HasSubstr("not checked on the emulator: LibTorch is not there"),
                                Not(HasSubstr("Dynamic extents"))));
}

TEST_F(GeneratedModelFolder, SaysInItsReportWhatItsExtentsMayBe) {
    ModelCheck check;
    check.outcome = ModelCheck::Outcome::Agrees;
    check.kernels = 5;
    check.shapes = {{"x float32[7, 64]"}, {"x float32[2, 64]"}};
    check.why = "not with s77 = 37: no time";
    ASSERT_TRUE(write(check, "mlp-dynamic"));
    EXPECT_THAT(report(), AllOf(HasSubstr("Dynamic extents"), HasSubstr("extent 0 of x"),
                                HasSubstr("2 ... 4096"),
                                HasSubstr("with x float32[7, 64]; with x float32[2, 64]"),
                                HasSubstr("not with s77 = 37: no time")));
}

} // namespace
} // namespace kernelskill::lsp

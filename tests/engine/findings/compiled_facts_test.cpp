#include "engine/static_facts/nvcc.h"
#include "tests/engine/workbench/workbench_fixture.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::WorkbenchFixture;

/// Tests which compiler facts skills get, and from where.
class CompiledFacts : public WorkbenchFixture {
protected:
    void SetUp() override {
        if (const auto found = analysis::findToolchain({}))
            bench_.toolchain.toolkit = found->toolkit;
        if (!bench_.toolchain.toolkit || !findNvcc(*bench_.toolchain.toolkit))
            GTEST_SKIP() << "no CUDA toolkit with nvcc here";
        workbench_ = std::make_unique<Workbench>(options(), bench_.toolchain);
        std::ifstream stream(std::string(paths::sourceFolder) +
                             "/skills/live-range-reduction/before.cu");
        program_ = program({std::istreambuf_iterator<char>(stream), {}});
    }

    [[nodiscard]] const analysis::KernelModel& kernel() const {
        return program_.model->kernels.front();
    }
    [[nodiscard]] Plan plan(const Workbench& workbench) const {
        return workbench.advisor().plan({program_, kernel()}, kernel().span, memory());
    }
    /// The kernel of a file in the test's folder: that of the program lies in the folder for
    /// temporary files, which is other tests' as well.
    [[nodiscard]] ShortTermMemory memory() const {
        return {folder_.path(), folder_.path() / "subject.cu"};
    }
    /// Why the skill is not offered; empty where it is.
    [[nodiscard]] std::string refusal(const Plan& plan) const {
        const auto found = std::ranges::find(plan.ruledOut, skill, &RuledOut::skill);
        return found == plan.ruledOut.end() ? "" : found->why;
    }

    static constexpr std::string_view skill = "live-range-reduction";
    ProgramSource program_;
};

TEST_F(CompiledFacts, AreAskedForBySkillsThatNeedThem) {
    EXPECT_FALSE(workbench_->knowledge().compiled({program_, kernel()}));
    EXPECT_THAT(refusal(plan(*workbench_)), ::testing::StartsWith("needs-compiled-facts: "));
}

TEST_F(CompiledFacts, LetSkillsBeOfferedAndApplied) {
    const auto compiled =
        workbench_->profiler().compile({program_, kernel()}, Profiler::Compiler::Run, {});
    ASSERT_TRUE(compiled) << compiled.error().describe();
    const auto known = workbench_->knowledge().compiled({program_, kernel()});
    ASSERT_TRUE(known);
    EXPECT_EQ(known->blockThreads, 1024U);
    ASSERT_TRUE(known->occupancy);
    EXPECT_FALSE(workbench_->knowledge().cachedReport({program_, kernel()})); // nothing has run
    const Plan planned = plan(*workbench_);
    ASSERT_EQ(refusal(planned), "");
    const auto offered = std::ranges::find(planned.ranked, skill, [](const RankedSkill& ranked) {
        return std::string_view(ranked.offer.skillId);
    });
    ASSERT_NE(offered, planned.ranked.end());
    const auto edit =
        workbench_->advisor().apply({program_, kernel()}, offered->offer, memory(), {}, {});
    ASSERT_TRUE(edit) << edit.error().describe();
    EXPECT_TRUE(edit->acceptable()) << edit->verdict.summary;
}

TEST_F(CompiledFacts, AreFoundAgainByAnotherProcess) {
    const auto unknown =
        workbench_->profiler().compile({program_, kernel()}, Profiler::Compiler::OnlyCached, {});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::Missing);
    ASSERT_TRUE(workbench_->profiler().compile({program_, kernel()}, Profiler::Compiler::Run, {}));
    const Workbench other(options(), bench_.toolchain);
    ASSERT_TRUE(other.profiler().compile({program_, kernel()}, Profiler::Compiler::OnlyCached, {}));
    EXPECT_EQ(refusal(plan(other)), "");
}

TEST_F(CompiledFacts, ComeWithAProfile) {
    const auto report = workbench_->profiler().profile({program_, kernel()}, {}, {});
    ASSERT_TRUE(report) << report.error().describe();
    EXPECT_EQ(refusal(plan(*workbench_)), "");
}

} // namespace
} // namespace kernelskill::engine

/// The gallery: each file of examples/bottlenecks and examples/hazards is what its name says.
#include "engine/diagnosis/rule_table.h"
#include "engine/static_facts/nvcc.h"
#include "tests/engine/workbench/workbench_fixture.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;

/// Names of the gallery's files in `folder`, without their ending.
std::vector<std::string> galleryOf(const char* folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(paths::sourceFolder) / "examples" / folder))
        names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::string testName(const ::testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

/// Kinds that only the GPU's compiler can tell.
bool needsCompiler(std::string_view bottleneck) {
    return bottleneck == "register-spill";
}

class BottleneckGallery : public kernelskill::testing::WorkbenchFixture,
                          public ::testing::WithParamInterface<std::string> {};

TEST_P(BottleneckGallery, IsDiagnosedByCountsAsItsNameSays) {
    const ProgramSource source = program(sourceFile("examples/bottlenecks/" + GetParam() + ".cu"));
    ASSERT_EQ(source.model->kernels.size(), 1u);
    Workbench* workbench = workbench_.get();
    std::unique_ptr<Workbench> withToolkit;
    if (needsCompiler(GetParam())) {
        auto toolchain = bench_.toolchain;
        const auto found = analysis::findToolchain({});
        if (found)
            toolchain.toolkit = found->toolkit;
        if (!toolchain.toolkit || !findNvcc(*toolchain.toolkit))
            GTEST_SKIP() << "no CUDA toolkit with nvcc here, which says what is spilled";
        withToolkit = std::make_unique<Workbench>(options(), toolchain);
        workbench = withToolkit.get();
    }
    const auto report = workbench->profiler().profile({source, source.model->kernels[0]}, {}, {});
    ASSERT_TRUE(report) << report.error().describe();
    EXPECT_EQ(spelling(report->bottleneck->kind), GetParam());
    EXPECT_TRUE(report->profile->hazards.empty());
    // The text alone must not suffice, in spite of the profile.
    const auto& rules = builtinRules()->rules;
    const auto rule = std::ranges::find(rules, report->bottleneck->rule, &Rule::id);
    ASSERT_NE(rule, rules.end()) << report->bottleneck->rule;
    EXPECT_GE(rule->basis, SignalBasis::Compiler) << rule->id;
}

TEST(BottleneckGalleryFiles, AreOneForEachKind) {
    std::vector<std::string> kinds;
    for (int kind = 0; kind <= static_cast<int>(BottleneckKind::Balanced); ++kind)
        kinds.emplace_back(spelling(static_cast<BottleneckKind>(kind)));
    EXPECT_THAT(galleryOf("bottlenecks"), ::testing::UnorderedElementsAreArray(kinds));
}

class GpuOfTheGallery : public kernelskill::testing::WorkbenchFixture {};

TEST_F(GpuOfTheGallery, DecidesWhatIsBalanced) {
    const ProgramSource source = program(sourceFile("examples/bottlenecks/balanced.cu"));
    auto forL4 = options();
    forL4.gpu = "L4"; // 101 operations for a byte, where an H200 does 12.
    const auto report = Workbench(forL4, bench_.toolchain)
                            .profiler()
                            .profile({source, source.model->kernels[0]}, {}, {});
    ASSERT_TRUE(report) << report.error().describe();
    EXPECT_EQ(spelling(report->bottleneck->kind), "memory-bandwidth");
    ASSERT_FALSE(report->bottleneck->evidence.empty());
    EXPECT_THAT(report->bottleneck->evidence[0].text, ::testing::HasSubstr("an L4's balance"));
}

INSTANTIATE_TEST_SUITE_P(Examples, BottleneckGallery, ::testing::ValuesIn(galleryOf("bottlenecks")),
                         testName);

class HazardGallery : public kernelskill::testing::WorkbenchFixture,
                      public ::testing::WithParamInterface<std::string> {};

TEST_P(HazardGallery, ShowsItsHazardInTheWrongKernelAndNoneInTheRightOne) {
    const ProgramSource source = program(sourceFile("examples/hazards/" + GetParam() + ".cu"));
    ASSERT_EQ(source.model->kernels.size(), 2u);
    for (const analysis::KernelModel& kernel : source.model->kernels) {
        const auto report = workbench_->profiler().profile({source, kernel}, {}, {});
        ASSERT_TRUE(report) << report.error().describe();
        const auto& hazards = report->profile->hazards;
        if (kernel.name.ends_with("Right")) {
            EXPECT_TRUE(hazards.empty()) << hazards.front().message;
            continue;
        }
        ASSERT_FALSE(hazards.empty()) << kernel.name;
        for (const Hazard& hazard : hazards) {
            EXPECT_EQ(spelling(hazard.kind), GetParam()) << hazard.message;
            EXPECT_TRUE(hazard.certain) << hazard.message;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Examples, HazardGallery, ::testing::ValuesIn(galleryOf("hazards")),
                         testName);

} // namespace
} // namespace kernelskill::engine

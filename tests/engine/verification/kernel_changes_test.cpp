#include "engine/verification/kernel_changes.h"
#include "tests/engine/breakage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace kernelskill::engine {
namespace {

const std::string original = "#define SCALE 2.0f\n"
                             "__device__ float twice(float x) { return x * SCALE; }\n"
                             "__global__ void first(float* a, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) a[i] = twice(a[i]);\n"
                             "}\n"
                             "__global__ void second(float* b) { b[threadIdx.x] = 1.0f; }\n"
                             "void launch(float* a, float* b) {\n"
                             "    first<<<4, 64>>>(a, 256);\n"
                             "    second<<<1, 32>>>(b);\n"
                             "}\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

class KernelChanges : public ::testing::Test {
protected:
    [[nodiscard]] ProgramSource program(const std::string& text) const {
        auto model = std::make_shared<const analysis::FileModel>(bench_.parsed(text));
        return {model->file, text, {}, bench_.command, model};
    }
    [[nodiscard]] ProgramChange changeTo(const std::string& text,
                                         const std::string& before = original) const {
        const ProgramSource after = program(text);
        ProgramSource old = after;
        old.text = before;
        old.model = nullptr;
        auto change = compareVersions(std::move(old), after, bench_.toolchain);
        EXPECT_TRUE(change) << change.error().describe();
        return change ? std::move(*change) : ProgramChange{};
    }
    /// The one kernel that differs.
    [[nodiscard]] KernelChange oneChange(const std::string& text) const {
        const ProgramChange change = changeTo(text);
        EXPECT_EQ(change.kernels.size(), 1U);
        return change.kernels.empty() ? KernelChange{} : change.kernels.front();
    }

    kernelskill::testing::RepairBench bench_;
};

TEST_F(KernelChanges, CommentsAndWhiteSpaceAreNoChange) {
    const ProgramChange change =
        changeTo(replaced("// new\n" + original, "if (i < n) a", "if (i < n) /* in */\n        a"));
    EXPECT_TRUE(change.kernels.empty());
    EXPECT_EQ(change.unchanged, (std::vector<std::string>{"first", "second"}));
}

TEST_F(KernelChanges, AKernelsOwnTextIsFound) {
    const KernelChange change = oneChange(replaced(original, "= 1.0f", "= 2.0f"));
    EXPECT_EQ(change.name, "second");
    EXPECT_EQ(change.kind, KernelChangeKind::Changed);
    EXPECT_TRUE(change.isTextChanged);
    EXPECT_FALSE(change.isUsedCodeChanged || change.isSignatureChanged || change.isLaunchChanged);
}

TEST_F(KernelChanges, CodeThatAKernelUsesCountsAtAnyRemove) {
    for (const auto& [what, by] : {std::pair<std::string, std::string>{"x * SCALE", "x + SCALE"},
                                   {"SCALE 2.0f", "SCALE 3.0f"}}) {
        const KernelChange change = oneChange(replaced(original, what, by));
        EXPECT_EQ(change.name, "first") << by;
        EXPECT_TRUE(change.isUsedCodeChanged) << by;
        EXPECT_FALSE(change.isTextChanged) << by;
    }
}

TEST_F(KernelChanges, LaunchesAndParametersCount) {
    const KernelChange launch = oneChange(replaced(original, "<<<4, 64>>>", "<<<2, 128>>>"));
    EXPECT_EQ(launch.name, "first");
    EXPECT_TRUE(launch.isLaunchChanged);
    EXPECT_FALSE(launch.isTextChanged);
    const KernelChange signature =
        oneChange(replaced(original, "float* b)", "float* __restrict__ b)"));
    EXPECT_TRUE(signature.isSignatureChanged);
    EXPECT_TRUE(signature.isTextChanged);
}

TEST_F(KernelChanges, NewAndLostKernelsAreNamed) {
    const std::string with = original + "__global__ void third(int* c, int k) { c[k] = 1; }\n";
    const ProgramChange added = changeTo(with);
    ASSERT_EQ(added.kernels.size(), 1U);
    EXPECT_EQ(added.kernels[0].name, "third");
    EXPECT_EQ(added.kernels[0].kind, KernelChangeKind::Added);
    EXPECT_FALSE(added.kernels[0].isToBeJudged());
    const ProgramChange removed = changeTo(original, with);
    ASSERT_EQ(removed.kernels.size(), 1U);
    EXPECT_EQ(removed.kernels[0].name, "third");
    EXPECT_EQ(removed.kernels[0].kind, KernelChangeKind::Removed);
}

TEST_F(KernelChanges, ANewNameAloneIsARename) {
    const ProgramChange change = changeTo(replaced(original, "second", "other"));
    ASSERT_EQ(change.kernels.size(), 1U);
    EXPECT_EQ(change.kernels[0].kind, KernelChangeKind::Renamed);
    EXPECT_EQ(change.kernels[0].name, "other");
    EXPECT_EQ(change.kernels[0].oldName, "second");
    EXPECT_FALSE(change.kernels[0].isToBeJudged());
    EXPECT_NE(analysis::kernelNamed(*change.before.model, "other"), nullptr)
        << "the old version has the new name, so that both can be compared";
}

TEST_F(KernelChanges, ARenamedKernelMayDifferAsWell) {
    const ProgramChange change =
        changeTo(replaced(replaced(original, "second", "other"), "= 1.0f", "= 2.0f"));
    ASSERT_EQ(change.kernels.size(), 1U);
    EXPECT_EQ(change.kernels[0].kind, KernelChangeKind::Renamed);
    EXPECT_TRUE(change.kernels[0].isTextChanged);
}

TEST_F(KernelChanges, ANameThatMeantSomethingElseIsNoRename) {
    const std::string before =
        replaced(original, "void launch(float* a", "void launch(int other, float* a");
    const ProgramChange change = changeTo(replaced(original, "second", "other"), before);
    EXPECT_TRUE(std::ranges::any_of(change.kernels, [](const KernelChange& each) {
        return each.kind == KernelChangeKind::Added && each.name == "other";
    }));
}

TEST_F(KernelChanges, PinsFollowARename) {
    const std::string pin = "// kernelskill: launch second<<<1, 64>>>(b=zero[64])\n";
    const ProgramChange change =
        changeTo(replaced(original + pin, "second", "other"), original + pin);
    ASSERT_EQ(change.kernels.size(), 1U);
    EXPECT_FALSE(change.kernels[0].isToBeJudged());
    EXPECT_NE(change.before.text.find("launch other<<<1, 64>>>"), std::string::npos);
}

} // namespace
} // namespace kernelskill::engine

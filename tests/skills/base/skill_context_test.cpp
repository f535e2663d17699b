#include "analysis/queries/shared_analysis.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

TEST(SharedAnalysis, IsMadeOnceForAContextAndItsCopies) {
    const Subject subject = parseSubject("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n"
                                         "void run(float* x) { k<<<1, 32>>>(x); }\n");
    const SkillContext context = subject.context();
    const SkillContext elsewhere = context.at({3, 4});
    EXPECT_TRUE(elsewhere.cursor().touches({3, 4}));
    EXPECT_FALSE(elsewhere.cursor().touches({5, 6}));
    EXPECT_EQ(&context.code(), &context.shared().code());
    EXPECT_EQ(&context.shared().code(), &elsewhere.shared().code());
    EXPECT_EQ(&context.shared().host(0), &elsewhere.shared().host(0));
    EXPECT_EQ(context.shared().tokens().data(), elsewhere.shared().tokens().data());
    EXPECT_EQ(&context.shared().code().body(), &subject.file.kernels.at(0).body);
    EXPECT_EQ(&context.shared().host(0).body(), &subject.file.hostFunctions.at(0).body);
    EXPECT_EQ(context.shared().tokens().front().text, "__global__");
}

/// The times that a value is made for the contexts, each asked twice.
int timesMade(const std::vector<SkillContext>& contexts, const Skill* skill) {
    int made = 0;
    for (const SkillContext& context : contexts)
        for (int time = 0; time < 2; ++time)
            static_cast<void>(context.held<int>(skill, [&] { return ++made; }));
    return made;
}

TEST(HeldValues, AreMadeOnceForAPlaceAndWhatTheCompilerSaid) {
    Subject subject = parseSubject("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n");
    const SkillContext context = subject.context();
    const Skill& skill = skillNamed("loop-unrolling");
    EXPECT_EQ(timesMade({context, context.at(subject.range)}, &skill), 1);
    EXPECT_EQ(timesMade({context, context.at({3, 4})}, &skillNamed("launch-tuning")), 2);
    EXPECT_EQ(timesMade({context, context.at({3, 4})}, nullptr), 1);
    subject.compiled = CompiledKernel{};
    SkillContext compiled = context;
    compiled.compiled = &*subject.compiled;
    const Skill& other = skillNamed("launch-bounds");
    EXPECT_EQ(timesMade({context, compiled}, &other), 2);
    EXPECT_EQ(timesMade({subject.context()}, &other), 1) << "another context holds its own";
}

TEST(HeldValues, CountTheQuestionsAboutTheCursorThatTheyWereMadeBy) {
    const Subject subject = parseSubject("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n");
    const Skill& skill = skillNamed("loop-unrolling");
    const SkillContext context = subject.context().at({20, 20});
    const auto value = [&](const SkillContext& asking) {
        return asking.held<bool>(&skill, [&] { return asking.cursor().touches({18, 22}); });
    };
    EXPECT_TRUE(context.cursor().touches({0, 40}));
    EXPECT_TRUE(value(context));
    EXPECT_FALSE(context.cursor().alike().contains({23, 23}));
    EXPECT_FALSE(context.cursor().alike().contains({41, 41})) << "asked before";
    const SkillContext later = context.at({20, 20});
    EXPECT_TRUE(later.cursor().alike().contains({23, 23}));
    EXPECT_TRUE(value(later));
    EXPECT_FALSE(later.cursor().alike().contains({23, 23})) << "a held value asks nothing anew";
}

TEST(SkillContext, OfADeviceFunctionHasTheSameCursor) {
    const Subject subject = parseSubject("__device__ float f(float x) { return x; }\n"
                                         "__global__ void k(float* x) { x[0] = f(x[0]); }\n");
    const SkillContext context = subject.context().at({50, 50});
    const SkillContext inside = context.in(subject.file.deviceFunctions.at(0));
    EXPECT_EQ(inside.kernel.name, "f");
    EXPECT_TRUE(inside.cursor().touches({50, 52}));
    EXPECT_FALSE(context.cursor().alike().contains({53, 53}));
}

} // namespace
} // namespace kernelskill::skills

#include "analysis/queries/shared_analysis.h"
#include "skills/base/held_values.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

TEST(SharedAnalysis, IsMadeOnceForAContextAndItsCopies) {
    const Subject subject = parseSubject("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n"
                                         "void run(float* x) { k<<<1, 32>>>(x); }\n");
    const SkillContext context = subject.context();
    const SkillContext elsewhere = context.at({3, 4});
    EXPECT_EQ(elsewhere.range, (analysis::Span{3, 4}));
    EXPECT_EQ(&context.code(), &context.shared().code());
    EXPECT_EQ(&context.shared().code(), &elsewhere.shared().code());
    EXPECT_EQ(&context.shared().host(0), &elsewhere.shared().host(0));
    EXPECT_EQ(context.shared().tokens().data(), elsewhere.shared().tokens().data());
    EXPECT_EQ(&context.shared().code().body(), &subject.file.kernels.at(0).body);
    EXPECT_EQ(&context.shared().host(0).body(), &subject.file.hostFunctions.at(0).body);
    EXPECT_EQ(context.shared().tokens().front().text, "__global__");
}

/// The times that a value is made for the contexts, each asked twice.
int timesMade(const std::vector<SkillContext>& contexts, const void* skill) {
    int made = 0;
    for (const SkillContext& context : contexts)
        for (int time = 0; time < 2; ++time)
            static_cast<void>(context.held().value<int>({skill, context.range, context.compiled},
                                                        [&] { return ++made; }));
    return made;
}

TEST(HeldValues, AreMadeOnceForAPlaceAndWhatTheCompilerSaid) {
    Subject subject = parseSubject("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n");
    const SkillContext context = subject.context();
    EXPECT_EQ(timesMade({context, context.at(context.range)}, nullptr), 1);
    EXPECT_EQ(timesMade({context, context.at({3, 4})}, &subject), 2);
    subject.compiled = CompiledKernel{};
    SkillContext compiled = context;
    compiled.compiled = &*subject.compiled;
    EXPECT_EQ(timesMade({context, compiled}, &context), 2);
    EXPECT_EQ(timesMade({subject.context()}, &context), 1) << "another context holds its own";
}

} // namespace
} // namespace kernelskill::skills

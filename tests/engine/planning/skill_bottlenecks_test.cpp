#include "engine/diagnosis/bottleneck.h"
#include "skills/skill_document.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

TEST(SkillBottlenecks, AreThoseThatADiagnosisKnows) {
    const auto names = skills::bottleneckNames();
    const auto last = static_cast<std::size_t>(BottleneckKind::Balanced);
    EXPECT_EQ(names.size(), last + 1);
    for (std::size_t kind = 0; kind <= last; ++kind) {
        const auto spelled = spelling(static_cast<BottleneckKind>(kind));
        EXPECT_NE(std::ranges::find(names, spelled), names.end()) << spelled;
    }
}

} // namespace
} // namespace kernelskill::engine

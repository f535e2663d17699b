#include "lsp-server/report/ruled_out_text.h"

#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

using engine::RuledOut;

std::string shown(const std::vector<RuledOut>& ruledOut, std::size_t offered) {
    std::string text;
    for (const RuledOutGroup& group : groupByReason(ruledOut, offered))
        text += group.skills + ": " + group.why + "\n";
    return text;
}

TEST(RuledOutText, SaysEachReasonOnceWhereItCameFirst) {
    EXPECT_EQ(shown({{"a", "no-loop"}, {"b", "no-atomic"}, {"c", "no-loop"}}, 0),
              "a, c: no-loop\nb: no-atomic\n");
}

TEST(RuledOutText, CountsTheSkillsWhereOneReasonHoldsForAll) {
    EXPECT_EQ(shown({{"a", "does-not-compile"}, {"b", "does-not-compile"}}, 0),
              "all 2 skills: does-not-compile\n");
    EXPECT_EQ(shown({{"a", "no-loop"}, {"b", "no-loop"}}, 1), "a, b: no-loop\n");
    EXPECT_EQ(shown({{"a", "no-loop"}}, 0), "a: no-loop\n");
    EXPECT_EQ(shown({}, 3), "");
}

} // namespace
} // namespace kernelskill::lsp

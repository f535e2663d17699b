#include "lsp-server/report/history_text.h"

#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

engine::MemoryEntry verdict(std::uint64_t on, std::uint64_t made, std::string skill,
                            std::string status) {
    engine::MemoryEntry entry;
    entry.kind = engine::EntryKind::Verdict;
    entry.kernelHash = on;
    entry.resultHash = made;
    entry.skill = std::move(skill);
    entry.status = std::move(status);
    return entry;
}

TEST(HistoryText, NestsWhatWasTriedOnWhatAnEditMade) {
    auto kept = verdict(1, 2, "vectorized-access", "faster");
    kept.speedup = 1.25;
    kept.isKept = true;
    auto dropped = verdict(2, 3, "loop-unrolling", "inconclusive");
    dropped.isKept = false;
    dropped.diagnosis.emplace();
    dropped.diagnosis->sentence = "no counter changed";
    EXPECT_EQ(describeHistory({kept, dropped}, 1),
              "- `vectorized-access`: faster, 1.25 times as fast, kept\n"
              "  - `loop-unrolling`: inconclusive, dropped: no counter changed\n");
    EXPECT_EQ(describeHistory({kept, dropped}, 2),
              "- made by `vectorized-access`: faster, 1.25 times as fast, kept\n"
              "- `loop-unrolling`: inconclusive, dropped: no counter changed\n");
}

TEST(HistoryText, IsEmptyForATextThatNobodyTouched) {
    auto plan = verdict(1, 0, "loop-unrolling", "");
    plan.kind = engine::EntryKind::Plan;
    EXPECT_EQ(describeHistory({plan, verdict(9, 0, "loop-unrolling", "slower")}, 1), "");
}

TEST(HistoryText, TakesTheNewestVerdictAndEndsInACircle) {
    EXPECT_EQ(describeHistory({verdict(1, 2, "a", "slower"), verdict(1, 2, "a", "faster"),
                               verdict(2, 1, "b", "slower")},
                              1),
              "- made by `b`: slower\n- `a`: faster\n  - `b`: slower\n");
}

TEST(HistoryText, LeavesTheRestOfALongListToTheCommand) {
    std::vector<engine::MemoryEntry> many;
    for (int i = 0; i < 20; ++i)
        many.push_back(verdict(1, 0, "skill-" + std::to_string(i), "slower"));
    const std::string text = describeHistory(many, 1);
    EXPECT_NE(text.find("skill-11"), std::string::npos);
    EXPECT_EQ(text.find("skill-12"), std::string::npos);
    EXPECT_NE(text.find("and 8 more"), std::string::npos);
}

} // namespace
} // namespace kernelskill::lsp

#include "skills/base/cursor.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace kernelskill::skills {
namespace {

using analysis::Span;

/// Every cursor and selection of a text of `size` bytes.
std::vector<Span> cursorsWithin(std::uint32_t size) {
    std::vector<Span> cursors;
    for (std::uint32_t begin = 0; begin <= size; ++begin)
        for (std::uint32_t end = begin; end <= size; ++end)
            cursors.push_back({begin, end});
    return cursors;
}

std::vector<bool> answers(const Cursor& cursor, Span place) {
    return {cursor.touches(place), cursor.holds(place), cursor.beginsIn(place),
            cursor.beginsBefore(place.begin), cursor.endsBefore(place.end)};
}

TEST(Cursor, AnswersAsItsSpanLies) {
    for (const Span span : cursorsWithin(6))
        for (const Span place : cursorsWithin(6)) {
            const Cursor cursor(span);
            EXPECT_EQ(cursor.touches(place), span.touches(place));
            EXPECT_EQ(cursor.holds(place), span.contains(place));
            EXPECT_EQ(cursor.beginsIn(place), place.contains(span.begin));
            EXPECT_EQ(cursor.beginsBefore(place.begin), span.begin < place.begin);
            EXPECT_EQ(cursor.endsBefore(place.end), span.end < place.end);
        }
}

TEST(Cursor, IsAlikeToNoneThatAQuestionTellsFromIt) {
    const auto cursors = cursorsWithin(7);
    for (const Span span : cursors)
        for (const Span first : cursors) {
            const Span second{first.begin / 2, first.end};
            const Cursor asked(span);
            const auto found = std::pair(answers(asked, first), answers(asked, second));
            EXPECT_TRUE(asked.alike().contains(span));
            for (const Span other : cursors) {
                if (asked.alike().contains(other)) {
                    EXPECT_EQ(found, std::pair(answers(Cursor(other), first),
                                               answers(Cursor(other), second)));
                }
            }
        }
}

TEST(Cursor, IsAlikeToAllThatTheOneQuestionDoesNotTell) {
    const Cursor unasked({5, 5});
    EXPECT_TRUE(unasked.alike().contains({0, 0}));
    const Cursor inside({5, 5});
    EXPECT_TRUE(inside.touches({2, 8}));
    EXPECT_TRUE(inside.alike().contains({2, 2}));
    EXPECT_TRUE(inside.alike().contains({0, 8}));
    EXPECT_FALSE(inside.alike().contains({1, 1}));
    EXPECT_FALSE(inside.alike().contains({9, 9}));
    const Cursor behind({9, 9});
    EXPECT_FALSE(behind.touches({2, 8}));
    EXPECT_TRUE(behind.alike().contains({100, 200}));
    EXPECT_FALSE(behind.alike().contains({8, 8}));
}

TEST(Cursor, CountsTheQuestionsThatLedToAValue) {
    const Cursor cursor({5, 5});
    std::ignore = cursor.touches({2, 8});
    const AlikeCursors first = cursor.takeAlike();
    EXPECT_FALSE(first.contains({9, 9}));
    EXPECT_TRUE(cursor.alike().contains({9, 9}));
    cursor.noteAlike(first);
    EXPECT_FALSE(cursor.alike().contains({9, 9}));
    EXPECT_TRUE(cursor.alike().contains({2, 2}));
}

} // namespace
} // namespace kernelskill::skills

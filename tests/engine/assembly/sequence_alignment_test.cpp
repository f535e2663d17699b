#include "engine/assembly/sequence_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kernelskill::engine {
namespace {

using Sequence = std::vector<std::uint32_t>;

/// Computes it by the table of all lengths.
std::size_t longestCommon(const Sequence& before, const Sequence& after) {
    std::vector<std::vector<std::size_t>> table(before.size() + 1,
                                                std::vector<std::size_t>(after.size() + 1));
    for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t j = 0; j < after.size(); ++j)
            table[i + 1][j + 1] = before[i] == after[j]
                                      ? table[i][j] + 1
                                      : std::max(table[i][j + 1], table[i + 1][j]);
    }
    return table[before.size()][after.size()];
}

TEST(SequenceAlignment, FindsALongestCommonSubsequence) {
    std::mt19937 random(20);
    for (int round = 0; round < 400; ++round) {
        const auto letters = 1 + random() % 6;
        const auto make = [&] {
            Sequence sequence(random() % 24);
            std::ranges::generate(sequence,
                                  [&] { return static_cast<std::uint32_t>(random() % letters); });
            return sequence;
        };
        const auto before = make();
        const auto after = make();
        const auto pairs = commonElements(before, after);
        EXPECT_EQ(pairs.size(), longestCommon(before, after));
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            ASSERT_LT(pairs[i].first, before.size());
            ASSERT_LT(pairs[i].second, after.size());
            EXPECT_EQ(before[pairs[i].first], after[pairs[i].second]);
            if (i > 0) {
                EXPECT_LT(pairs[i - 1].first, pairs[i].first);
                EXPECT_LT(pairs[i - 1].second, pairs[i].second);
            }
        }
    }
}

TEST(SequenceAlignment, GivesUpOnWhatIsTooLongButForItsEnds) {
    Sequence before(40'000, 1);
    Sequence after(40'000, 2);
    before.front() = after.front() = 7;
    before.back() = after.back() = 8;
    EXPECT_EQ(commonElements(before, after),
              (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {39'999, 39'999}}));
}

} // namespace
} // namespace kernelskill::engine

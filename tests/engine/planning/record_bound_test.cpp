#include "engine/planning/record_bound.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kernelskill::engine {
namespace {

SkillRecord judged(int times, double worth) {
    SkillRecord record;
    record.skill = "a";
    record.kernels = record.measured = times;
    record.worth = worth;
    return record;
}

TEST(RecordBound, IsOneWhereNothingIsKnown) {
    const RecordBound bound = boundOf(judged(0, 0), {});
    EXPECT_DOUBLE_EQ(bound.bound, 1);
    EXPECT_EQ(describe(judged(0, 0), bound), "Record: correct on 0 kernels, never measured.");
}

TEST(RecordBound, FallsTowardsTheMeanAsTriesGrow) {
    double last = 1;
    for (const int tries : {1, 4, 16, 64, 256}) {
        const SkillRecord record = judged(tries, 0.25 * tries);
        const RecordBound bound = boundOf(record, {record, judged(256, 0)});
        EXPECT_LE(bound.bound, last);
        EXPECT_GT(bound.bound, 0.25);
        last = bound.bound;
    }
    EXPECT_LT(last, 0.37);
}

TEST(RecordBound, FollowsItsFormula) {
    const SkillRecord record = judged(8, 2);
    const RecordBound bound = boundOf(record, {record, judged(12, 1)});
    EXPECT_EQ(bound.tries, 20);
    EXPECT_DOUBLE_EQ(bound.bound, 0.25 + std::sqrt(std::log(20.0) / 16));
}

TEST(RecordBound, GrowsWhereOthersAreTriedMore) {
    const SkillRecord record = judged(8, 0);
    EXPECT_LT(boundOf(record, {record}).bound, boundOf(record, {record, judged(500, 0)}).bound);
}

} // namespace
} // namespace kernelskill::engine

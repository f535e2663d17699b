#include "engine/review/control.h"
#include "tests/engine/comparison/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::floats;
using ::testing::HasSubstr;

using Outputs = std::vector<std::vector<BufferContents>>;

TEST(Control, NamesEachWrongResultThatItTellsFromTheRightOne) {
    const Outputs outputs{{floats({1, 2, 3})}, {floats({4, 5, 6})}};
    CheckResult check = checkControl(outputs, {}, true);
    ASSERT_TRUE(check);
    EXPECT_TRUE(check->passed);
    EXPECT_EQ(check->detail, "flagged as different: a result of zeros, a constant result, the "
                             "result of another seed");
}

TEST(Control, FailsWhereZerosWouldPassAndDoesNotBlameTheEdit) {
    CheckResult check = checkControl({{floats({0, 0, 0})}}, {}, true);
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().name, "control fails");
    EXPECT_EQ(check.error().status, VerdictStatus::Invalid);
    EXPECT_FALSE(check.error().isAboutEdit);
    EXPECT_THAT(check.error().detail, HasSubstr("a result of zeros cannot be told"));
}

TEST(Control, FailsWhereAConstantWouldPass) {
    CheckResult check = checkControl({{floats({2, 2, 2})}}, {}, true);
    ASSERT_FALSE(check);
    EXPECT_THAT(check.error().detail, HasSubstr("a constant result cannot be told"));
}

TEST(Control, FailsWhereTheResultOfAnotherSeedWouldPass) {
    CheckResult check = checkControl({{floats({1, 2})}, {floats({1, 2})}}, {}, true);
    ASSERT_FALSE(check);
    EXPECT_THAT(check.error().detail, HasSubstr("the result of another seed cannot be told"));
}

TEST(Control, TakesTheResultOfChosenInputsWhereSeedsAgree) {
    const Outputs seeds{{floats({9})}, {floats({9})}};
    EXPECT_TRUE(checkControl(seeds, {}, true, {{floats({9})}, {floats({-2})}}));
    EXPECT_FALSE(checkControl(seeds, {}, true, {{floats({9})}}));
}

TEST(Control, IsContentWithOneOfTheComparedResults) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Outputs seeds{{floats({nan, nan})}, {floats({nan, nan})}};
    EXPECT_FALSE(checkControl(seeds, {}, true));
    EXPECT_FALSE(checkControl(seeds, {}, true, {{floats({0, 0})}})) << "each is a constant";
    EXPECT_TRUE(checkControl(seeds, {}, true, {{floats({nan, 3})}}));
    EXPECT_TRUE(checkControl({{floats({0, 0})}, {floats({1, 2})}}, {}, true));
}

TEST(Control, AnotherSeedIsNoneWhereNothingRandomWasRead) {
    EXPECT_TRUE(checkControl({{floats({1, 2})}, {floats({1, 2})}}, {}, false));
    CheckResult check = checkControl({{floats({0, 0})}, {floats({0, 0})}}, {}, false);
    ASSERT_FALSE(check);
    EXPECT_THAT(check.error().detail, HasSubstr("a result of zeros cannot be told"));
}

TEST(Control, TriesNoConstantOnOneElement) {
    EXPECT_TRUE(checkControl({{floats({7})}, {floats({8})}}, {}, true));
}

TEST(Control, IsHeldAgainstTheToleranceOfTheComparison) {
    const Outputs outputs{{floats({1.0f, 2.0f})}, {floats({1.001f, 2.001f})}};
    EXPECT_TRUE(checkControl(outputs, {}, true));
    EXPECT_FALSE(checkControl(outputs, {false, 0.01}, true));
}

TEST(Control, OnlyABufferThatIsReadAndRandomIsRandomInput) {
    BufferSpec output;
    output.isInput = false;
    BufferSpec zeros;
    zeros.fill = Fill::Zero;
    Profile run;
    run.launch.arguments = {output, zeros, ScalarSpec{}};
    EXPECT_FALSE(hasRandomInput(run.launch));
    EXPECT_FALSE(readsRandomInput(run));
    run.launch.arguments.emplace_back(BufferSpec{});
    EXPECT_TRUE(hasRandomInput(run.launch));
    EXPECT_TRUE(readsRandomInput(run));
}

// curand_init() is given states, which may be anything, and only writes them.
TEST(Control, WhatTheRunDidNotReadIsNoInput) {
    BufferSpec states;
    states.name = "states";
    Profile run;
    run.launch.arguments = {states};
    run.extents = {{"states", 4, false, true}};
    EXPECT_FALSE(readsRandomInput(run));
    run.extents[0].read = true;
    EXPECT_TRUE(readsRandomInput(run));
}

} // namespace
} // namespace kernelskill::engine

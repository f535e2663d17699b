#include "engine/candidate_diagnosis/output_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A difference in `differing` of 100 elements, between `first` and `last`.
ReviewFailure failureOf(std::uint64_t differing, std::uint64_t first, std::uint64_t last,
                        std::uint64_t unwritten = 0, std::optional<double> error = {}) {
    Difference difference;
    difference.differing = differing;
    difference.first = first;
    difference.last = last;
    difference.unwritten = unwritten;
    difference.maxError = error;
    difference.buffer = "y";
    difference.elements = 100;
    difference.actual = "1";
    difference.expected = "2";
    return {.stage = ReviewStage::Outputs,
            .trial = TrialPlace{.label = "n=100", .isFileSize = true, .launch = {}},
            .difference = difference};
}

CandidateDiagnosis causeOf(const ReviewFailure& failure,
                           skills::Numerics numerics = skills::Numerics::Exact,
                           std::size_t barriersLost = 0) {
    analysis::KernelModel before;
    before.barriers.resize(barriersLost);
    return outputCause(before, {}, numerics, failure);
}

TEST(OutputCause, OneRowUpToTheEndIsTheTail) {
    EXPECT_EQ(causeOf(failureOf(3, 97, 99)).cause, "tail");
    EXPECT_NE(causeOf(failureOf(2, 97, 99)).cause, "tail") << "one between is right";
    EXPECT_NE(causeOf(failureOf(100, 0, 99)).cause, "tail") << "all are wrong";
}

TEST(OutputCause, PoisonSaysThatNobodyWrote) {
    const auto found = causeOf(failureOf(50, 0, 98, 50));
    EXPECT_EQ(found.cause, "unwritten");
    EXPECT_THAT(found.evidence, Contains(HasSubstr("y[0] is unwritten where 2 is expected")));
}

TEST(OutputCause, SmallErrorsAreRoundingOfWhatPromisedNone) {
    const auto failure = failureOf(9, 0, 50, 0, 1e-6);
    EXPECT_EQ(causeOf(failure).cause, "rounding");
    EXPECT_EQ(causeOf(failure, skills::Numerics::Reassociates).cause, "precision");
    EXPECT_EQ(causeOf(failureOf(9, 0, 50, 0, 0.5)).cause, "wrong-value");
}

TEST(OutputCause, WhatAgreedBeforeTellsSizeAndDataApart) {
    auto failure = failureOf(9, 0, 50);
    failure.agreedBefore = 3;
    EXPECT_EQ(causeOf(failure).cause, "data");
    failure.trial->isFileSize = false;
    EXPECT_EQ(causeOf(failure).cause, "size");
    failure.trial->isOnGpu = true;
    EXPECT_EQ(causeOf(failure).cause, "order-of-threads");
}

TEST(OutputCause, ABarrierLessIsEvidence) {
    const auto found = causeOf(failureOf(9, 0, 50), skills::Numerics::Exact, 2);
    EXPECT_THAT(found.evidence, Contains("it has 0 barriers where the original has 2"));
}

} // namespace
} // namespace kernelskill::engine

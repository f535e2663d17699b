#include "skills/base/skill.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

TEST(Accuracy, HasTheErrorsThatCudaDocumentsAtArgumentsUpToEight) {
    EXPECT_EQ(documentedError("__fdividef"), (StatedError{2, 0}));
    EXPECT_EQ(documentedError("__expf"), (StatedError{2 + 9, 0}));
    EXPECT_EQ(documentedError("__exp10f"), (StatedError{2 + 23, 0}));
    ASSERT_TRUE(documentedError("__sinf"));
    EXPECT_NEAR(documentedError("__sinf")->absolute, 0x1p-21 * 0.753 * 8 / 3.14159, 1e-9);
    EXPECT_EQ(documentedError("my_expf"), std::nullopt);
}

TEST(Accuracy, OfTwoEditsAddsUp) {
    const Accuracy reduced{Numerics::ReducedPrecision, StatedError{2, 1e-7}};
    EXPECT_EQ(combined(reduced, Numerics::Exact), reduced);
    EXPECT_EQ(combined(Numerics::Reassociates, reduced), reduced);
    EXPECT_EQ(combined(reduced, reduced).error, (StatedError{4, 2e-7}));
}

TEST(Accuracy, OfAnOfferIsItsOwnOrTheSkills) {
    SkillMetadata metadata;
    metadata.numerics = Numerics::ReducedPrecision;
    Offer offer;
    EXPECT_EQ(accuracyOf(offer, metadata), Accuracy(Numerics::ReducedPrecision));
    metadata.error = StatedError{5, 0};
    EXPECT_EQ(accuracyOf(offer, metadata).error, (StatedError{5, 0}));
    offer.numerics = Numerics::Exact;
    EXPECT_EQ(accuracyOf(offer, metadata), Accuracy(Numerics::Exact));
    offer.numerics = Numerics::ReducedPrecision;
    offer.error = StatedError{3, 0};
    EXPECT_EQ(accuracyOf(offer, metadata).error, (StatedError{3, 0}));
}

} // namespace
} // namespace kernelskill::skills

#include "engine/final_memory/memory_comparison.h"
#include "tests/engine/final_memory/recorded_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

constexpr const char* ofFloats = "_Z5scalePf";
constexpr const char* ofDoubles = "_Z5scalePd";
constexpr const char* ofIntegers = "_Z5countPi";
constexpr const char* ofParticles = "_Z4moveP8Particle";

/// Two runs of the original that leave the same, and the edited program's.
class MemoryComparisonTest : public ::testing::Test {
protected:
    template <typename T>
    void addToAll(const std::vector<T>& values, const std::string& symbol = {}) {
        first_.add(values, symbol);
        second_.add(values, symbol);
        edited_.add(values, symbol);
    }
    template <typename T>
    void add(const std::vector<T>& original, const std::vector<T>& edited,
             const std::string& symbol = {}) {
        first_.add(original, symbol);
        second_.add(original, symbol);
        edited_.add(edited, symbol);
    }
    [[nodiscard]] ComparedBuffers compared() const {
        auto result = ComparedBuffers::of(first_.read(), second_.read());
        EXPECT_TRUE(result) << result.error().describe();
        return *std::move(result);
    }
    [[nodiscard]] std::string difference() const {
        const auto result = compared().differenceTo(edited_.read());
        EXPECT_TRUE(result) << result.error().describe();
        return result->value_or("none");
    }

    testing::RecordedBuffers first_;
    testing::RecordedBuffers second_;
    testing::RecordedBuffers edited_;
};

TEST_F(MemoryComparisonTest, EqualBuffersDoNotDiffer) {
    addToAll(std::vector<float>{1, 2, 3, std::numeric_limits<float>::quiet_NaN()}, ofFloats);
    addToAll(std::vector<int>{4, 5}, ofIntegers);
    EXPECT_EQ(difference(), "none");
    EXPECT_EQ(compared().count(), 2u);
    EXPECT_EQ(compared().bytes(), 24u);
    EXPECT_EQ(compared().note(), "");
}

TEST_F(MemoryComparisonTest, FloatingPointNumbersMayDifferByRounding) {
    add<float>({1000, 2000, 0}, {1000.5F, 1999.5F, 0.5F}, ofFloats);
    add<double>({1e9, 1}, {1.0005e9, 3}, ofDoubles);
    EXPECT_EQ(difference(), "none") << "by a thousandth of the numbers around them";
}

TEST_F(MemoryComparisonTest, SaysWhichNumberDiffers) {
    addToAll(std::vector<int>{1}, ofIntegers);
    add<float>({1, 1.25F, 2, 3}, {1, 1.5F, 2, 4}, ofFloats);
    EXPECT_EQ(difference(), "the buffer of 16 bytes that 'scale' gets as parameter 1: 2 of 4 "
                            "float32 differ, the first at 1: 1.5 instead of 1.25");
}

TEST_F(MemoryComparisonTest, ANumberThatIsNoneDiffers) {
    add<float>({1, 2}, {1, std::numeric_limits<float>::quiet_NaN()}, ofFloats);
    EXPECT_THAT(difference(), HasSubstr("1 of 2 float32 differ"));
}

TEST_F(MemoryComparisonTest, IntegersHaveToBeTheSame) {
    // As float32 these are closer than a thousandth.
    add<int>({1'000'000'000}, {1'000'000'001}, ofIntegers);
    EXPECT_THAT(difference(), HasSubstr("1 of 4 bytes differ"));
}

TEST_F(MemoryComparisonTest, NumbersOfAStructureMayBeOfEitherSize) {
    add<float>({1, 2, 0, 4}, {1.0001F, 2, 0, 4}, ofParticles);
    add<double>({1, 2, 0}, {1.0001, 2, 0}, ofParticles);
    EXPECT_EQ(difference(), "none");
}

TEST_F(MemoryComparisonTest, AStructureIsOfOneKindOfNumber) {
    add<int>({7, 100'000'000, 0, 0}, {7, 100'000'001, 0, 0}, ofParticles);
    EXPECT_THAT(difference(), HasSubstr("bytes differ")) << "small integers are no float32";
}

TEST_F(MemoryComparisonTest, ABufferThatNoKernelGetsIsNamedByItsNumber) {
    add<int>({1}, {2});
    EXPECT_EQ(difference(), "buffer 1 of 4 bytes: 1 of 4 bytes differ, the first at 0");
}

TEST_F(MemoryComparisonTest, AddressesOfTheSamePlacesAreEqual) {
    edited_.setAddress(0x7e0000000000);
    addToAll(std::vector<float>{1, 2, 3, 4}, ofFloats);
    add<std::uint64_t>({0x7f0000000008}, {0x7e0000000008});
    EXPECT_EQ(difference(), "none");
    add<std::uint64_t>({0x7f0000000008}, {0x7e000000000c});
    EXPECT_THAT(difference(), HasSubstr("bytes differ")) << "another element";
}

TEST_F(MemoryComparisonTest, WhatDiffersBetweenRunsOfTheOriginalIsNotCompared) {
    addToAll(std::vector<int>{1, 2}, ofIntegers);
    first_.add(std::vector<int>{1, 2}, ofIntegers);
    second_.add(std::vector<int>{1, 3}, ofIntegers);
    edited_.add(std::vector<int>{9, 9}, ofIntegers);
    EXPECT_EQ(difference(), "none");
    EXPECT_EQ(compared().count(), 1u);
    EXPECT_EQ(compared().note(), "of 2 buffers on the GPU 1 are compared: 1 not the same after all "
                                 "runs of the original");
}

TEST_F(MemoryComparisonTest, FurtherRunsMayLeaveOutMore) {
    addToAll(std::vector<int>{1, 2}, ofIntegers);
    add<int>({1, 2}, {1, 3}, ofIntegers);
    auto buffers = compared();
    ASSERT_TRUE(buffers.add(second_.read()));
    EXPECT_EQ(buffers.count(), 2u);
    ASSERT_TRUE(buffers.add(edited_.read())) << "in the place of a run of the original";
    EXPECT_EQ(buffers.count(), 1u);
    EXPECT_EQ(buffers.differenceTo(edited_.read())->value_or("none"), "none");
}

TEST_F(MemoryComparisonTest, WhatIsNotRecordedIsNotCompared) {
    addToAll(std::vector<int>{1, 2}, ofIntegers);
    for (testing::RecordedBuffers* run : {&first_, &second_, &edited_})
        run->addUnrecorded(1u << 31, "at most 1024 MiB are recorded");
    EXPECT_EQ(difference(), "none");
    EXPECT_EQ(compared().note(), "of 2 buffers on the GPU 1 are compared: 1 not recorded (at most "
                                 "1024 MiB are recorded)");
}

TEST_F(MemoryComparisonTest, AnEditedProgramMayAllocateOtherBuffers) {
    add<int>({1, 2}, {1, 2}, ofIntegers);
    edited_.add(std::vector<int>{7, 7, 7}, ofIntegers);
    addToAll(std::vector<int>{3}, ofIntegers);
    EXPECT_EQ(difference(), "none");
    add<int>({1, 2, 3, 4}, {1, 2, 3, 5}, ofIntegers);
    EXPECT_THAT(difference(), HasSubstr("the buffer of 16 bytes"));
}

TEST_F(MemoryComparisonTest, BuffersOfASizeThatTheEditedProgramHasMoreOftenAreNotCompared) {
    edited_.add(std::vector<int>{9}, ofIntegers);
    add<int>({1}, {1}, ofIntegers);
    EXPECT_EQ(difference(), "none") << "which of the two is the original's is not known";
}

TEST_F(MemoryComparisonTest, SaysIfTheProgramsEndWasNotSeen) {
    addToAll(std::vector<int>{1}, ofIntegers);
    first_.leaveOutEnd();
    EXPECT_THAT(compared().note(), HasSubstr("those that it does not free are not known"));
}

} // namespace
} // namespace kernelskill::engine

#include "engine/execution/emulator/worker/race_detector.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace kernelskill::engine::emulator {
namespace {

/// 64 bytes of memory that threads of one block touch; sites are 1 for the earlier access, 2 for
/// the later.
class RaceDetectorTest : public testing::Test {
protected:
    RaceDetectorTest() { races.beginBlock(); }

    template <RaceAccess access>
    bool touch(unsigned thread, std::uint64_t address = 0, unsigned bytes = 4,
               std::uint32_t site = 1, bool spansBlocks = false) {
        return races.record<access>(&cells[address / 4], address, bytes, site, thread, spansBlocks);
    }

    RaceDetector races;
    std::array<RaceDetector::Cell, 16> cells{};
};

constexpr auto Read = RaceAccess::Read;
constexpr auto Write = RaceAccess::Write;
constexpr auto Atomic = RaceAccess::Atomic;

TEST_F(RaceDetectorTest, AThreadDoesNotRaceWithItself) {
    EXPECT_FALSE(touch<Write>(5));
    EXPECT_FALSE(touch<Read>(5));
    EXPECT_FALSE(touch<Write>(5));
}

TEST_F(RaceDetectorTest, AReadAfterAnotherWarpsWriteIsARace) {
    EXPECT_FALSE(touch<Write>(0));
    ASSERT_TRUE(touch<Read>(40, 0, 4, 2));
    EXPECT_TRUE(races.conflict().certain());
    EXPECT_EQ(races.conflict().scope, RaceScope::Block);
    EXPECT_EQ(races.conflict().earlier, Write);
    EXPECT_EQ(races.conflict().site, 1u);
    EXPECT_EQ(races.conflict().thread, 0u);
}

TEST_F(RaceDetectorTest, ABarrierOrders) {
    EXPECT_FALSE(touch<Write>(0));
    races.blockBarrier();
    EXPECT_FALSE(touch<Read>(40));
    races.blockBarrier();
    EXPECT_FALSE(touch<Write>(80));
}

TEST_F(RaceDetectorTest, AWriteAfterAnotherWarpsReadIsARace) {
    EXPECT_FALSE(touch<Read>(0));
    EXPECT_TRUE(touch<Write>(40));
    EXPECT_EQ(races.conflict().earlier, Read);
}

TEST_F(RaceDetectorTest, OneOfManyReadersMayNotWrite) {
    EXPECT_FALSE(touch<Read>(0));
    EXPECT_FALSE(touch<Read>(40));
    EXPECT_TRUE(touch<Write>(0));
    EXPECT_FALSE(races.conflict().threadKnown);
}

TEST_F(RaceDetectorTest, LanesOfAWarpAreOnlySuspected) {
    EXPECT_FALSE(touch<Write>(0, 0, 4, 1));
    ASSERT_TRUE(touch<Read>(1, 0, 4, 2));
    EXPECT_FALSE(races.conflict().certain());
    EXPECT_EQ(races.conflict().scope, RaceScope::Warp);
}

TEST_F(RaceDetectorTest, OneInstructionOfAWarpIsNoRace) {
    EXPECT_FALSE(touch<Write>(0, 0, 4, 1));
    EXPECT_FALSE(touch<Write>(1, 0, 4, 1));
}

TEST_F(RaceDetectorTest, AWarpBarrierOrdersItsWarpAlone) {
    EXPECT_FALSE(touch<Write>(0, 0, 4, 1));
    EXPECT_FALSE(touch<Write>(33, 16, 4, 1));
    races.warpBarrier(0);
    EXPECT_FALSE(touch<Read>(1, 0, 4, 2));
    EXPECT_TRUE(touch<Read>(34, 16, 4, 2));
    EXPECT_TRUE(touch<Read>(40, 0, 4, 2));
}

TEST_F(RaceDetectorTest, BytesOfAWordAreApart) {
    EXPECT_FALSE(touch<Write>(0, 0, 1));
    EXPECT_FALSE(touch<Write>(40, 1, 1));
    EXPECT_FALSE(touch<Read>(80, 2, 2));
    EXPECT_TRUE(touch<Read>(80, 1, 1));
}

TEST_F(RaceDetectorTest, ThreadsThatReadAndWriteTheirOwnBytesOfAWordDoNotRace) {
    for (const unsigned thread : {0u, 40u, 80u, 120u}) {
        const std::uint64_t byte = thread / 40;
        EXPECT_FALSE(touch<Read>(thread, byte, 1, 1));
        EXPECT_FALSE(touch<Write>(thread, byte, 1, 2));
    }
    for (const unsigned thread : {0u, 40u, 80u, 120u})
        EXPECT_FALSE(touch<Read>(thread, thread / 40, 1, 1));
    EXPECT_FALSE(touch<Write>(120, 3, 1, 2));
}

TEST_F(RaceDetectorTest, AByteThatTwoWarpsReadMayNotBeWritten) {
    EXPECT_FALSE(touch<Read>(0, 0, 4));
    EXPECT_FALSE(touch<Read>(40, 1, 1));
    EXPECT_FALSE(touch<Write>(0, 3, 1));
    EXPECT_TRUE(touch<Write>(0, 1, 1));
    EXPECT_TRUE(races.conflict().certain());
}

TEST_F(RaceDetectorTest, AWideAccessMeetsEachOfItsWords) {
    EXPECT_FALSE(touch<Write>(0, 12, 4));
    EXPECT_TRUE(touch<Read>(40, 0, 16));
    EXPECT_FALSE(touch<Read>(40, 16, 16));
}

TEST_F(RaceDetectorTest, AtomicsDoNotRaceWithEachOther) {
    EXPECT_FALSE(touch<Atomic>(0));
    EXPECT_FALSE(touch<Atomic>(40));
}

TEST_F(RaceDetectorTest, AnAtomicAndAPlainReadAreOnlySuspected) {
    EXPECT_FALSE(touch<Atomic>(0));
    ASSERT_TRUE(touch<Read>(40));
    EXPECT_FALSE(races.conflict().certain());
}

TEST_F(RaceDetectorTest, AFenceAloneOrdersNothing) {
    EXPECT_FALSE(touch<Write>(0));
    races.fence(0, SyncScope::Device);
    races.fence(40, SyncScope::Device);
    EXPECT_TRUE(touch<Read>(40));
}

TEST_F(RaceDetectorTest, BlocksAreSuspectedWhereMemoryIsShared) {
    EXPECT_FALSE(touch<Write>(0, 0, 4, 1, true));
    races.beginBlock();
    ASSERT_TRUE(touch<Read>(0, 0, 4, 2, true));
    EXPECT_EQ(races.conflict().scope, RaceScope::Grid);
    EXPECT_FALSE(races.conflict().certain());
}

TEST_F(RaceDetectorTest, ABlocksSharedMemoryIsItsOwn) {
    EXPECT_FALSE(touch<Write>(0));
    races.beginBlock();
    EXPECT_FALSE(touch<Read>(40));
}

/// Accesses that the fast path accepts must be recorded as the slow path would.
TEST(RaceDetector, WholeWordsAreRecordedAlikeEitherWay) {
    std::mt19937 random{7};
    RaceDetector quick;
    RaceDetector thorough;
    std::array<RaceDetector::Cell, 4> cells{};
    std::array<RaceDetector::Cell, 4> others{};
    quick.beginBlock();
    thorough.beginBlock();
    unsigned passed = 0;
    for (unsigned step = 0; step < 200'000; ++step) {
        const unsigned what = random() % 64;
        if (what == 0) {
            quick.blockBarrier();
            thorough.blockBarrier();
        } else if (what == 1) {
            quick.beginBlock();
            thorough.beginBlock();
        } else if (what == 2) {
            quick.warpBarrier(1);
            thorough.warpBarrier(1);
        }
        const unsigned words = 1 + random() % 4;
        const std::uint32_t site = 1 + random() % 3;
        const unsigned thread = random() % 3 * 16 + random() % 2;
        const bool spansBlocks = random() % 2 != 0;
        const auto touch = [&]<RaceAccess access>() {
            bool conflicts = false;
            if (quick.recordWords<access>(cells.data(), words, site, thread, spansBlocks))
                ++passed;
            else
                conflicts =
                    quick.record<access>(cells.data(), 0, words * 4, site, thread, spansBlocks);
            ASSERT_EQ(conflicts, thorough.record<access>(others.data(), 0, words * 4, site, thread,
                                                         spansBlocks));
        };
        const unsigned kind = random() % 8;
        if (kind < 4)
            touch.operator()<RaceAccess::Read>();
        else if (kind < 7)
            touch.operator()<RaceAccess::Write>();
        else
            touch.operator()<RaceAccess::Atomic>();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            ASSERT_EQ(cells[i].write, others[i].write) << step;
            ASSERT_EQ(cells[i].read, others[i].read) << step;
        }
    }
    EXPECT_GT(passed, 10'000u);
}

} // namespace
} // namespace kernelskill::engine::emulator

// Orders by fences, atomics, volatile flags and barriers of some threads: each idiom is in order,
// and none of its parts may be missing.
#include "engine/execution/emulator/worker/race_detector.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace kernelskill::engine::emulator {
namespace {

constexpr std::uint64_t data = 0;
constexpr std::uint64_t flag = 16;

/// Memory of all blocks. Threads 0, 40 and 80 are of three warps.
class HappensBeforeTest : public testing::Test {
protected:
    HappensBeforeTest() {
        races.setBlockThreads(128);
        races.beginBlock();
    }

    template <RaceAccess access>
    bool touch(unsigned thread, std::uint64_t address = data) {
        return races.record<access>(&cells[address / 4], address, 4, ++site, thread, true);
    }
    bool write(unsigned thread) { return touch<RaceAccess::Write>(thread); }
    bool read(unsigned thread) { return touch<RaceAccess::Read>(thread); }
    void fence(unsigned thread, SyncScope scope = SyncScope::Device) { races.fence(thread, scope); }
    void synchronise(unsigned thread, SyncAccess access, bool isAtomic) {
        access.address = flag;
        races.synchronise(thread, access, &cells[flag / 4]);
        if (isAtomic || access.writes)
            touch<RaceAccess::Atomic>(thread, flag);
    }
    void update(unsigned thread, SyncScope scope = SyncScope::Device) {
        synchronise(thread, {.scope = scope}, true);
    }
    void raise(unsigned thread) { synchronise(thread, {.reads = false}, false); }
    void poll(unsigned thread) { synchronise(thread, {.writes = false}, false); }

    RaceDetector races;
    std::array<RaceDetector::Cell, 16> cells{};
    std::uint32_t site = 0;
};

TEST_F(HappensBeforeTest, AFlagOrdersBlocksWithAFenceOnEitherSide) {
    EXPECT_FALSE(write(0));
    fence(0);
    raise(0);
    races.beginBlock();
    poll(40);
    fence(40);
    EXPECT_FALSE(read(40));
    EXPECT_FALSE(write(40));
}

TEST_F(HappensBeforeTest, AFlagWithoutTheWritersFenceOrdersNothing) {
    EXPECT_FALSE(write(0));
    raise(0);
    races.beginBlock();
    poll(40);
    fence(40);
    EXPECT_TRUE(read(40));
    EXPECT_EQ(races.conflict().scope, RaceScope::Grid);
}

TEST_F(HappensBeforeTest, AFenceBeforeTheDataPublishesNothingOfIt) {
    fence(0);
    EXPECT_FALSE(write(0));
    raise(0);
    races.beginBlock();
    poll(40);
    fence(40);
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, AFlagWithoutTheReadersFenceIsSuspected) {
    EXPECT_FALSE(write(0));
    fence(0);
    raise(0);
    races.beginBlock();
    poll(40);
    ASSERT_TRUE(read(40));
    EXPECT_EQ(races.conflict().doubt, RaceDoubt::Unfenced);
}

TEST_F(HappensBeforeTest, ABarrierIsAFenceForTheReadersBlock) {
    EXPECT_FALSE(write(0));
    fence(0);
    update(0);
    races.beginBlock();
    update(40);
    races.blockBarrier();
    EXPECT_FALSE(read(80));
}

TEST_F(HappensBeforeTest, WithoutTheFlagFencesOrderNothing) {
    EXPECT_FALSE(write(0));
    fence(0);
    races.beginBlock();
    fence(40);
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, AFenceOfTheBlockDoesNotReachOthers) {
    EXPECT_FALSE(write(0));
    fence(0, SyncScope::Block);
    update(0);
    races.beginBlock();
    update(40);
    fence(40);
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, AnAtomicOfTheBlockDoesNotReachOthers) {
    EXPECT_FALSE(write(0));
    fence(0);
    update(0, SyncScope::Block);
    races.beginBlock();
    update(40);
    fence(40);
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, ScopesOfTheBlockAreEnoughInIt) {
    EXPECT_FALSE(write(0));
    fence(0, SyncScope::Block);
    update(0, SyncScope::Block);
    update(40, SyncScope::Block);
    fence(40, SyncScope::Block);
    EXPECT_FALSE(read(40));
    EXPECT_TRUE(read(80));
}

TEST_F(HappensBeforeTest, ATicketCollectsAllBlocks) {
    for (unsigned block = 0; block < 4; ++block) {
        if (block > 0)
            races.beginBlock();
        EXPECT_FALSE(touch<RaceAccess::Write>(0, 4 * std::uint64_t{block}));
        fence(0);
        update(0);
    }
    races.blockBarrier();
    for (unsigned block = 0; block < 4; ++block)
        EXPECT_FALSE(touch<RaceAccess::Read>(40, 4 * std::uint64_t{block})) << block;
}

TEST_F(HappensBeforeTest, ThreadsMayFenceBeforeTheBarrierOfTheTicket) {
    EXPECT_FALSE(write(80));
    fence(80);
    races.blockBarrier();
    update(0);
    races.beginBlock();
    update(0);
    races.blockBarrier();
    EXPECT_FALSE(read(40));
}

TEST_F(HappensBeforeTest, OneThreadMayFenceForItsBlockAfterABarrier) {
    EXPECT_FALSE(write(80));
    races.blockBarrier();
    fence(0);
    update(0);
    races.beginBlock();
    update(0);
    races.blockBarrier();
    EXPECT_FALSE(read(40));
}

TEST_F(HappensBeforeTest, AFenceDoesNotPublishWhatOtherThreadsDoWithoutABarrier) {
    EXPECT_FALSE(write(80));
    fence(0);
    update(0);
    races.beginBlock();
    update(0);
    races.blockBarrier();
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, AnOrderingAtomicNeedsNoFence) {
    EXPECT_FALSE(write(0));
    synchronise(0, {.reads = false, .releases = true}, true);
    races.beginBlock();
    synchronise(40, {.writes = false, .acquires = true}, true);
    EXPECT_FALSE(read(40));
}

TEST_F(HappensBeforeTest, ALockOrdersItsHolders) {
    update(0); // Takes it.
    fence(0);
    EXPECT_FALSE(write(0));
    fence(0);
    update(0); // Gives it back.
    races.beginBlock();
    update(40);
    fence(40);
    EXPECT_FALSE(read(40));
    EXPECT_FALSE(write(40));
}

TEST_F(HappensBeforeTest, ALockGivenBackWithoutAFenceDoesNot) {
    update(0);
    fence(0);
    EXPECT_FALSE(write(0));
    update(0);
    races.beginBlock();
    update(40);
    fence(40);
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, OrderPassesThroughAThirdBlock) {
    EXPECT_FALSE(write(0));
    fence(0);
    update(0);
    races.beginBlock();
    update(0);
    fence(0);
    raise(0);
    races.beginBlock();
    poll(40);
    fence(40);
    EXPECT_FALSE(read(40));
}

TEST_F(HappensBeforeTest, AStoreEndsWhatOthersPublishedThere) {
    EXPECT_FALSE(write(0));
    fence(0);
    update(0);
    races.beginBlock();
    raise(0); // Without a fence.
    races.beginBlock();
    poll(40);
    fence(40);
    EXPECT_TRUE(read(40));
}

TEST_F(HappensBeforeTest, APlainFlagAfterAFenceCountsForVolatileReaders) {
    EXPECT_FALSE(write(0));
    fence(0);
    EXPECT_FALSE(touch<RaceAccess::Write>(0, flag));
    races.beginBlock();
    poll(40);
    fence(40);
    EXPECT_FALSE(read(40));
}

TEST_F(HappensBeforeTest, ANamedBarrierOrdersThoseWhoTookPart) {
    EXPECT_FALSE(write(0));
    races.partialBarrier(std::vector<unsigned>{0, 40});
    EXPECT_FALSE(read(40));
    EXPECT_TRUE(read(80));
}

TEST_F(HappensBeforeTest, AWarpBarrierOrdersTheLanesOfItsMask) {
    EXPECT_FALSE(write(0));
    races.warpBarrier(0, 0x3, false);
    EXPECT_FALSE(read(1));
    EXPECT_TRUE(read(2));
}

TEST_F(HappensBeforeTest, MasksThatOverlapPassOrderOn) {
    EXPECT_FALSE(write(0));
    races.warpBarrier(0, 0x3, false);
    races.warpBarrier(0, 0x6, false);
    EXPECT_FALSE(read(2));
    EXPECT_TRUE(read(3));
}

TEST_F(HappensBeforeTest, AGridBarrierOrdersAllBlocks) {
    EXPECT_FALSE(write(0));
    races.pauseBlock();
    races.beginBlock();
    races.pauseBlock();
    races.gridBarrier();
    races.resumeBlock(1);
    EXPECT_FALSE(read(40));
    EXPECT_FALSE(write(40));
    races.pauseBlock();
    races.resumeBlock(0);
    EXPECT_TRUE(read(0));
}

TEST_F(HappensBeforeTest, BlocksThatTakeTurnsKeepTheirIntervals) {
    EXPECT_FALSE(write(0));
    races.pauseBlock();
    races.beginBlock();
    races.pauseBlock();
    races.resumeBlock(0);
    ASSERT_TRUE(read(40));
    EXPECT_EQ(races.conflict().scope, RaceScope::Block);
    EXPECT_TRUE(races.conflict().certain());
    races.pauseBlock();
    races.resumeBlock(0);
    EXPECT_FALSE(touch<RaceAccess::Write>(0, 8));
    races.blockBarrier();
    races.pauseBlock();
    races.resumeBlock(0);
    EXPECT_FALSE(touch<RaceAccess::Read>(40, 8));
}

TEST_F(HappensBeforeTest, AtomicsOfTheBlockOnMemoryOfTwoBlocksAreARace) {
    EXPECT_FALSE(touch<RaceAccess::BlockAtomic>(0));
    EXPECT_FALSE(touch<RaceAccess::BlockAtomic>(40));
    races.beginBlock();
    ASSERT_TRUE(touch<RaceAccess::Atomic>(0));
    EXPECT_EQ(races.conflict().pair, RacePair::AtomicScopes);
    EXPECT_TRUE(races.conflict().certain());
}

TEST_F(HappensBeforeTest, AnAtomicBesideAPlainWriteIsARace) {
    EXPECT_FALSE(touch<RaceAccess::Atomic>(0));
    races.beginBlock();
    ASSERT_TRUE(write(0));
    EXPECT_EQ(races.conflict().pair, RacePair::AtomicWrite);
    EXPECT_TRUE(races.conflict().certain());
}

TEST_F(HappensBeforeTest, AnAtomicBesideAPlainReadIsSuspected) {
    EXPECT_FALSE(touch<RaceAccess::Atomic>(0));
    races.beginBlock();
    ASSERT_TRUE(read(0));
    EXPECT_EQ(races.conflict().doubt, RaceDoubt::AtomicBeside);
}

TEST_F(HappensBeforeTest, APlainUpdateByTwoBlocksIsARace) {
    for (const bool isSecond : {false, true}) {
        if (isSecond)
            races.beginBlock();
        races.record<RaceAccess::Read>(cells.data(), data, 4, 1, 0, true);
        EXPECT_EQ(races.record<RaceAccess::Write>(cells.data(), data, 4, 2, 0, true), isSecond);
    }
    EXPECT_TRUE(races.conflict().certain());
}

TEST_F(HappensBeforeTest, APlainUpdateByTwoLanesIsARace) {
    races.record<RaceAccess::Read>(cells.data(), data, 4, 1, 0, true);
    races.record<RaceAccess::Write>(cells.data(), data, 4, 2, 0, true);
    ASSERT_TRUE(races.record<RaceAccess::Read>(cells.data(), data, 4, 1, 1, true));
    EXPECT_TRUE(races.conflict().certain());
}

TEST_F(HappensBeforeTest, LanesThatReadWhatOneWroteAreOnlySuspected) {
    races.record<RaceAccess::Write>(cells.data(), data, 4, 1, 0, true);
    races.record<RaceAccess::Read>(cells.data(), data, 4, 2, 0, true);
    ASSERT_TRUE(races.record<RaceAccess::Read>(cells.data(), data, 4, 2, 1, true));
    EXPECT_EQ(races.conflict().doubt, RaceDoubt::LockStep);
}

TEST_F(HappensBeforeTest, TooManyOrdersToFollowCountAsOrders) {
    for (unsigned i = 0; i < 12'000 && !races.assumesOrders(); ++i) {
        races.beginBlock();
        fence(0);
        update(0);
    }
    ASSERT_TRUE(races.assumesOrders());
    EXPECT_FALSE(write(0));
    races.beginBlock();
    EXPECT_FALSE(read(40));
}

} // namespace
} // namespace kernelskill::engine::emulator

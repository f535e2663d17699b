#include "engine/execution/emulator/worker/access_cost.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace kernelskill::engine::emulator {
namespace {

template <typename Address>
std::vector<LaneAddress> warp(Address address, unsigned lanes = 32) {
    std::vector<LaneAddress> result;
    for (unsigned lane = 0; lane < lanes; ++lane)
        result.push_back({static_cast<std::uint8_t>(lane), 0x10000 + address(lane)});
    return result;
}

unsigned sectors(const std::vector<LaneAddress>& lanes, std::uint32_t bytes) {
    std::array<std::uint64_t, 320> room;
    return distinctSectors(lanes, bytes, room);
}

TEST(DistinctSectors, ContiguousFloatsTakeFour) {
    EXPECT_EQ(sectors(warp([](unsigned lane) { return lane * 4; }), 4), 4u);
}

TEST(DistinctSectors, AMisalignedRowTakesOneMore) {
    EXPECT_EQ(sectors(warp([](unsigned lane) { return 4 + lane * 4; }), 4), 5u);
}

TEST(DistinctSectors, ABroadcastTakesOne) {
    EXPECT_EQ(sectors(warp([](unsigned) { return 64u; }), 4), 1u);
}

TEST(DistinctSectors, OrderDoesNotMatter) {
    EXPECT_EQ(sectors(warp([](unsigned lane) { return (31 - lane) * 4; }), 4), 4u);
    EXPECT_EQ(sectors(warp([](unsigned lane) { return (lane * 7 % 32) * 32; }), 4), 32u);
}

TEST(DistinctSectors, WideAccessesTakeAllTheyCover) {
    EXPECT_EQ(sectors(warp([](unsigned lane) { return lane * 16; }), 16), 16u);
    EXPECT_EQ(sectors(warp([](unsigned lane) { return lane * 64; }), 64), 64u);
}

TEST(SharedCost, DistinctBanksTakeOneWavefront) {
    const SharedCost cost = sharedCost(warp([](unsigned lane) { return lane * 4; }), 4);
    EXPECT_EQ(cost.wavefronts, 1u);
    EXPECT_EQ(cost.conflicts, 0u);
}

TEST(SharedCost, AColumnOf32FloatsTakes32) {
    const SharedCost cost = sharedCost(warp([](unsigned lane) { return lane * 128; }), 4);
    EXPECT_EQ(cost.wavefronts, 32u);
    EXPECT_EQ(cost.conflicts, 31u);
}

TEST(SharedCost, LanesThatReadOneWordShareIt) {
    EXPECT_EQ(sharedCost(warp([](unsigned) { return 4u; }), 4).conflicts, 0u);
    EXPECT_EQ(sharedCost(warp([](unsigned lane) { return lane; }), 1).conflicts, 0u);
}

TEST(SharedCost, AStrideOfTwoFloatsConflictsOnce) {
    EXPECT_EQ(sharedCost(warp([](unsigned lane) { return lane * 8; }), 4).conflicts, 1u);
}

TEST(SharedCost, DoublesInARowRunInTwoPhases) {
    const SharedCost cost = sharedCost(warp([](unsigned lane) { return lane * 8; }), 8);
    EXPECT_EQ(cost.wavefronts, 2u);
    EXPECT_EQ(cost.conflicts, 0u);
}

TEST(SharedCost, PhasesWithoutLanesCostNothing) {
    EXPECT_EQ(sharedCost(warp([](unsigned lane) { return lane * 16; }, 8), 16).wavefronts, 1u);
}

TEST(IsConflictFree, SaysWhatTheCostSays) {
    std::mt19937 random{3};
    unsigned free = 0;
    for (unsigned round = 0; round < 2000; ++round) {
        LaneAddresses addresses{};
        std::vector<LaneAddress> lanes;
        const std::uint32_t mask = round % 2 == 0 ? ~std::uint32_t{0} : random() | 1u;
        const unsigned spread = 1 + random() % 3;
        for (unsigned lane = 0; lane < 32; ++lane) {
            addresses[lane] = 0x10000 + (lane * spread + random() % spread) % 64 * 4;
            if ((mask >> lane & 1u) != 0)
                lanes.push_back({static_cast<std::uint8_t>(lane), addresses[lane]});
        }
        const bool expected = sharedCost(lanes, 4).conflicts == 0;
        EXPECT_EQ(isConflictFree(mask, addresses), expected);
        free += expected ? 1 : 0;
    }
    EXPECT_GT(free, 200u);
    EXPECT_LT(free, 1800u);
}

TEST(IsConsecutive, WantsEachLaneBehindTheOneBefore) {
    LaneAddresses addresses;
    for (unsigned lane = 0; lane < 32; ++lane)
        addresses[lane] = 0x1004 + lane * 8;
    EXPECT_TRUE(isConsecutive(addresses, 8));
    EXPECT_FALSE(isConsecutive(addresses, 4));
    addresses[31] += 8;
    EXPECT_FALSE(isConsecutive(addresses, 8));
}

TEST(MostOnOneAddress, CountsTheFullestAddress) {
    EXPECT_EQ(maxLanesOnOneAddress(warp([](unsigned lane) { return lane / 8 * 4; })), 8u);
    EXPECT_EQ(maxLanesOnOneAddress(warp([](unsigned lane) { return lane * 4; })), 1u);
}

} // namespace
} // namespace kernelskill::engine::emulator

#include "engine/execution/emulator/worker/warp_trace.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>

namespace kernelskill::engine::emulator {
namespace {

constexpr std::uint64_t memory = 0x100000;

class WarpTraceTest : public testing::Test {
protected:
    void block(unsigned lane, std::uint32_t site) { log(lane, site, 0, EventKind::BasicBlock, 0); }
    void load(unsigned lane, std::uint32_t site, std::uint64_t address) {
        log(lane, site, 4, EventKind::Load, memory + address);
    }
    void log(unsigned lane, std::uint32_t site, std::uint32_t bytes, EventKind kind,
             std::uint64_t address) {
        events->add(lane, {Event::pack(site, bytes, kind), address});
    }

    std::unique_ptr<EventLog> events = std::make_unique<EventLog>();
    Warp warp;
    WarpTrace trace{TraceRanges{{}, {}, {memory, 1 << 20}, {}}};
};

TEST_F(WarpTraceTest, JoinsLanesAtTheSameInstruction) {
    for (unsigned lane = 0; lane < 32; ++lane)
        load(lane, 0x10, lane * 4);
    trace.drain(*events, warp, 0);
    const Counters totals = trace.totals();
    EXPECT_EQ(totals[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(totals[Counter::GlobalLoadSectors], 4u);
    EXPECT_EQ(totals[Counter::ThreadEvents], 32u);
}

TEST_F(WarpTraceTest, RunsSidesOfABranchOneAfterTheOtherAndJoinsBehindIt) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        block(lane, 0x10);
        block(lane, lane % 2 == 0 ? 0x20 : 0x30);
        load(lane, lane % 2 == 0 ? 0x21 : 0x31, lane * 4);
        block(lane, 0x40);
        load(lane, 0x41, lane * 4);
    }
    trace.drain(*events, warp, 0);
    const auto sites = trace.sites();
    EXPECT_EQ(sites.at(0x21)[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(sites.at(0x31)[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(sites.at(0x41)[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(sites.at(0x41)[Counter::ThreadEvents], 32u);
    EXPECT_EQ(sites.at(0x10)[Counter::BranchTargets], 2u);
    EXPECT_EQ(sites.at(0x10)[Counter::BranchTargetsDivergent], 2u);
    EXPECT_EQ(sites.at(0x20)[Counter::BranchTargets], 0u) << "it only falls through";
}

TEST_F(WarpTraceTest, JoinsLanesWhoseLogsAreOfDifferentLengths) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        block(lane, 0x10);
        for (unsigned i = 0; i < lane % 3; ++i)
            load(lane, 0x20, 4096 + lane * 4);
        load(lane, 0x30, lane * 8);
        load(lane, 0x31, lane * 4);
        block(lane, 0x40);
    }
    trace.drain(*events, warp, 0);
    const auto sites = trace.sites();
    EXPECT_EQ(sites.at(0x20)[Counter::GlobalLoadRequests], 2u);
    EXPECT_EQ(sites.at(0x20)[Counter::ThreadEvents], 31u);
    for (const Site site : {0x30, 0x31, 0x40})
        EXPECT_EQ(sites.at(site)[Counter::WarpEvents], 1u);
    EXPECT_EQ(sites.at(0x30)[Counter::GlobalLoadSectors], 8u);
    EXPECT_EQ(sites.at(0x31)[Counter::GlobalLoadSectors], 4u);
    EXPECT_EQ(sites.at(0x31)[Counter::GlobalLoadBytes], 128u);
}

TEST_F(WarpTraceTest, CountsTheSectorsOfAnUnalignedRow) {
    for (unsigned lane = 0; lane < 32; ++lane)
        load(lane, 0x10, 4 + lane * 4);
    trace.drain(*events, warp, 0);
    EXPECT_EQ(trace.totals()[Counter::GlobalLoadSectors], 5u);
    EXPECT_EQ(trace.totals()[Counter::UniqueBytesLoaded], 160u);
}

TEST_F(WarpTraceTest, KeepsWhatAnUnfinishedLaneHasYetToJoin) {
    load(0, 0x10, 0);
    load(0, 0x20, 0);
    load(1, 0x10, 4);
    trace.drain(*events, warp, 0b11);
    EXPECT_EQ(trace.totals()[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(events->counts[0], 1u);
    EXPECT_EQ(events->counts[1], 0u);
    load(1, 0x20, 4);
    trace.drain(*events, warp, 0);
    EXPECT_EQ(trace.totals()[Counter::GlobalLoadRequests], 2u);
    EXPECT_EQ(trace.totals()[Counter::ThreadEvents], 4u);
}

TEST_F(WarpTraceTest, CountsEachSectorOfABufferOnce) {
    for (int round = 0; round < 3; ++round) {
        for (unsigned lane = 0; lane < 32; ++lane)
            load(lane, 0x10, lane * 4);
        trace.drain(*events, warp, 0);
    }
    EXPECT_EQ(trace.totals()[Counter::GlobalLoadSectors], 12u);
    EXPECT_EQ(trace.totals()[Counter::UniqueBytesLoaded], 128u);
}

TEST_F(WarpTraceTest, LoopsAreNoDivergenceWhileLanesStayTogether) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 5; ++i)
            block(lane, 0x10);
        block(lane, 0x20);
    }
    trace.drain(*events, warp, 0);
    EXPECT_EQ(trace.totals()[Counter::BranchTargets], 5u);
    EXPECT_EQ(trace.totals()[Counter::BranchTargetsDivergent], 0u);
}

} // namespace
} // namespace kernelskill::engine::emulator

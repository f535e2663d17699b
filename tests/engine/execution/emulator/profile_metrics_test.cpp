#include "engine/execution/emulator/profile_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

TEST(ProfileMetrics, UsesTheNamesOfNsightCompute) {
    Counters counters;
    counters[Counter::GlobalLoadRequests] = 10;
    counters[Counter::GlobalLoadSectors] = 320;
    counters[Counter::GlobalLoadBytes] = 1280;
    const Metrics metrics = namedMetrics(counters);
    EXPECT_THAT(metrics, Contains(Pair("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 10)));
    EXPECT_THAT(metrics, Contains(Pair("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 320)));
    EXPECT_THAT(
        metrics,
        Contains(Pair("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 32)));
    EXPECT_THAT(
        metrics,
        Contains(Pair("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 12.5)));
}

TEST(ProfileMetrics, LeavesOutWhatNeverHappened) {
    EXPECT_TRUE(namedMetrics(Counters{}).empty());
}

TEST(ProfileMetrics, SaysThatSharedLoadsDoNotConflict) {
    Counters counters;
    counters[Counter::SharedLoadRequests] = 4;
    counters[Counter::SharedLoadWavefronts] = 4;
    const Metrics metrics = namedMetrics(counters);
    EXPECT_THAT(metrics,
                Contains(Pair("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0)));
    EXPECT_THAT(metrics,
                Not(Contains(Key("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"))));
}

TEST(ProfileMetrics, GivesTheShareOfUniformBranches) {
    Counters counters;
    counters[Counter::BranchTargets] = 40;
    counters[Counter::BranchTargetsDivergent] = 10;
    EXPECT_THAT(namedMetrics(counters),
                Contains(Pair("smsp__sass_average_branch_targets_threads_uniform.pct", 75)));
}

} // namespace
} // namespace kernelskill::engine::emulator

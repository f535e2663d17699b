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

TEST(ProfileMetrics, SetsBytesAskedForAgainstBytesMovedAndTouched) {
    Counters counters;
    counters[Counter::GlobalLoadRequests] = 10;
    counters[Counter::GlobalLoadSectors] = 40;
    counters[Counter::GlobalLoadBytes] = 1280;
    counters[Counter::UniqueBytesLoaded] = 320;
    const Metrics metrics = namedMetrics(counters);
    EXPECT_THAT(metrics, Contains(Pair("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", 1280)));
    EXPECT_THAT(metrics, Contains(Pair("kernelskill__global_reuse_ld.ratio", 4)));
}

TEST(ProfileMetrics, SaysHowOftenLanesOfAnAtomicTakeTurns) {
    Counters counters;
    counters[Counter::GlobalAtomicRequests] = 2;
    counters[Counter::SharedAtomicRequests] = 2;
    counters[Counter::AtomicLanes] = 128;
    counters[Counter::AtomicSerializations] = 34;
    EXPECT_THAT(namedMetrics(counters),
                Contains(Pair("kernelskill__atomic_rounds_per_request.ratio", 8.5)));
}

TEST(ProfileMetrics, CountsAFusedOperationAsTwo) {
    Counters counters;
    counters[Counter::SingleAdds] = 1;
    counters[Counter::SingleFused] = 10;
    counters[Counter::DoubleMultiplies] = 100;
    counters[Counter::DoubleFused] = 1000;
    counters[Counter::HalfFused] = 7;
    counters[Counter::HalfOperations] = 28;
    counters[Counter::GlobalLoadSectors] = 10;
    counters[Counter::GlobalStoreSectors] = 2;
    counters[Counter::GlobalAtomicSectors] = 4;
    counters[Counter::UniqueBytesLoaded] = 64;
    const Metrics metrics = namedMetrics(counters);
    const double operations = 1 + 20 + 100 + 2000 + 28;
    EXPECT_THAT(metrics, Contains(Pair("kernelskill__floating_point_operations.sum", operations)));
    EXPECT_THAT(metrics,
                Contains(Pair("kernelskill__operations_per_unique_byte.ratio", operations / 64)));
    EXPECT_THAT(metrics, Contains(Pair("kernelskill__operations_per_sector_byte.ratio",
                                       operations / (16 * 32))));
    EXPECT_THAT(metrics, Contains(Pair("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 7)));
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

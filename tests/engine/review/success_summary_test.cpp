#include "engine/review/success_summary.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(SuccessSummary, CountsInputsAndSizes) {
    EXPECT_EQ(summaryOfSuccess({}, {5, 3, 0}, {}),
              "Matches the original on 5 fresh inputs of 3 sizes.");
    EXPECT_EQ(summaryOfSuccess({}, {3, 1, 0}, {"n cannot be resized"}),
              "Matches the original on 3 fresh inputs of 1 size; n cannot be resized.");
    EXPECT_EQ(summaryOfSuccess({}, {1, 1, 0}, {}),
              "Matches the original on 1 fresh input of 1 size.");
    EXPECT_EQ(summaryOfSuccess({}, {5, 3, 40}, {}),
              "Matches the original on 5 fresh inputs of 3 sizes, and on 40 probes.");
}

TEST(SuccessSummary, AddsLoadsAndStoresAndLeavesOutWhatDidNotChange) {
    Verdict verdict;
    verdict.before = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 30},
                      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 10},
                      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1000},
                      {"kernelskill__barriers.sum", 8}};
    verdict.after = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 8},
                     {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 2},
                     {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1001},
                     {"kernelskill__barriers.sum", 3}};
    EXPECT_EQ(summaryOfSuccess(verdict, {5, 3, 0}, {}),
              "Matches the original on 5 fresh inputs of 3 sizes; global requests 40 -> 10, "
              "barriers 8 -> 3.");
}

} // namespace
} // namespace kernelskill::engine

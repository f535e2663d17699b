#include "engine/execution/metric_names.h"
#include "engine/static_facts/local_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Metrics metricsOf(const StaticFacts& facts) {
    Metrics metrics;
    addLocalMemory(metrics, facts);
    return metrics;
}

TEST(LocalMemory, IsZeroWhereTheCompilerPutNothingThere) {
    EXPECT_THAT(metricsOf({}), UnorderedElementsAre(Pair("smsp__inst_executed_op_local_ld.sum", 0),
                                                    Pair("smsp__inst_executed_op_local_st.sum", 0),
                                                    Pair(metric::localLoadSectors, 0),
                                                    Pair(metric::localStoreSectors, 0)));
    EXPECT_EQ(describeLocalMemory({}), "none");
}

TEST(LocalMemory, IsNotGuessedFromAStackOrSpills) {
    StaticFacts stack;
    stack.stackBytes = 64;
    EXPECT_THAT(metricsOf(stack), IsEmpty());
    EXPECT_EQ(describeLocalMemory(stack), "not counted: 64 bytes of stack a thread, no spills");
    StaticFacts spills;
    spills.stackBytes = 16;
    spills.spillStoreBytes = 24;
    spills.spillLoadBytes = 32;
    EXPECT_THAT(metricsOf(spills), IsEmpty());
    EXPECT_EQ(describeLocalMemory(spills), "not counted: 16 bytes of stack a thread, spills of 24 "
                                           "bytes stored and 32 loaded");
}

TEST(LocalMemory, IsNotKnownWhereTheFactsLeaveSomethingOut) {
    StaticFacts facts;
    facts.notes = {"functions that were not inlined spill a further 8 bytes"};
    EXPECT_THAT(metricsOf(facts), IsEmpty());
}

TEST(LocalMemory, LeavesWhatWasMeasured) {
    Metrics metrics{{metric::localLoads, 12}};
    addLocalMemory(metrics, {});
    EXPECT_EQ(metrics.at(metric::localLoads), 12);
}

} // namespace
} // namespace kernelskill::engine

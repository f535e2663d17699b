/// Fused programs against the programs that they are made of: the same operations in the same
/// order, so the same numbers.
#include "analysis/raise/cost.h"
#include "analysis/raise/fusion.h"
#include "analysis/raise/uses.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/lowering/small_tasks.h"
#include "tests/engine/graph/sample_programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace kernelskill::engine::graph::testing {
namespace {

namespace raise = analysis::raise;

std::size_t computationsIn(const raise::Program& program) {
    std::size_t count = 0;
    for (const raise::Step& step : program.steps)
        count += std::holds_alternative<raise::Computation>(step) ? 1 : 0;
    return count;
}

double bytesWritten(const raise::Program& program) {
    double bytes = 0;
    for (const raise::Step& step : program.steps)
        for (const raise::BufferId buffer : raise::writesOf(step))
            bytes += raise::estimatedBytes(program.buffers[buffer]);
    return bytes;
}

bool isSame(double one, double other) {
    return one == other || (std::isnan(one) && std::isnan(other));
}

/// Compares the outputs; false, with the reason in `whyNot`, if the task cannot be run.
bool runsTheSame(const SmallTask& task, const std::string& name, std::string& whyNot) {
    const raise::InterpreterOptions options{.maxElements = 3'000'000};
    const raise::Program fused = raise::fused(task.raised.program);
    raise::Memory before = task.memory;
    const auto done = raise::interpret(task.raised.program, before, options);
    if (!done) {
        whyNot = done.error();
        return false;
    }
    raise::Memory after = task.memory;
    const auto fusedDone = raise::interpret(fused, after, options);
    EXPECT_TRUE(fusedDone) << name << ": " << fusedDone.error() << "\n" << textOf(fused);
    for (const auto& output : task.raised.outputs) {
        if (!output || !fusedDone)
            continue;
        for (std::size_t i = 0; i < before[*output].size(); ++i)
            if (!isSame(before[*output][i], after[*output][i])) {
                ADD_FAILURE() << name << ": element " << i << " is " << after[*output][i]
                              << ", not " << before[*output][i] << "\n"
                              << textOf(task.raised.program) << "\n"
                              << textOf(fused);
                return true;
            }
    }
    EXPECT_LE(computationsIn(fused), computationsIn(task.raised.program)) << name;
    EXPECT_LE(bytesWritten(fused), bytesWritten(task.raised.program)) << name;
    return true;
}

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks.
TEST(FusedTasks, ComputeTheSameOnSmallTensors) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    std::size_t compared = 0;
    for (const auto& archive : archivesIn(folder)) {
        const auto graph = readProgram(archive);
        ASSERT_TRUE(graph) << graph.error().describe();
        const std::string name = archive.filename().string();
        const auto task = smallTask(*graph, 3);
        std::string why = task ? "" : task.error();
        if (task && runsTheSame(*task, name, why))
            ++compared;
        else
            std::cout << name << " is not compared: " << why << std::endl;
    }
    std::cout << compared << " compared\n";
    EXPECT_GE(compared, 40U);
}

TEST(FusedTasks, ComputeTheSameAsSamples) {
    for (const char* name : {"mlp", "conv", "attention", "bf16-product"}) {
        const auto graph = readProgram(sampleProgram(name).archive);
        ASSERT_TRUE(graph) << graph.error().describe();
        const auto task = seededTask(*graph, 5);
        ASSERT_TRUE(task) << task.error();
        std::string why;
        EXPECT_TRUE(runsTheSame(*task, name, why)) << why;
    }
}

} // namespace
} // namespace kernelskill::engine::graph::testing

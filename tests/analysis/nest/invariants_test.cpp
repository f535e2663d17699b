// Checks invariants of nests on all kernels of the repository.
#include "analysis/nest/dependences.h"
#include "analysis/nest/nest_text.h"
#include "analysis/nest/understanding.h"
#include "tests/analysis/support/analyze.h"
#include "tests/file_parameters.h"
#include "tests/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::analysis::testing {
namespace {

std::vector<std::filesystem::path> kernelFiles() {
    return kernelskill::testing::cudaFiles(
        sourceDirectory(), {"tests/corpus", "tests/nest/kernels", "tests/nest/hard", "examples"});
}

void expectWellFormed(const Nest& nest, const FileModel& model, const KernelModel& kernel) {
    std::size_t listed = nest.roots.size();
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
        const NestNode& node = nest.nodes[id];
        listed += node.children.size();
        if (node.parent != noId) {
            EXPECT_LT(node.parent, id);
            EXPECT_EQ(std::ranges::count(nest.node(node.parent).children, id), 1);
        }
        ASSERT_LT(node.frame, nest.frames.size());
        const KernelModel& function = functionOf(model, kernel, nest.frames[node.frame]);
        EXPECT_LE(node.span.begin, node.span.end);
        if (node.statement != noId) {
            EXPECT_LT(node.statement, function.body.stmts.size());
        }
        if (const NestStatement* statement = node.computation())
            for (const NestAccessId access : statement->accesses) {
                ASSERT_LT(access, nest.accesses.size());
                EXPECT_EQ(nest.accesses[access].node, id);
            }
        if (node.computation() != nullptr || node.barrier() != nullptr) {
            EXPECT_TRUE(node.children.empty());
        }
    }
    EXPECT_EQ(listed, nest.nodes.size()); // Each in one place.
    for (const NestAccess& access : nest.accesses) {
        if (access.node == noId)
            continue;
        EXPECT_EQ(access.form == NestAccessForm::Affine, access.reason.empty());
        if (access.form != NestAccessForm::Opaque) {
            ASSERT_LT(access.array, nest.arrays.size());
            EXPECT_TRUE(access.index.has_value());
            EXPECT_EQ(access.subscripts.empty(), nest.arrays[access.array].isVariable);
        }
    }
}

class NestOf : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(NestOf, IsWellFormedAndTheSameEachTime) {
    const FileModel model = analyze(readFile(GetParam()), GetParam());
    for (const KernelModel& kernel : model.kernels) {
        SCOPED_TRACE(kernel.name);
        const Nest nest = buildNest(model, kernel);
        expectWellFormed(nest, model, kernel);
        const std::string text = nestText(nest, model, kernel);
        EXPECT_EQ(text, nestText(buildNest(model, kernel), model, kernel));
        Polyhedra first;
        Polyhedra second;
        EXPECT_EQ(dependencesText(nest, dependencesOf(nest, first)),
                  dependencesText(nest, dependencesOf(nest, second)));
    }
}

INSTANTIATE_TEST_SUITE_P(Files, NestOf, ::testing::ValuesIn(sampleOf(kernelFiles(), 2)),
                         kernelskill::testing::fileTestName);

TEST(NestCorpus, HotLoopsOfNaiveExamplesAreUnderstood) {
    for (const auto& file : kernelFiles()) {
        if (file.parent_path().filename() != "naive")
            continue;
        const FileModel model = analyze(readFile(file), file);
        for (const KernelModel& kernel : model.kernels)
            EXPECT_EQ(understandingOf(buildNest(model, kernel)).hotOpaque, 0U) << kernel.name;
    }
}

} // namespace
} // namespace kernelskill::analysis::testing

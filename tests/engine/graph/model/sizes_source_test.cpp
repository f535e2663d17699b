/// Compiles the text of generated models and runs what it says of extents.
#include "engine/graph/model/model_files.h"
#include "tests/engine/graph/dynamic_programs.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The declarations of CUDA that the host's part of a model uses.
constexpr const char* cudaRuntime = R"(
#pragma once
#include <cstddef>
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
using cudaStream_t = void*;
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice };
inline cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) { return cudaSuccess; }
)";

std::string contentsOf(const std::filesystem::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class ModelSizes : public ::testing::Test {
protected:
    /// The output of a program with the model's host code and these statements, line by line.
    std::vector<std::string> said(const Program& program, const std::string& statements) {
        const auto plan = plannedModel(program, "model", {});
        EXPECT_TRUE(plan) << plan.error().describe();
        if (!plan)
            return {};
        const std::filesystem::path model = folder_.path() / "model";
        EXPECT_TRUE(writeModel(modelFiles(*plan), model));
        std::ofstream(model / "cuda_runtime.h") << cudaRuntime;
        std::ofstream(model / "main.cpp")
            << "#include \"model.cpp\"\n#include \"model_abi.cpp\"\n#include "
               "\"launchers.h\"\n#include <iostream>\n"
               "int main()\n{\n"
            << statements << "}\n";
        // Kernels that do nothing.
        std::string launchers = contentsOf(model / "kernels.h");
        const std::string end = "stream);";
        for (std::size_t at = launchers.find(end); at != std::string::npos;
             at = launchers.find(end, at + end.size()))
            launchers.replace(at, end.size(), "stream) { (void)stream; return cudaSuccess; }");
        std::ofstream(model / "launchers.h") << launchers;
        const std::string command = "cd " + model.string() +
                                    " && c++ -std=c++17 -Wall -Werror -I. main.cpp -o main "
                                    "2>errors && ./main >said";
        EXPECT_EQ(std::system(command.c_str()), 0) // NOLINT: a test's own words
            << contentsOf(model / "errors");
        std::vector<std::string> lines;
        std::ifstream stream(model / "said");
        for (std::string line; std::getline(stream, line);)
            lines.push_back(line);
        return lines;
    }

    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(ModelSizes, FollowFromTheInputs) {
    EXPECT_THAT(said(pairsOfRows(), R"(
    Model::Sizes sizes;
    Model::Shapes shapes;
    shapes.x[0] = 22;
    shapes.x[1] = 12;
    std::cout << Model::sizesOf(shapes, sizes) << "|" << sizes.s0 << std::endl;
    shapes.x[0] = 23;
    std::cout << Model::sizesOf(shapes, sizes) << std::endl;
    shapes.x[0] = 1002;
    std::cout << Model::sizesOf(shapes, sizes) << std::endl;
    shapes.x[0] = 0;
    std::cout << Model::sizesOf(shapes, sizes) << std::endl;
    shapes.x[0] = 22;
    shapes.x[1] = 13;
    std::cout << Model::sizesOf(shapes, sizes) << std::endl;
)"),
                ElementsAre("|11", "the input x has the extent 23 at axis 0, and not 2*s0 = 22",
                            "s0, the extent 0 of x / 2, is 501, and the model takes 1 ... 500",
                            "s0, the extent 0 of x / 2, is 0, and the model takes 1 ... 500",
                            "the input x has the extent 13 at axis 1, and not 12"));
}

TEST_F(ModelSizes, AreTheSameInAllInputs) {
    EXPECT_THAT(said(productOfAnySize(), R"(
    Model::Sizes sizes;
    const Model::Shapes good{{2, 18, 11}, {2, 11, 21}};
    std::cout << Model::sizesOf(good, sizes) << "|" << sizes.s3 << std::endl;
    const Model::Shapes bad{{2, 18, 11}, {2, 12, 21}};
    std::cout << Model::sizesOf(bad, sizes) << std::endl;
)"),
                ElementsAre("|21", "the input y has the extent 12 at axis 1, and not s2 = 11"));
}

TEST_F(ModelSizes, MeetWhatTheProgramAsserts) {
    EXPECT_THAT(said(assertedLengths(), R"(
    std::cout << Model::problemOf({5, 8}) << std::endl << Model::problemOf({9, 8}) << std::endl;
    const Model model({}, nullptr);
    std::cout << (model.forward({}, {}, nullptr, {9, 8}, nullptr) == cudaErrorInvalidValue) << std::endl;
)"),
                ElementsAre("", "s0 <= s1 does not hold", "1"));
}

TEST_F(ModelSizes, AreGivenByTheInterfaceOfC) {
    EXPECT_THAT(said(differencesOfNeighbours(), R"(
    int64_t x[] = {4, 9};
    int64_t y[] = {4, 10};
    const int64_t* extents[] = {x, y};
    int64_t sizes[1] = {};
    char why[80] = "untouched";
    std::cout << kernelskillModelSizes(extents, sizes, why, sizeof why) << " " << sizes[0] << " '" << why << "'" << std::endl;
    y[1] = 9;
    std::cout << kernelskillModelSizes(extents, sizes, why, sizeof why) << " '" << why << "'" << std::endl;
    std::cout << kernelskillModelSizes(extents, sizes, why, 10) << " '" << why << "'" << std::endl;
    std::cout << kernelskillModelSizes(extents, sizes, nullptr, 0) << std::endl;
)"),
                ElementsAre("0 9 ''",
                            "1 'the input y has the extent 9 at axis 1, and not s0 + 1 = 10'",
                            "1 'the input'", "1"));
}

TEST_F(ModelSizes, SizeTheWorkspace) {
    // The sizes of shapes that are quotients follow as well.
    const auto lines = said(imagesOfAnySize(), R"(
    std::cout << Model::workspaceBytes({1, 8}) << std::endl << Model::workspaceBytes({4, 64}) << std::endl;
)");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_LT(std::stoll(lines[0]), std::stoll(lines[1]));
}

TEST(ModelWithoutSymbols, HasNoSizes) {
    ProgramBuilder builder;
    builder.input("x", {4})
        .node("y", "aten.relu.default", {value("self", "x")})
        .type("y", {4})
        .output("y");
    const auto plan = plannedModel(builder.program(), "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    for (const auto& [path, text] : modelFiles(*plan))
        EXPECT_THAT(text, AllOf(Not(HasSubstr("problemOf")), Not(HasSubstr("Shapes")),
                                Not(HasSubstr("kernelskillModelSizes"))))
            << path;
}

TEST(ModelWithSymbols, SaysWhatItTakes) {
    const auto plan = plannedModel(pairsOfRows(), "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    const ModelFiles files = modelFiles(*plan);
    EXPECT_THAT(files.at("model.h"),
                HasSubstr("long long s0 = 0; ///< 1 ... 500: extent 0 of x / 2"));
    EXPECT_THAT(files.at("model.h"), HasSubstr("long long x[2] = {}; ///< [2*s0, 12]"));
    EXPECT_THAT(files.at("torch_operator.cpp"), HasSubstr("Model::sizesOf(givenShapes, sizes)"));
}

TEST(ModelWithSymbols, LaunchesNoMoreThanAGridHas) {
    const auto plan = plannedModel(flattenedRows(), "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    const auto fixed = plannedModel(rowsOfPerceptron(), "model", {});
    ASSERT_TRUE(fixed) << fixed.error().describe();
    const auto refuses = [](const ModelPlan& model) {
        for (const auto& [path, text] : modelFiles(model))
            if (text.contains("cudaErrorInvalidConfiguration"))
                return true;
        return false;
    };
    EXPECT_TRUE(refuses(*plan)) << "its rows have none";
    EXPECT_FALSE(refuses(*fixed)) << "its rows have a bound";
}

} // namespace
} // namespace kernelskill::engine::graph::testing

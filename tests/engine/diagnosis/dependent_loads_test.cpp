#include "engine/diagnosis/dependent_loads.h"
#include "engine/diagnosis/host_loops.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

/// Texts of the dependent loads of a kernel with this body.
std::vector<std::string> dependentLoadsOf(const std::string& body) {
    const std::string text = "struct Node { int key; Node* next; };\n"
                             "__global__ void k(const int* a, const float* x, const Node* node,\n"
                             "                  int* out, int n, int key) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                             body + "\n}\n";
    const auto model = parsedProgram(text);
    EXPECT_TRUE(model.diagnostics.empty()) << model.diagnostics.front().message;
    std::vector<std::string> texts;
    for (const auto& load : dependentLoads(model.kernels.front())) {
        const auto span = model.kernels.front().body.expr(load.access).span;
        texts.push_back(text.substr(span.begin, span.size()));
    }
    return texts;
}

using Texts = std::vector<std::string>;

TEST(DependentLoads, AreThoseWhoseAddressIsTheLastLoad) {
    EXPECT_EQ(dependentLoadsOf("for (int s = 0; s < n; ++s) i = a[i];\nout[0] = i;"),
              Texts{"a[i]"});
    EXPECT_EQ(dependentLoadsOf("while (i != key) { int j = i * 2; i = a[j] & 7; }\nout[0] = i;"),
              Texts{"a[j]"});
}

TEST(DependentLoads, OfAListAreItsLinks) {
    EXPECT_EQ(dependentLoadsOf("while (node) node = node->next;\nout[i] = node == nullptr;"),
              Texts{"node->next"});
}

TEST(DependentLoads, OfABinarySearchAreItsProbes) {
    EXPECT_EQ(dependentLoadsOf("int low = 0, high = n;\n"
                               "while (low < high) {\n"
                               "    int middle = (low + high) / 2;\n"
                               "    if (a[middle] < key) low = middle + 1; else high = middle;\n"
                               "}\nout[i] = low;"),
              Texts{"a[middle]"});
}

TEST(DependentLoads, AreNotThoseThatOnlyAddUp) {
    EXPECT_EQ(dependentLoadsOf("float sum = 0;\n"
                               "for (int j = i; j < n; j += 32) sum += x[j];\nout[i] = sum;"),
              Texts{});
    EXPECT_EQ(dependentLoadsOf("float sum = 0;\n"
                               "for (int j = a[i]; j < a[i + 1]; ++j) sum += x[a[j]];\n"
                               "out[i] = sum;"),
              Texts{});
    EXPECT_EQ(dependentLoadsOf("float best = 0; int at = 0;\n"
                               "for (int j = i; j < n; ++j)\n"
                               "    if (x[j] > best) { best = x[j]; at = j; }\nout[i] = at;"),
              Texts{});
    EXPECT_EQ(dependentLoadsOf("out[i] = a[a[i]];"), Texts{});
}

TEST(DependentLoads, OfSharedMemoryAreFast) {
    EXPECT_EQ(dependentLoadsOf("__shared__ int s[32];\ns[threadIdx.x] = a[i];\n__syncthreads();\n"
                               "for (int j = 0; j < n; ++j) i = s[i];\nout[0] = i;"),
              Texts{});
}

std::vector<std::optional<std::int64_t>> launchesOf(const std::string& host) {
    const auto model =
        parsedProgram("__global__ void step(float* x) { x[threadIdx.x] += 1; }\n" + host);
    std::vector<std::optional<std::int64_t>> launches;
    for (const auto& launch : repeatedLaunches(model, model.kernels.front()))
        launches.push_back(launch.launches);
    return launches;
}

using Launches = std::vector<std::optional<std::int64_t>>;

TEST(RepeatedLaunches, AreCountedWhereTheTextTells) {
    EXPECT_EQ(launchesOf("void run(float* x) {\n"
                         "    for (int i = 0; i < 100; ++i) step<<<1, 32>>>(x);\n}\n"),
              Launches{100});
    EXPECT_EQ(launchesOf("void run(float* x) {\n"
                         "    const int steps = 20;\n"
                         "    for (int t = 0; t < steps; t++)\n"
                         "        for (int i = 1; i <= 3; ++i) { step<<<1, 32>>>(x); }\n}\n"),
              Launches{60});
}

TEST(RepeatedLaunches, AreSomeWhereItDoesNot) {
    EXPECT_EQ(launchesOf("void run(float* x, int n) {\n"
                         "    for (int i = 0; i < n; ++i) step<<<1, 32>>>(x);\n}\n"),
              Launches{std::nullopt});
    EXPECT_EQ(launchesOf("void run(float* x, int n) {\n"
                         "    while (n > 1) { step<<<1, 32>>>(x); n /= 2; }\n}\n"),
              Launches{std::nullopt});
}

TEST(RepeatedLaunches, AreNoneOutsideOfLoops) {
    EXPECT_EQ(launchesOf("void run(float* x, int n) {\n"
                         "    for (int i = 0; i < n; ++i) x += i;\n"
                         "    if (n) step<<<1, 32>>>(x);\n}\n"),
              Launches{});
}

} // namespace
} // namespace kernelskill::engine

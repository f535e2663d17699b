// One computation written in three styles is one nest: tests/nest/kernels holds a file for each.
#include "analysis/nest/nest_text.h"
#include "analysis/nest/understanding.h"
#include "tests/analysis/nest/access_signature.h"
#include "tests/analysis/support/analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>

namespace kernelskill::analysis::testing {
namespace {

std::vector<std::filesystem::path> computations() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(sourceDirectory() / "tests/nest/kernels"))
        files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

TEST(NestStyles, EachComputationHasThreeStyles) {
    const auto files = computations();
    EXPECT_GE(files.size(), 20U);
    for (const auto& file : files) {
        const FileModel model = analyze(readFile(file), file);
        EXPECT_TRUE(errorsOf(model).empty()) << file;
        EXPECT_EQ(model.kernels.size(), 3U) << file;
    }
}

TEST(NestStyles, NineOfTenKernelsAreUnderstoodInTheirHotLoop) {
    std::size_t kernels = 0;
    std::size_t understood = 0;
    for (const auto& file : computations()) {
        const FileModel model = analyze(readFile(file), file);
        for (const KernelModel& kernel : model.kernels) {
            const Nest nest = buildNest(model, kernel);
            const NestUnderstanding found = understandingOf(nest);
            EXPECT_GT(found.hot, 0U) << kernel.name;
            ++kernels;
            if (found.hotOpaque == 0)
                ++understood;
            else
                std::cout << kernel.name << "\n" << nestText(nest, model, kernel);
        }
    }
    RecordProperty("kernels", static_cast<int>(kernels));
    RecordProperty("understood", static_cast<int>(understood));
    EXPECT_GE(kernels, 60U);
    EXPECT_GE(understood * 10, kernels * 9);
}

TEST(NestStyles, BuildingIsCheap) {
    // The fastest of some builds: what else the machine does is no cost of the nest's.
    std::chrono::duration<double, std::micro> total{0};
    std::size_t kernels = 0;
    for (const auto& file : computations()) {
        const FileModel model = analyze(readFile(file), file);
        for (const KernelModel& kernel : model.kernels) {
            auto best = std::chrono::duration<double, std::micro>::max();
            for (int i = 0; i < 5; ++i) {
                const auto begin = std::chrono::steady_clock::now();
                EXPECT_FALSE(buildNest(model, kernel).nodes.empty());
                best = std::min<decltype(best)>(best, std::chrono::steady_clock::now() - begin);
            }
            total += best;
            ++kernels;
        }
    }
    const double mean = total.count() / static_cast<double>(kernels);
    RecordProperty("microseconds", static_cast<int>(mean));
    constexpr double allowed = 10'000; // With sanitizers, on a slow machine.
    EXPECT_LT(mean, allowed);
}

class NestStylesOf : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(NestStylesOf, AccessTheSame) {
    const FileModel model = analyze(readFile(GetParam()), GetParam());
    ASSERT_FALSE(model.kernels.empty());
    const Nest first = buildNest(model, model.kernels.front());
    const AccessSignature wanted = signatureOf(first);
    EXPECT_FALSE(wanted.entries.empty());
    for (const KernelModel& kernel : model.kernels) {
        const Nest nest = buildNest(model, kernel);
        const AccessSignature found = signatureOf(nest);
        EXPECT_TRUE(areSame(wanted, found))
            << "wanted:\n"
            << signatureText(wanted) << "found in " << kernel.name << ":\n"
            << signatureText(found) << nestText(nest, model, kernel);
    }
}

INSTANTIATE_TEST_SUITE_P(Nest, NestStylesOf, ::testing::ValuesIn(computations()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(NestSignature, TellsAccessesApart) {
    const auto signature = [](const char* body) {
        const FileModel model = analyze(std::string("__global__ void k(const float* x, float* y, "
                                                    "int m, int n) {\n") +
                                        body + "\n}\n");
        return signatureOf(buildNest(model, model.kernels.at(0)));
    };
    const auto plain =
        signature("int i = threadIdx.x, j = threadIdx.y; y[i * n + j] = x[i * n + j];");
    EXPECT_TRUE(areSame(
        plain, signature("int i = threadIdx.y, j = blockIdx.x; y[i * n + j] = x[j + n * i];")));
    for (const char* other : {"int i = threadIdx.x, j = threadIdx.y; y[i * n + j] = x[j * n + i];",
                              "int i = threadIdx.x, j = threadIdx.y; y[i * n + j] = x[i * m + j];",
                              "int i = threadIdx.x, j = threadIdx.y; y[i * n + j] += x[i * n + j];",
                              "int i = threadIdx.x; y[i * n + i] = x[i * n + i];"})
        EXPECT_FALSE(areSame(plain, signature(other))) << other;
}

} // namespace
} // namespace kernelskill::analysis::testing

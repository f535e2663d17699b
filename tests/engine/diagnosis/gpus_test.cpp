#include "engine/diagnosis/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;

const std::vector<Gpu>& gpus() {
    static const std::vector<Gpu> none;
    EXPECT_TRUE(builtinGpus()) << builtinGpus().error().describe();
    return builtinGpus() ? *builtinGpus() : none;
}

TEST(BuiltinGpus, HoldThoseInUse) {
    for (const auto* name : {"V100", "T4", "A100-40GB", "A100-80GB", "A10", "L4", "RTX 3090",
                             "RTX 4090", "RTX 5090", "H100", "H100-PCIe", "H200", "B200"})
        EXPECT_NE(gpuNamed(gpus(), name), nullptr) << name;
}

/// CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions": multiply-adds a
/// clock and multiprocessor. A figure that was mistyped does not fit the others.
TEST(BuiltinGpus, HavePeaksThatFollowFromTheirClocks) {
    const std::map<analysis::ComputeCapability, std::pair<double, double>> multiplyAdds = {
        {{7, 0}, {64, 32}}, {{7, 5}, {64, 2}},   {{8, 0}, {64, 32}},   {{8, 6}, {128, 2}},
        {{8, 9}, {128, 2}}, {{9, 0}, {128, 64}}, {{10, 0}, {128, 64}}, {{12, 0}, {128, 2}},
    };
    for (const auto& gpu : gpus()) {
        ASSERT_TRUE(multiplyAdds.contains(gpu.capability)) << gpu.name;
        const auto [single, dbl] = multiplyAdds.at(gpu.capability);
        const double clocks = 2 * gpu.multiprocessors * gpu.boostHertz;
        EXPECT_NEAR(gpu.singleFlops / (clocks * single), 1, 0.01) << gpu.name;
        EXPECT_NEAR(gpu.doubleFlops / (clocks * dbl), 1, 0.02) << gpu.name;
        EXPECT_GT(gpu.tensorFlops, 1.9 * gpu.singleFlops) << gpu.name;
        const double balance = gpu.singleFlops / gpu.memoryBytesPerSecond;
        EXPECT_GT(balance, 5) << gpu.name;
        EXPECT_LT(balance, 110) << gpu.name;
        EXPECT_GE(gpu.cacheBytes, 4 << 20) << gpu.name;
        EXPECT_LE(gpu.cacheBytes, 128 << 20) << gpu.name;
        EXPECT_EQ(gpu.sources.size(), gpu.measured ? 10U : 8U) << gpu.name;
    }
}

TEST(BuiltinGpus, ReachNoMoreThanTheirPeaks) {
    ASSERT_TRUE(gpuNamed(gpus(), "H200")->measured);
    for (const auto& gpu : gpus()) {
        if (!gpu.measured)
            continue;
        EXPECT_LT(gpu.measured->singleFlops, gpu.singleFlops) << gpu.name;
        EXPECT_LT(gpu.measured->copyBytesPerSecond, gpu.memoryBytesPerSecond) << gpu.name;
        EXPECT_TRUE(gpu.sources.contains("measured.fp32_flops")) << gpu.name;
    }
}

TEST(NameOfAGpu, TakesTheArticleThatItSoundsLike) {
    EXPECT_EQ(withArticle(*gpuNamed(gpus(), "H200")), "an H200");
    EXPECT_EQ(withArticle(*gpuNamed(gpus(), "RTX 4090")), "an RTX 4090");
    EXPECT_EQ(withArticle(*gpuNamed(gpus(), "V100")), "a V100");
    EXPECT_EQ(withArticle(*gpuNamed(gpus(), "B200")), "a B200");
}

TEST(BalanceOfAGpu, IsOfWhatWasMeasuredElseOfThePeaks) {
    Gpu gpu;
    gpu.singleFlops = 60e12;
    gpu.doubleFlops = 30e12;
    gpu.memoryBytesPerSecond = 4e12;
    EXPECT_DOUBLE_EQ(singleBalance(gpu).operationsPerByte, 15);
    EXPECT_FALSE(singleBalance(gpu).isMeasured);
    gpu.measured = KnownCeilings{3e12, 36e12};
    EXPECT_DOUBLE_EQ(singleBalance(gpu).operationsPerByte, 12);
    EXPECT_TRUE(singleBalance(gpu).isMeasured);
    EXPECT_DOUBLE_EQ(doubleBalance(gpu).operationsPerByte, 7.5);
    EXPECT_FALSE(doubleBalance(gpu).isMeasured);
}

TEST(GpuNamed, ReadsUsersAndDriversNames) {
    const auto name = [](std::string_view text) {
        const auto* gpu = gpuNamed(gpus(), text);
        return gpu == nullptr ? std::string("none") : gpu->name;
    };
    EXPECT_EQ(name("h200"), "H200");
    EXPECT_EQ(name("NVIDIA H200"), "H200");
    EXPECT_EQ(name("NVIDIA H100 PCIe"), "H100-PCIe");
    EXPECT_EQ(name("h100"), "H100");
    EXPECT_EQ(name("rtx4090"), "RTX 4090");
    EXPECT_EQ(name("NVIDIA GeForce RTX 5090"), "RTX 5090");
    EXPECT_EQ(name("Tesla T4"), "T4");
    EXPECT_EQ(name("A100-SXM4-80GB"), "A100-80GB");
    EXPECT_EQ(name("a100"), "A100-40GB");
    EXPECT_EQ(name("A10"), "A10");
    EXPECT_EQ(name("MI300X"), "none");
    EXPECT_EQ(name("NVIDIA"), "none");
}

TEST(ParseGpuTable, NamesTheLineThatIsWrong) {
    const std::string good = "sources: {a: \"b\"}\n"
                             "gpus:\n"
                             "  - name: X\n"
                             "    product: X\n"
                             "    compute_capability: {value: \"9.0\", source: a}\n"
                             "    multiprocessors: {value: 1, source: a}\n"
                             "    boost_hertz: {value: 1e9, source: a}\n"
                             "    fp32_flops: {value: 1e12, source: a}\n"
                             "    fp64_flops: {value: 1e12, source: a}\n"
                             "    tensor_flops: {value: 1e12, source: a}\n"
                             "    memory_bytes_per_second: {value: 1e12, source: a}\n"
                             "    l2_bytes: {value: 1024, source: a}\n";
    ASSERT_TRUE(parseGpuTable(good)) << parseGpuTable(good).error().describe();
    const auto errorWith = [&](const std::string& from, const std::string& to) {
        auto text = good;
        text.replace(text.find(from), from.size(), to);
        const auto parsed = parseGpuTable(text);
        EXPECT_FALSE(parsed) << to;
        return parsed ? std::string{} : parsed.error().describe();
    };
    EXPECT_THAT(errorWith("1e9, source: a", "1e9"), HasSubstr("gpus.yaml:7"));
    EXPECT_THAT(errorWith("1e9, source: a", "1e9, source: hearsay"), HasSubstr("no source"));
    EXPECT_THAT(errorWith("value: 1e9", "value: -1"), HasSubstr("not positive"));
    EXPECT_THAT(errorWith("\"9.0\"", "\"3.5\""), HasSubstr("capability"));
    EXPECT_THAT(errorWith("    l2_bytes: {value: 1024, source: a}\n", ""), HasSubstr("l2_bytes"));
    EXPECT_THAT(errorWith("value: 1024", "value: many"), HasSubstr("gpus.yaml:12"));
    const std::string measured =
        "1024, source: a}\n    measured: {fp32_flops: {value: 1, source: a}";
    EXPECT_THAT(errorWith("1024, source: a}", measured + "}"), HasSubstr("copy_bytes_per_second"));
    EXPECT_THAT(errorWith("1024, source: a}",
                          measured + ", copy_bytes_per_second: {value: 1, source: hearsay}}"),
                HasSubstr("no source"));
}

} // namespace
} // namespace kernelskill::engine

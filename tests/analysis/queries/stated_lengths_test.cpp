#include "analysis/queries/stated_lengths.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

namespace kernelskill::analysis {
namespace {

/// Host code that launches `k<<<1, 32>>>(array)`, and the size of the array that it states.
struct Case {
    std::string host;
    std::optional<std::int64_t> bytes;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.host;
    }
};

class StatedLengths : public ::testing::TestWithParam<Case> {};

TEST_P(StatedLengths, AreRead) {
    const FileModel model =
        testing::analyze("#define BINS 40\n#define CHECK(call) if ((call) != cudaSuccess) return\n"
                         "__global__ void k(int* a) {}\n__managed__ int managed[24];\n"
                         "constexpr int most = 9;\nvoid run(int n, int* given, bool b) {\n" +
                         GetParam().host + "\n}\n");
    const LaunchSite& launch = model.kernels.at(0).launches.at(0);
    const CodeMap host(model.hostFunctions.at(launch.host).body);
    EXPECT_EQ(statedBytes(host, launch.arguments.at(0)), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    HostCode, StatedLengths,
    ::testing::Values(
        Case{"int* a;\ncudaMalloc(&a, 256 * sizeof(int));\nk<<<1, 32>>>(a);", 1024},
        Case{"int* a = nullptr;\ncudaMalloc((void**)&a, BINS * sizeof *a);\nk<<<1, 32>>>(a);", 160},
        Case{"const size_t bytes = most * sizeof(int);\nint* a;\n"
             "CHECK(cudaMallocManaged(&a, bytes));\nk<<<1, 32>>>(a);",
             36},
        Case{"void* a;\ncudaMalloc(&a, 64);\nint* other = (int*)a;\nk<<<1, 32>>>(other);", 64},
        Case{"k<<<1, 32>>>(managed);", 96},
        Case{"cudaMemset(given, 0, BINS * sizeof(int));\nk<<<1, 32>>>(given);", 160},
        Case{"int all[8];\nk<<<1, 32>>>(given);\n"
             "cudaMemcpy(all, given, sizeof(all), cudaMemcpyDeviceToHost);",
             32},
        // Allocations come before other calls; of several the largest counts.
        Case{"int* a;\ncudaMalloc(&a, 256);\ncudaMemset(a, 0, 512);\nk<<<1, 32>>>(a);", 256},
        Case{"int* a;\nif (b) cudaMalloc(&a, 64); else cudaMalloc(&a, 80);\nk<<<1, 32>>>(a);", 80},
        // The size is unknown, is that of another array, or is not stated.
        Case{"int* a;\ncudaMalloc(&a, n * sizeof(int));\nk<<<1, 32>>>(a);", {}},
        Case{"int* a;\ncudaMalloc(&a, 256);\nk<<<1, 32>>>(a + 8);", {}},
        Case{"int* a;\ncudaMalloc(&a, 256);\nk<<<1, 32>>>(given);", {}},
        Case{"cudaMalloc(&given + 1, 256);\nk<<<1, 32>>>(given);", {}},
        Case{"k<<<1, 32>>>(nullptr);", {}}));

} // namespace
} // namespace kernelskill::analysis

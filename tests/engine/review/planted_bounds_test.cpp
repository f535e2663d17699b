/// Edits that access memory outside of a buffer or a shared array where the original stays inside,
/// in launches whose numbers or integer contents are made up.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

class PlantedBounds : public kernelskill::testing::ReviewFixture {
protected:
    void expectRefused(const std::string& text, std::string_view from, std::string_view to) const {
        const Verdict verdict = review(text, from, to);
        EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
        EXPECT_THAT(report(verdict), HasSubstr("out-of-bounds"));
    }
    void expectAccepted(const std::string& text, std::string_view from, std::string_view to) const {
        const Verdict verdict = review(text, from, to);
        EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    }
};

/// Integers that may be indices, and a size that only the caller knows.
const std::string digits = R"(
__global__ void k(const unsigned* keys, unsigned* counts, int n) {
    __shared__ unsigned local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&local[keys[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}
void run(const unsigned* keys, unsigned* counts, int n) {
    k<<<(n + 255) / 256, 256>>>(keys, counts, n);
}
)";

const std::string stream = R"(
__global__ void k(unsigned* words, const unsigned* key, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        words[i] ^= key[i % 16];
}
void run(unsigned* words) {
    k<<<8, 128>>>(words, words + 100000, 5003);
}
)";

/// Indices from memory that nothing in the file bounds: both versions access memory outside of `x`.
const std::string gather = R"(
__global__ void k(const int* index, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[index[i]];
}
void run(const int* index, const float* x, float* y, int n) {
    k<<<(n + 255) / 256, 256>>>(index, x, y, n);
}
)";

/// A sum over tiles in dynamic shared memory. Zeros are read behind the tile, so that the sum stays
/// what it is.
const std::string tiles = R"(
__global__ void k(const float* values, float* sums, int n) {
    extern __shared__ float tile[];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? values[j] : 0.0f;
        __syncthreads();
        for (unsigned at = 0; at < blockDim.x; at++)
            sum += tile[at];
        __syncthreads();
    }
    if (index < n)
        sums[index] = sum * index;
}
void run(const float* values, float* sums, int n) {
    k<<<(n + 127) / 128, 128, 128 * sizeof(float)>>>(values, sums, n);
}
)";

TEST_F(PlantedBounds, ASharedArrayThatIsOverrunIsRefusedInAGuessedLaunch) {
    expectRefused(digits, "if (threadIdx.x < 16)\n        local", "if (true)\n        local");
}

TEST_F(PlantedBounds, DynamicSharedMemoryThatIsOverrunIsRefusedInAGuessedLaunch) {
    expectRefused(tiles, "at < blockDim.x", "at <= blockDim.x");
}

TEST_F(PlantedBounds, WritesInFrontOfABufferAreRefusedBesideMadeUpIntegers) {
    expectRefused(stream, "blockIdx.x * blockDim.x + threadIdx.x;",
                  "blockIdx.x * blockDim.x - threadIdx.x;");
}

TEST_F(PlantedBounds, UnusedReadsBehindABufferAreRefusedBesideMadeUpIntegers) {
    expectRefused(
        stream, "words[i] ^= key[i % 16];",
        "{ volatile unsigned next = words[i + 1]; words[i] ^= key[i % 16]; (void)next; }");
}

TEST_F(PlantedBounds, IndicesThatAreMadeUpExcuseBothVersions) {
    expectAccepted(gather, "2 * x[index[i]]", "x[index[i]] + x[index[i]]");
}

} // namespace
} // namespace kernelskill::engine

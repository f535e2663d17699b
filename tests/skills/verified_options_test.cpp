/// Options and forms of skills that neither the corpus nor an example has as a first offer: each
/// edited program must do what the original does, on fresh inputs of several sizes, on the
/// emulator.
#include "tests/paths.h"
#include "tests/skills/emulator_review.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

struct Form {
    std::string name;
    std::string skill;
    std::size_t least; ///< The fewest offers and trials that the skill has to make.
    std::string source;
    friend std::ostream& operator<<(std::ostream& out, const Form& form) {
        return out << form.name;
    }
};

class VerifiedOptions : public testing::TestWithParam<Form> {};

TEST_P(VerifiedOptions, DoWhatTheOriginalDoes) {
    const EmulatorReview emulated;
    ASSERT_TRUE(emulated.executor);
    const auto path = std::filesystem::path(paths::sourceFolder) / "examples" / "form.cu";
    const engine::ProgramSource program = emulated.program(path, GetParam().source);
    ASSERT_TRUE(program.model);
    const analysis::KernelModel& kernel = program.model->kernels.front();
    const analysis::Features features = analysis::extractFeatures(kernel);
    const SkillContext context(*program.model, kernel, features, kernel.span);
    const Skill& skill = skillNamed(GetParam().skill);
    std::vector<Offer> offers = skill.alternatives(context);
    if (auto first = skill.prepare(context))
        offers.insert(offers.begin(), std::move(*first));
    EXPECT_GE(offers.size(), GetParam().least);
    SkillMetadata reassociating;
    reassociating.numerics = Numerics::Reassociates;
    for (const Offer& offer : offers) {
        SCOPED_TRACE(offer.title);
        const auto edits = skill.apply(context, offer);
        ASSERT_TRUE(edits) << edits.error().describe();
        const auto verdict =
            emulated.reviewer().review({program, kernel}, *edits, accuracyOf(offer, reassociating),
                                       {}, {}, {.seed = testSeed()});
        ASSERT_TRUE(verdict) << verdict.error().describe();
        EXPECT_EQ(verdict->status, engine::VerdictStatus::Unmeasured) << describe(*verdict);
    }
}

/// The doubling steps of a scan of so many threads, one after the other.
std::string steps(int threads) {
    std::string text;
    for (int distance = 1; distance < threads; distance *= 2)
        text += "    t = s[i - " + std::to_string(distance) +
                "]; __syncthreads();\n    s[i] += t; __syncthreads();\n";
    return text;
}

/// The three largest of the few values that a row has, with their places.
const std::string bestThree = R"(
__global__ void best(const float* a, float* c, int* p, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float x = -1e30f, y = -1e30f, z = -1e30f;
    int xp = -1, yp = -1, zp = -1;
    for (int j = 0; j < n; ++j) {
        float v = roundf(a[i * n + j] * 8);
        if (v > x) { z = y; zp = yp; y = x; yp = xp; x = v; xp = j; }
        else if (v > y) { z = y; zp = yp; y = v; yp = j; }
        else if (v > z) { z = v; zp = j; }
    }
    c[i] = x + y + z;
    p[3 * i] = xp;
    p[3 * i + 1] = yp;
    p[3 * i + 2] = zp;
}
void run(const float* a, float* c, int* p, int m, int n) {
    best<<<(m + 127) / 128, 128>>>(a, c, p, m, n);
}
)";

INSTANTIATE_TEST_SUITE_P(
    Forms, VerifiedOptions,
    testing::Values(
        Form{"TilesOfAProductWithoutGuards", "register-tiling", 8, R"(
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < k; ++t)
        sum += a[i * k + t] * b[t * n + j];
    c[i * n + j] = sum;
}
void run(const float* a, const float* b, float* c, int m, int n, int k) {
    product<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
)"},
        Form{"RowsThatShareNothing", "thread-coarsening", 1, R"(
__global__ void negative(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    out[y * w + x] = 1.0f - in[y * w + x];
}
void run(const float* in, float* out, int w, int h) {
    negative<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(in, out, w, h);
}
)"},
        Form{"BestTwoOfAColumn", "split-reduction", 1, R"(
__global__ void best(const float* a, float* c, int* p, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float x = 1e30f, y = 1e30f;
    int xp = -1, yp = -1;
    for (int i = 0; i < m; ++i) {
        float v = roundf(a[i * n + j] * 8);
        if (v < x) { y = x; yp = xp; x = v; xp = i; }
        else if (v < y) { y = v; yp = i; }
    }
    c[j] = x + y;
    p[2 * j] = xp;
    p[2 * j + 1] = yp;
}
void run(const float* a, float* c, int* p, int m, int n) {
    best<<<(n + 127) / 128, 128>>>(a, c, p, m, n);
}
)"},
        Form{"BestThreeOfARowByWarps", "row-per-warp", 3, bestThree},
        Form{"BestThreeOfARowByBlocks", "row-per-block", 1, bestThree},
        Form{"GroupsOfLoads", "memory-level-parallelism", 4, R"(
__global__ void sums(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned step = blockDim.x * gridDim.x;
    float sum = 0;
    while (i < n) {
        sum += in[i];
        i += step;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
void run(const float* in, float* out, unsigned n) { sums<<<4, 64>>>(in, out, n); }
)"},
        Form{"GroupsInAFunction", "memory-level-parallelism", 2, R"(
__device__ float distance(const float* x, int a, int b, int n, int dim) {
    float sum = 0;
    for (int i = 0; i < dim; i++) {
        float gap = x[i * n + a] - x[i * n + b];
        sum += gap * gap;
    }
    return sum;
}
__global__ void distances(const float* x, float* out, int n, int dim) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        out[t] = distance(x, t, 0, n, dim);
}
void run(const float* x, float* out, int n, int dim) {
    distances<<<(n + 127) / 128, 128>>>(x, out, n, dim);
}
)"},
        Form{"PlacesThatAreLoaded", "memory-level-parallelism", 4, R"(
__global__ void gather(const int* __restrict__ places, const float* __restrict__ x,
                       float* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int place = places[i] & 15;
        out[i] = 2.0f * x[place];
    }
}
void run(const int* places, const float* x, float* out, int n) {
    gather<<<2, 64>>>(places, x, out, n);
}
)"},
        Form{"TablesOfLanes", "atomics-privatization", 2, R"(
__global__ void bin(const unsigned char* in, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1u);
}
void run(const unsigned char* in, unsigned* bins, int n) {
    bin<<<(n + 127) / 128, 128>>>(in, bins, n);
}
)"},
        // The array of the launch that runs is longer than the table, on both sides.
        Form{"TablesForSomeIndices", "atomics-privatization", 3, R"(
__global__ void bin(const int* keys, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] % 1000], 1u);
}
void run(const int* keys, int n) {
    unsigned* bins;
    cudaMalloc(&bins, 2000 * sizeof(unsigned));
    bin<<<(n + 127) / 128, 128>>>(keys, bins + 1000, n);
    unsigned* few;
    cudaMalloc(&few, 200 * sizeof(unsigned));
    bin<<<(n + 127) / 128, 128>>>(keys, few, n);
}
)"},
        Form{"StepsInAFunction", "warp-scan", 1,
             "__device__ int before(int value, int* s) {\n    int i = threadIdx.x;\n"
             "    s[i] = 0;\n    i += blockDim.x;\n    int t;\n    s[i] = value;\n"
             "    __syncthreads();\n" +
                 steps(128) +
                 "    return s[i] - value;\n}\n"
                 "__global__ void place(const int* in, int* out) {\n    __shared__ int s[256];\n"
                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "    out[i] = before(in[i] & 15, s);\n}\n"
                 "void run(const int* in, int* out, int blocks) {\n"
                 "    place<<<blocks, 128>>>(in, out);\n}\n"},
        Form{"RunningVariance", "row-per-warp", 1, R"(
__global__ void variances(const float* in, float* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float mean = 0.0f;
    float m2 = 0.0f;
    for (int j = 0; j < columns; ++j) {
        float x = in[row * columns + j];
        float delta = x - mean;
        mean += delta / (j + 1);
        m2 += delta * (x - mean);
    }
    out[row] = m2 / columns;
}
void run(const float* in, float* out, int rows, int columns) {
    variances<<<(rows + 127) / 128, 128>>>(in, out, rows, columns);
}
)"},
        Form{"ReturnsBeforeWork", "work-compaction", 1, R"(
__global__ void sums(const int* marks, const float* x, float* out, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (marks[i] % 3 != 0)
        return;
    float sum = 0;
    for (int j = 0; j < columns; ++j)
        sum += x[i * columns + j];
    out[i] = sum;
}
void run(const int* marks, const float* x, float* out, int n, int columns) {
    sums<<<(n + 127) / 128, 128>>>(marks, x, out, n, columns);
}
)"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

/// Kernels in styles that skills refuse: their plain forms, and what skills then offer, have to do
/// what the original does, on the emulator.
#include "engine/findings/plain_form.h"
#include "engine/planning/edit_drafter.h"
#include "skills/catalogue.h"
#include "tests/paths.h"
#include "tests/skills/emulator_review.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {
namespace {

using ::testing::Contains;
using ::testing::Field;

struct Style {
    std::string name;
    std::string skill; ///< A skill that is to be offered.
    std::string source;
    friend std::ostream& operator<<(std::ostream& out, const Style& style) {
        return out << style.name;
    }
};

class PlainForms : public testing::TestWithParam<Style> {
protected:
    PlainForms()
        : catalogue_(makeCatalogue()),
          program_(emulated_.program(std::filesystem::path(paths::sourceFolder) / "examples" /
                                         "style.cu",
                                     GetParam().source)) {}

    [[nodiscard]] const analysis::KernelModel& kernel() const {
        return program_.model->kernels.front();
    }
    void review(const analysis::EditSet& edits, const Accuracy& accuracy) const {
        const auto verdict = emulated_.reviewer().review({program_, kernel()}, edits, accuracy, {},
                                                         {}, {.seed = testSeed()});
        ASSERT_TRUE(verdict) << verdict.error().describe();
        EXPECT_EQ(verdict->status, engine::VerdictStatus::Unmeasured) << describe(*verdict);
    }

    EmulatorReview emulated_;
    std::vector<std::unique_ptr<Skill>> catalogue_;
    engine::ProgramSource program_;
};

TEST_P(PlainForms, DoWhatTheOriginalDoes) {
    ASSERT_TRUE(emulated_.executor);
    ASSERT_TRUE(program_.model);
    const analysis::Features features = analysis::extractFeatures(kernel());
    const engine::PlainOffers plain =
        engine::plainOffersOf({program_, kernel()}, features, catalogue_, emulated_.toolchain);
    ASSERT_TRUE(plain.form);
    review({{program_.file, plain.form->edits}}, Numerics::Exact);
    EXPECT_THAT(plain.offers, Contains(Field(&Offer::skillId, GetParam().skill)));
    std::vector<SkillMetadata> documents(catalogue_.size());
    for (std::size_t i = 0; i < documents.size(); ++i) {
        documents[i].id = catalogue_[i]->id();
        documents[i].numerics = Numerics::Reassociates;
    }
    const engine::EditDrafter drafter(catalogue_, documents);
    for (const Offer& offer : plain.offers) {
        SCOPED_TRACE(offer.title);
        EXPECT_TRUE(kernel().span.contains(offer.anchor));
        const auto proposed =
            drafter.propose(*program_.model, kernel(), features, offer, &*plain.form, {});
        ASSERT_TRUE(proposed) << proposed.error().describe();
        review(proposed->edits, proposed->accuracy);
    }
}

const std::string rowsLaunch = R"(
void launch(const float* x, const float* z, float* y, int m, int n) {
    k<<<(m + 127) / 128, 128>>>(x, z, y, m, n);
}
)";

const std::string columnsLaunch = R"(
void launch(const float* x, const float* z, float* y, int m, int n) {
    k<<<(n + 127) / 128, 128>>>(x, z, y, m, n);
}
)";

const std::string columnsKernel =
    R"(__global__ void k(const float* x, const float* z, float* y, int m, int n) {
    const int j = threadIdx.x + blockDim.x * blockIdx.x;
    if (j >= n)
        return;
)";

/// The text of a kernel of tests/nest/kernels.
std::string kernelIn(const std::string& file, const std::string& kernel) {
    const std::string text = readSource("tests/nest/kernels/" + file);
    constexpr std::string_view end = "\n}\n";
    const std::size_t begin = text.find("__global__ void " + kernel + "(");
    return text.substr(begin, text.find(end, begin) + end.size() - begin);
}

const std::string rowsKernel = "__global__ void k(const float* x, const float* z, float* y, int m, "
                               "int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i >= m)\n        return;\n";

INSTANTIATE_TEST_SUITE_P(
    Styles, PlainForms,
    testing::Values(
        Style{"WalkingPointers", "row-per-warp", rowsKernel + R"(    const float* p = &x[i * n];
    const float* end = p + n;
    const float* q = z;
    float sum = 0.0f;
    while (p < end) {
        sum += *p * *q;
        p++;
        q++;
    }
    y[i] = sum;
}
)" + rowsLaunch},
        Style{"GridStrideRows", "row-per-warp",
              R"(__global__ void k(const float* x, const float* z, float* y, int m, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += blockDim.x * gridDim.x) {
        const float* p = &x[i * n];
        const float* end = p + n;
        float sum = 0.0f;
        while (p != end)
            sum += *p++;
        y[i] = sum + z[i];
    }
}
)" + rowsLaunch},
        Style{"Backwards", "row-per-warp",
              rowsKernel + R"(    const float* row = x + (long long)i * n;
    float sum = z[0];
    for (int j = n - 1; j >= 0; j--)
        sum += row[j];
    y[i] = sum;
}
)" + rowsLaunch},
        Style{"ColumnsByOffset", "split-reduction", columnsKernel + R"(    float sum = z[j];
    int offset = j;
    int i = 0;
    while (i < m) {
        sum += x[offset];
        offset += n;
        ++i;
    }
    y[j] = sum;
}
)" + columnsLaunch},
        Style{"ColumnsByAPointer", "split-reduction", columnsKernel + R"(    const float* p = x + j;
    float sum = z[j];
    for (int i = 0; i < m; ++i, p += n)
        sum += *p;
    y[j] = sum;
}
)" + columnsLaunch},
        Style{"GridStrideColumns", "split-reduction",
              R"(__global__ void k(const float* x, const float* z, float* y, int m, int n) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) {
        const float* p = x + j;
        float sum = z[j];
        for (int i = 0; i < m; ++i, p += n)
            sum += *p;
        y[j] = sum;
    }
}
)" + columnsLaunch},
        Style{"GridStrideBackwards", "vectorized-access", R"(
__global__ void reverse(const int* in, int* out, int n) {
    const int* from = in + blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const int target = (n - i) - 1;
        out[target] = *from;
        from += blockDim.x * gridDim.x;
    }
}
void launch(const int* in, int* out, int n) {
    dim3 block(128);
    reverse<<<(n + 127) / 128, block>>>(in, out, n);
}
)"},
        Style{"GridStrideSearch", "row-per-warp",
              kernelIn("argmax.cu", "argmax_strided") +
                  R"(void launch(const float* x, int* best, int m, int n) {
    argmax_strided<<<3, 64>>>(x, best, m, n);
}
)"},
        Style{"PositionsInMacros", "vectorized-access", R"(
#define ROW (blockIdx.y * blockDim.y + threadIdx.y)
#define COLUMN (blockIdx.x * blockDim.x + threadIdx.x)
#define AT(p, i, j) p[(i) * n + (j)]
__global__ void k(const float* x, const float* b, float* y, int m, int n) {
    if (ROW < m && COLUMN < n) {
        AT(y, ROW, COLUMN) = fmaxf(AT(x, ROW, COLUMN) + b[COLUMN], 0.0f);
    }
}
void launch(const float* x, const float* b, float* y, int m, int n) {
    dim3 block(32, 4);
    dim3 grid((n + 31) / 32, (m + 3) / 4);
    k<<<grid, block>>>(x, b, y, m, n);
}
)"},
        Style{"CountsByPointers", "segmented-reduction",
              kernelIn("histogram.cu", "histogram_early") +
                  R"(void launch(const int* keys, int* bins, int n) {
    histogram_early<<<(n + 127) / 128, 128>>>(keys, bins, n);
}
)"},
        Style{"FieldsOfAStruct", "row-per-warp", R"(
struct Rows {
    int m;
    int n;
};
__global__ void k(const float* x, Rows rows, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows.m)
        return;
    const float* p = x + (size_t)i * rows.n;
    float sum = 0.0f;
    int j = 0;
    while (j < rows.n) {
        sum += *p;
        ++p;
        ++j;
    }
    y[i] = sum;
}
void launch(const float* x, Rows rows, float* y) {
    k<<<(rows.m + 127) / 128, 128>>>(x, rows, y);
}
)"},
        Style{"RunningSums", "hierarchical-scan", rowsKernel + R"(    float* to = y + i * n;
    float sum = 0.0f;
    for (const float* p = x + i * n; p != x + i * n + n; ++p) {
        sum += *p;
        *to++ = sum;
    }
}
)" + rowsLaunch},
        Style{"CalledProduct", "register-tiling", R"(
__device__ float element(const float* a, const float* b, int n, int k) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p)
        sum += a[p] * b[p * n];
    return sum;
}
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    c[row * n + col] = element(a + row * k, b + col, n, k);
}
void launch(const float* a, const float* b, float* c, int m, int n, int k) {
    dim3 block(16, 16);
    dim3 grid((n + 15) / 16, (m + 15) / 16);
    product<<<grid, block>>>(a, b, c, m, n, k);
}
)"},
        Style{"PlaceOfABin", "atomics-privatization", R"(
__global__ void count(const int* __restrict__ keys, int* bins, int n) {
    size_t i = threadIdx.x;
    i += (size_t)blockIdx.x * blockDim.x;
    if (i >= n)
        return;
    auto key = __ldg(keys + i);
    int* slot = bins;
    slot += key;
    atomicAdd(slot, 1);
}
void launch(const int* keys, int n) {
    int* bins;
    cudaMalloc(&bins, 256 * sizeof(int));
    count<<<(n + 255) / 256, 256>>>(keys, bins, n);
}
)"},
        Style{"CalledWalk", "row-per-warp", R"(
__device__ float total(const float* row, const float* end) {
    float sum = 0;
    while (row < end)
        sum += *row++;
    return sum;
}
)" + rowsKernel + R"(    const float* row = x + i * n;
    float sum = total(row, row + n);
    y[i] = sum;
}
)" + rowsLaunch}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

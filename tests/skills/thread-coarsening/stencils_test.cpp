/// Stencils in the styles in which they are written, a few rows a thread.
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "thread-coarsening";

const std::string plainGrid = "dim3((w + 31) / 32, (h + 7) / 8)";
const std::string quarterGrid = "dim3((w + 31) / 32, ((h + 7) / 8 + 3) / 4)";

/// A kernel whose pointers may overlap, as far as it says.
std::string kernel(const std::string& body, const std::string& grid = plainGrid) {
    return "__global__ void k(float* in, float* out, int w, int h) {\n" + body +
           "}\nvoid run(float* in, float* out, int w, int h) {\n    k<<<" + grid +
           ", dim3(32, 8)>>>(in, out, w, h);\n}\n";
}

const std::string column = "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n";
const std::string row = "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n";
const std::string rowOfFour = "    int y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;\n";

/// The edited kernel has no error.
std::string edited(const std::string& source) {
    std::string text = appliedText(id, source);
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
    return text;
}

TEST(CoarsenedStencil, LoadsOnceWhatRowsShareAlthoughPointersMayOverlap) {
    checkApplicable(id, kernel(column + row + R"(    if (x < w && y > 0 && y < h) {
        out[y * w + x] = in[(y - 1) * w + x] + 2 * in[y * w + x];
    }
)"),
                    kernel(column + rowOfFour + R"(    if (x < w && y > 0 && y + 3 < h) {
        const float in0 = in[(y - 1) * w + x];
        const float in1 = in[y * w + x];
        const float in2 = in[(y + 1) * w + x];
        const float in3 = in[(y + 2) * w + x];
        const float in4 = in[(y + 3) * w + x];
        out[y * w + x] = in0 + 2 * in1;
        out[(y + 1) * w + x] = in1 + 2 * in2;
        out[(y + 2) * w + x] = in2 + 2 * in3;
        out[(y + 3) * w + x] = in3 + 2 * in4;
    } else {
        for (int yEach = y; yEach < y + 4; ++yEach) {
            if (x < w && yEach > 0 && yEach < h) {
                out[yEach * w + x] = in[(yEach - 1) * w + x] + 2 * in[yEach * w + x];
            }
        }
    }
)",
                           quarterGrid));
}

TEST(CoarsenedStencil, KeepsWhatStandsBeforeTheBoundsCheck) {
    const std::string text = edited(kernel(column + row + R"(    float a, b;
    a = 0.5f; b = -0.25f;
    if (x < w && y < h - 1)
        out[y * w + x] = a * in[y * w + x] + b * in[(y + 1) * w + x];
)"));
    EXPECT_TRUE(
        text.contains("    float a, b;\n    a = 0.5f; b = -0.25f;\n    if (x < w && y + 3 < "
                      "h - 1) {\n        const float in0 = in[y * w + x];\n"))
        << text;
    EXPECT_TRUE(text.contains("out[(y + 3) * w + x] = a * in3 + b * in4;")) << text;
}

TEST(CoarsenedStencil, TakesAlongLocalsThatDependOnTheRow) {
    const std::string text = edited(kernel(R"(    float sum; // of two
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = y * w + x; // its place
    float half = 0.5f;
    if (x >= w || y >= h - 1) return;
    sum = in[at] + in[at + w];
    out[at] = half * sum;
)"));
    EXPECT_TRUE(text.contains(R"({
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    float half = 0.5f;
    if (x < w && y + 3 < h - 1) {
        float sum0;
        float sum1;
        float sum2;
        float sum3;
        const int at0 = y * w + x;
        const int at1 = (y + 1) * w + x;
)")) << text;
    EXPECT_TRUE(text.contains(R"(        const float in4 = in[at3 + w];
        sum0 = in0 + in1;
)")) << text;
    EXPECT_TRUE(text.contains(R"(                float sum; // of two
                const int at = yEach * w + x; // its place
                sum = in[at] + in[at + w];
                out[at] = half * sum;
)")) << text;
}

TEST(CoarsenedStencil, TakesSeveralChecksOneBehindTheOther) {
    const std::string text = edited(kernel(column + row + R"(    if (x >= w) return; // columns
    if (y >= h - 1) {
        return; // rows
    }
    out[y * w + x] = in[y * w + x] - in[(y + 1) * w + x];
)"));
    EXPECT_TRUE(text.contains("    // columns\n    // rows\n    if (x < w && y + 3 < h - 1) {\n"))
        << text;
    EXPECT_TRUE(text.contains("if (x < w && yEach < h - 1) {")) << text;
}

TEST(CoarsenedStencil, TakesChecksOneInTheOther) {
    const std::string text = edited(kernel(column + row + R"(    if (x < w) {
        if (y > 0 && y < h)
            out[y * w + x] = in[y * w + x] - in[(y - 1) * w + x];
    }
)"));
    EXPECT_TRUE(text.contains("    if (x < w && y > 0 && y + 3 < h) {\n")) << text;
    EXPECT_TRUE(text.contains("            if (x < w && yEach > 0 && yEach < h) {\n")) << text;
}

TEST(CoarsenedStencil, UpdatesItsOwnElementsInPlace) {
    const std::string text = edited(kernel(column + row + R"(    if (x < w && y > 0 && y < h)
        out[y * w + x] = out[y * w + x] - 0.5f * (in[y * w + x] - in[(y - 1) * w + x]);
)"));
    EXPECT_TRUE(text.contains("out[(y + 1) * w + x] = out1 - 0.5f * (in2 - in0);")) << text;
}

TEST(CoarsenedStencil, StoresToSeveralArrays) {
    const std::string text = edited(R"(
__global__ void k(const float *u, float *du, float *dv, unsigned w, unsigned h) {
    const auto c = blockIdx.x * blockDim.x + threadIdx.x;
    const auto r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c + 1 < w && r + 1 < h) {
        const size_t at = (size_t)r * w + c;
        du[at] = u[at + 1] - u[at];
        dv[at] = u[at + w] - u[at];
    }
}
void run(int w, int h) {
    float *u, *du, *dv;
    cudaMalloc(&u, 4 * w * h);
    cudaMalloc(&du, 4 * w * h);
    cudaMalloc(&dv, 4 * w * h);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    k<<<grid, block>>>(u, du, dv, w, h);
}
)");
    EXPECT_TRUE(text.contains("    if (c + 1 < w && r + 4 < h) {\n")) << text;
    EXPECT_TRUE(text.contains("        for (unsigned int rEach = r; rEach < r + 4; ++rEach) {\n"))
        << text;
    // The launch tells that a store to du does not change u.
    EXPECT_TRUE(text.contains("dv[at0] = u3 - u1;")) << text;
}

TEST(CoarsenedStencil, LoadsAnewBehindAStoreThatMayChangeTheValue) {
    const std::string text = edited(R"(
__global__ void k(float *u, float *v, float *d, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h - 2) {
        d[y * w + x] = u[y * w + x] + u[(y + 1) * w + x] - u[(y + 2) * w + x];
        v[y * w + x] = u[y * w + x];
    }
}
void run(float *u, float *v, float *d, int w, int h) {
    k<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(u, v, d, w, h);
    k<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(u, v, u, w, h);
}
)");
    EXPECT_TRUE(text.contains("        d[(y + 1) * w + x] = u1 + u2 - u3;\n")) << text;
    EXPECT_TRUE(text.contains("        v[(y + 1) * w + x] = u[(y + 1) * w + x];\n")) << text;
}

TEST(CoarsenedStencil, LoadsAnewBehindACallThatMayStore) {
    const std::string text = edited(R"(
struct View {
    float* data;
    int pitch;
    __device__ void set(int r, int c, float v) const { data[r * pitch + c] = v; }
};
)" + kernel(column + row + R"(    if (x < w && y < h - 1) {
        View view{out, w};
        view.set(y, x, in[y * w + x] + in[(y + 1) * w + x]);
        out[y * w + x] += in[(y + 1) * w + x] - in[y * w + x];
    }
)"));
    EXPECT_TRUE(text.contains("view0.set(y, x, in[y * w + x] + in[(y + 1) * w + x]);")) << text;
    EXPECT_TRUE(text.contains("out[(y + 1) * w + x] += in2 - in0;")) << text;
}

TEST(CoarsenedStencil, LeavesTheFirstRowToTheEdge) {
    const std::string text = edited(kernel(column + row + R"(    if (y < h && x < w) {
        if (y == 0) {
            out[x] = 1;
        } else {
            out[y * w + x] = in[y * w + x] - in[(y - 1) * w + x];
        }
    }
)"));
    EXPECT_TRUE(text.contains(R"(    if (y + 3 < h && x < w && y > 0) {
        const float in0 = in[y * w + x];
)")) << text;
    EXPECT_TRUE(text.contains("        out[(y + 3) * w + x] = in4 - in3;\n    } else {\n")) << text;
    EXPECT_TRUE(text.contains("                if (yEach == 0) {\n                    out[x] = 1;"))
        << text;
}

TEST(CoarsenedStencil, LeavesABorderToTheEdges) {
    const std::string text = edited(kernel(column + row + R"(    if (x >= w || y >= h)
        return;
    if (x == 0 || y < 1 || x == w - 1 || h - 1 == y)
        out[y * w + x] = 0;
    else
        out[y * w + x] = in[(y - 1) * w + x] + in[(y + 1) * w + x] + in[y * w + x];
)"));
    EXPECT_TRUE(
        text.contains("    if (x < w && y + 3 < h && x != 0 && y >= 1 && x != w - 1 && y + 3 "
                      "< h - 1) {\n        const float in0 = "))
        << text;
    EXPECT_TRUE(text.contains("        out[(y + 1) * w + x] = in2 + in3 + in1;\n")) << text;
}

TEST(CoarsenedStencil, AsksOfEachRowWhatIsNotAboutEdges) {
    const std::string text = edited(kernel(column + row + R"(    if (x < w && y < h - 1) {
        float sum = in[y * w + x] + in[(y + 1) * w + x];
        if (x == 0 || y < w)
            sum *= 0.5f;
        out[y * w + x] = sum;
    }
)"));
    EXPECT_TRUE(text.contains("    if (x < w && y + 3 < h - 1) {\n")) << text;
    EXPECT_TRUE(text.contains("        if (x == 0 || y + 3 < w)\n            sum3 *= 0.5f;\n"))
        << text;
}

TEST(CoarsenedStencil, LeavesClampedNeighboursToTheEdges) {
    const std::string text = edited(kernel(column + row + R"(    if (x >= w || y >= h)
        return;
    const int up = max(y - 1, 0);
    const int down = y == h - 1 ? y : y + 1;
    float above = y > 0 ? in[(y - 1) * w + x] : 0.0f;
    out[y * w + x] = in[up * w + x] + in[y * w + x] + in[down * w + x] + above;
)"));
    EXPECT_TRUE(text.contains("    if (x < w && y + 3 < h && y - 1 >= 0 && y + 3 < h - 1 && y > 0) "
                              "{\n        const int up0 = y - 1;\n        const int up1 = y;\n"))
        << text;
    EXPECT_TRUE(text.contains("const int down3 = y + 4;")) << text;
    EXPECT_TRUE(text.contains("float above1 = in1;")) << text;
    EXPECT_TRUE(text.contains("const int up = max(yEach - 1, 0);")) << text;
}

TEST(CoarsenedStencil, CountsFromRowsOtherThanTheFirst) {
    const std::string text =
        edited(kernel(R"(    const int x = threadIdx.x + blockIdx.x * blockDim.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < w && y < h - 1)
        out[y * w + x] = in[(y - 1) * w + x] + in[(y + 1) * w + x] + in[y * w + x];
)"));
    EXPECT_TRUE(text.contains("const int y = (blockIdx.y * blockDim.y + threadIdx.y) * 4 + 1;"))
        << text;
}

TEST(CoarsenedStencil, KnowsABlockByItsNumbers) {
    const std::string text = edited(kernel(R"(    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = bx * 32 + tx;
    int y = by * 8 + ty;
    if (x < w && y < h - 1)
        out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x];
)"));
    EXPECT_TRUE(text.contains("int y = (by * 8 + ty) * 4;")) << text;
}

TEST(CoarsenedStencil, TakesBlocksOfOneRow) {
    const std::string text = edited(R"(
__global__ void k(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= w || y >= h - 1) return;
    out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x];
}
void run(float *in, float *out, int w, int h) {
    dim3 grid((w + 255) / 256, h);
    k<<<grid, 256>>>(in, out, w, h);
}
)");
    EXPECT_TRUE(text.contains("int y = (blockIdx.y) * 4;")) << text;
    EXPECT_TRUE(text.contains("k<<<dim3(grid.x, (grid.y + 3) / 4, grid.z), 256>>>")) << text;
}

TEST(CoarsenedStencil, DoesNotRepeatATypeOutOfAMacro) {
    const std::string text =
        edited("#define REAL float\n__global__ void k(REAL* in, REAL* out, int "
               "w, int h) {\n" +
               column + row +
               "    if (x < w && y < h - 1)\n        out[y * w + x] = in[y * w "
               "+ x] + in[(y + 1) * w + x];\n}\nvoid run(REAL* in, REAL* out, "
               "int w, int h) {\n    k<<<dim3(w / 32, h / 8), dim3(32, "
               "8)>>>(in, out, w, h);\n}\n");
    EXPECT_TRUE(text.contains("const auto in0 = in[y * w + x];")) << text;
}

TEST(CoarsenedStencil, GivesMacrosOtherRows) {
    const std::string text =
        edited("#define AT(a, i, j) a[(i)*w + (j)]\n#define TWICE(v) ((v) + (v))\n" +
               kernel(column + row + R"(    if (x < w && y > 0 && y < h)
        AT(out, y, x) = TWICE(y) * AT(in, y - 1, x) + AT(in, y, x);
)"));
    EXPECT_TRUE(text.contains("        const float in2 = AT(in, (y + 1), x);\n")) << text;
    EXPECT_TRUE(text.contains("        AT(out, (y + 1), x) = TWICE((y + 1)) * in1 + in2;\n"))
        << text;
    EXPECT_TRUE(text.contains("AT(out, yEach, x) = TWICE(yEach) * AT(in, yEach - 1, x)")) << text;
}

TEST(CoarsenedStencil, LoadsOnceInALoopWhatRowsShareThere) {
    const std::string text = edited(kernel(column + row + R"(    if (x < w && y < h)
        for (int j = 0; j < w; ++j)
            out[y * w + j] += in[j * w + x];
)"));
    EXPECT_TRUE(text.contains(R"(            const float in0 = in[j * w + x];
            out[y * w + j] += in0;
            out[(y + 1) * w + j] += in0;
)")) << text;
}

TEST(CoarsenedStencil, FollowsLocalsThatAreSetLater) {
    const std::string text = edited(kernel(R"(    int up, here;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    up = min(y + 1, h - 1);
    here = y * w + x;
    if (x < w && y < h)
        out[here] = in[up * w + x] - in[here];
)"));
    EXPECT_TRUE(text.contains("    if (x < w && y + 3 < h && y + 4 <= h - 1) {\n")) << text;
    EXPECT_TRUE(text.contains("        up2 = y + 3;\n")) << text;
    EXPECT_TRUE(text.contains("out[here1] = in2 - in0;")) << text;
}

TEST(CoarsenedStencil, TakesAPlaceThatIsSetLater) {
    const std::string text = edited(kernel(R"(    int x, y, ty;
    ty = threadIdx.y;
    y = blockIdx.y * blockDim.y + ty;
    x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w && y < h - 1)
        out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x];
)"));
    EXPECT_TRUE(text.contains("    y = (blockIdx.y * blockDim.y + ty) * 4;\n")) << text;
    EXPECT_TRUE(text.contains("for (int yEach = y; yEach < y + 4; ++yEach) {")) << text;
}

TEST(CoarsenedStencil, CanHaveFewerRowsThanFit) {
    const Subject subject = parseSubject(kernel(column + row + R"(    if (x < w && y < h - 1)
        out[y * w + x] = in[y * w + x] + in[(y + 1) * w + x];
)"));
    const auto others = skillNamed(id).alternatives(subject.context());
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(others[0].option, 2);
    const auto edits = skillNamed(id).apply(subject.context(), others[0]);
    ASSERT_TRUE(edits) << edits.error().describe();
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    ASSERT_TRUE(text);
    EXPECT_TRUE(text->contains("int y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;")) << *text;
    EXPECT_TRUE(text->contains("((h + 7) / 8 + 1) / 2")) << *text;
}

class StencilIsNotCoarsened : public testing::TestWithParam<GateCase> {};

TEST_P(StencilIsNotCoarsened, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

const std::string difference = "out[y * w + x] = in[y * w + x] - in[(y + 1) * w + x];\n";

INSTANTIATE_TEST_SUITE_P(
    Gates, StencilIsNotCoarsened,
    testing::Values(
        GateCase{"InPlace", "rows-depend",
                 kernel(column + row +
                        "    if (x < w && y < h - 1)\n        out[y * w + x] = in[y * w + x] + "
                        "out[(y + 1) * w + x];\n")},
        GateCase{"StoreBeforeTheCheck", "work-before-guard",
                 kernel(column + row + "    out[x] = 0;\n    if (x < w && y < h - 1)\n        " +
                        difference)},
        GateCase{"ColumnsAlone", "no-bounds-guard",
                 kernel(column + row + "    if (x < w)\n        " + difference)},
        GateCase{"FlatBound", "compound-guard",
                 kernel(column + row +
                        "    int at = y * w + x;\n    if (at < w * (h - 1))\n"
                        "        out[at] = in[at] - in[at + w];\n")},
        GateCase{"UnsignedRowLess", "compound-guard",
                 kernel(column +
                        "    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                        "    if (x < w && y - 1 < h)\n        " +
                        difference)},
        GateCase{"MaskedRow", "compound-guard",
                 kernel(column + row + "    if (x < w && y < h - 1 && in[y] > 0)\n        " +
                        difference)},
        GateCase{"RowOutOfAMacro", "row-used-elsewhere",
                 "#define HERE y * w + x\n" +
                     kernel(column + row +
                            "    if (x < w && y < h - 1)\n        out[HERE] = "
                            "in[HERE] - in[HERE + w];\n")},
        GateCase{"BarrierInAFunction", "barrier",
                 "__device__ float together(float v) { __syncthreads(); return v; }\n" +
                     kernel(column + row +
                            "    if (x < w && y < h - 1)\n        out[y * w + x] = "
                            "together(in[y * w + x] + in[(y + 1) * w + x]);\n")},
        GateCase{"RowAsAWhole", "uses-thread-position",
                 kernel(column + row +
                        "    if (x < w && y < h - 1)\n        out[y * w + x] = "
                        "in[y * w + x] + in[(y + 1) * w + x] + gridDim.y;\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

/// Elements of planes, and of other kernels whose neighbours are not at the index itself.
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "vectorized-access";

const std::string axes = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    int j = blockIdx.y * blockDim.y + threadIdx.y;\n";

/// A kernel on planes with `body`, launched with a grid of two axes.
std::string plane(const std::string& body, const std::string& more = "",
                  const std::string& grid = "dim3((w + 31) / 32, (h + 7) / 8)") {
    return more + "__global__ void k(const float* x, float* y, const int* m, int w, int h) {\n" +
           body +
           "}\nvoid run(float* x, float* y, int* m, int w, int h) {\n"
           "    k<<<" +
           grid + ", dim3(32, 8)>>>(x, y, m, w, h);\n}\n";
}

TEST(NeighbourGroups, TakeAPlaneUnderOneConditionForBothAxes) {
    checkApplicable(id,
                    plane(axes + "    if (i < w && j < h)\n"
                                 "        y[j * w + i] = 2 * x[j * w + i] + m[i]; // both\n"),
                    plane(R"(    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w && j < h) {
        // A thread takes 4 neighbours: one access of up to 16 bytes each, where the addresses allow it.
        const bool aligned =
            w % 4 == 0 &&
            (reinterpret_cast<size_t>(&x[j * w + i]) |
            reinterpret_cast<size_t>(&m[i]) | reinterpret_cast<size_t>(&y[j * w + i])) % 16 == 0;
        if (aligned) {
            const float4 x4 = *reinterpret_cast<const float4*>(&x[j * w + i]);
            const int4 m4 = *reinterpret_cast<const int4*>(&m[i]);
            float4 y4;
            y4.x = 2 * x4.x + m4.x;
            y4.y = 2 * x4.y + m4.y;
            y4.z = 2 * x4.z + m4.z;
            y4.w = 2 * x4.w + m4.w;
            *reinterpret_cast<float4*>(&y[j * w + i]) = y4;
        } else {
            for (int k = i; k < min(w, i + 4); ++k)
                y[j * w + k] = 2 * x[j * w + k] + m[k];
        }
    } // both
)",
                          "", "dim3(((w + 31) / 32 + 3) / 4, (h + 7) / 8)"));
}

TEST(NeighbourGroups, KeepEarlyReturnsAndLocalsOfThePlace) {
    checkApplicable(id, plane(axes + R"(    if (i >= w) return;
    const int at = j * w + i;
    if (!(j < h)) return;
    const float* row = x + j * w;
    float v = row[i];
    y[at] = v * v + i; // squares
)"),
                    plane(R"(    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= w) return;
    const int at = j * w + i;
    if (!(j < h)) return;
    // A thread takes 4 neighbours: one access of up to 16 bytes each, where the addresses allow it.
    const float* row = x + j * w;
    const bool aligned =
        w % 4 == 0 &&
        (reinterpret_cast<size_t>(&row[i]) | reinterpret_cast<size_t>(&y[at])) % 16 == 0;
    if (aligned) {
        const float4 row4 = *reinterpret_cast<const float4*>(&row[i]);
        float4 y4;
        {
            float v = row4.x;
            y4.x = v * v + i;
        }
        {
            float v = row4.y;
            y4.y = v * v + (i + 1);
        }
        {
            float v = row4.z;
            y4.z = v * v + (i + 2);
        }
        {
            float v = row4.w;
            y4.w = v * v + (i + 3);
        }
        *reinterpret_cast<float4*>(&y[at]) = y4;
    } else {
        for (int k = i; k < min(w, i + 4); ++k) {
            const int at = j * w + k;
            float v = row[k];
            y[at] = v * v + k;
        }
    } // squares
)",
                          "", "dim3(((w + 31) / 32 + 3) / 4, (h + 7) / 8)"));
}

/// The text of the edit, which parses.
std::string edited(const std::string& source) {
    std::string text = appliedText(id, source);
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
    return text;
}

TEST(NeighbourGroups, LieInOneRowWhereTheIndexIsDivided) {
    const std::string text = edited(plane(R"(    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= h * w) return;
    const int r = e / w, c = e % w;
    const float s = x[r];
    y[r * w + c] = s * x[m[r] * w + c] * r;
)",
                                          "", "(h * w + 255) / 256"));
    EXPECT_TRUE(text.contains("w % 4 == 0 &&")) << text;
    EXPECT_TRUE(text.contains("    if (aligned) {\n")) << text;
    EXPECT_TRUE(text.contains("*reinterpret_cast<const float4*>(&x[m[r] * w + c]);")) << text;
    EXPECT_TRUE(text.contains("y4.y = s * x4.y * r;")) << text;
    EXPECT_TRUE(text.contains("const int r = k / w, c = k % w;")) << text;
    EXPECT_TRUE(text.contains("k<<<((h * w + 255) / 256 + 3) / 4, dim3(32, 8)>>>")) << text;
}

TEST(NeighbourGroups, EndWithARowThatIsNoPartOfTheLimit) {
    const std::string text = edited(plane(R"(    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < h)
        y[e] = x[m[e / w] * w + e % w];
)",
                                          "", "(h + 255) / 256"));
    EXPECT_TRUE(text.contains("if (aligned && h - e >= 4) {")) << text;
}

TEST(NeighbourGroups, AreReachedByPointersAndFields) {
    const std::string tensor = "struct Tensor { float* data; int rows, columns; };\n";
    const std::string text =
        edited(tensor + "__global__ void k(Tensor t, const float* s) {\n" + axes +
               "    if (j < t.rows) {\n        const float* from = s + j * t.columns + i;\n"
               "        if (t.columns > i)\n            t.data[j * t.columns + i] *= __ldg(from);\n"
               "    }\n}\nvoid run(Tensor t, const float* s) {\n    dim3 grid(4, 4);\n"
               "    k<<<grid, dim3(16, 16)>>>(t, s);\n}\n");
    EXPECT_TRUE(text.contains("data4.y *= from4.y;")) << text;
    EXPECT_TRUE(text.contains("t.columns % 4 == 0 &&")) << text;
    EXPECT_TRUE(text.contains("*reinterpret_cast<const float4*>(from);")) << text;
    EXPECT_TRUE(text.contains("k<<<dim3((grid.x + 3) / 4, grid.y, grid.z), dim3(16, 16)>>>"))
        << text;
}

TEST(NeighbourGroups, EndWithTheRowWhereRowsAreFurtherApart) {
    const std::string text =
        edited(plane(axes + "    if (i < w && j < h) y[j * 1024 + i] = x[j * 1024 + i];\n"));
    EXPECT_TRUE(text.contains("if (aligned && w - i >= 4) {")) << text;
}

TEST(NeighbourGroups, OfDoublesAreTwo) {
    const std::string text =
        edited("__global__ void k(const double* x, double* y, int w, int h) {\n" + axes +
               "    if (i < w && j < h) y[j * w + i] = *(x + j * w + i);\n}\n"
               "void run(double* x, double* y, int w, int h) {\n"
               "    k<<<dim3(w, h), 1>>>(x, y, w, h);\n}\n");
    EXPECT_TRUE(text.contains("int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);")) << text;
    EXPECT_TRUE(text.contains("double2 y2;")) << text;
    EXPECT_TRUE(text.contains("k<<<dim3((w + 1) / 2, h), 1>>>")) << text;
}

TEST(NeighbourGroups, OfHalvesAreTwo) {
    const std::string text = edited(
        "#include <cuda_fp16.h>\n__global__ void k(const __half* x, __half* y, int w, int h) "
        "{\n" +
        axes +
        "    if (i < w && j < h)\n        y[j * w + i] = __float2half(__half2float(x[j * w + "
        "i]) + j);\n}\nvoid run(__half* x, __half* y, int w, int h) {\n"
        "    k<<<dim3(w, h), 1>>>(x, y, w, h);\n}\n");
    EXPECT_TRUE(text.contains("y2.y = __float2half(__half2float(x2.y) + j);")) << text;
}

const std::string pixels = "struct Pixel { unsigned char r, g, b; };\n"
                           "__global__ void k(const Pixel* in, Pixel* out, int w, int h) {\n";

/// A kernel on pixels with `round` under its guard.
std::string pixelPlane(const std::string& round) {
    return pixels + axes + "    if (i < w && j < h) {\n" + round +
           "    }\n}\nvoid run(Pixel* in, Pixel* out, int w, int h) {\n"
           "    k<<<dim3(w, h), 1>>>(in, out, w, h);\n}\n";
}

TEST(NeighbourGroups, OfRecordsOfBytesAreWords) {
    const std::string text = edited(pixelPlane("        Pixel p = in[j * w + i];\n"
                                               "        p.r = in[j * w + i].b;\n"
                                               "        out[j * w + i] = p;\n"));
    EXPECT_TRUE(text.contains("alignas(4) Pixel in4[4];")) << text;
    EXPECT_TRUE(text.contains("reinterpret_cast<unsigned*>(in4)[2] = "
                              "reinterpret_cast<const unsigned*>(&in[j * w + i])[2];"))
        << text;
    EXPECT_TRUE(text.contains("Pixel p = in4[3];\n                p.r = in4[3].b;\n"
                              "                out4[3] = p;"))
        << text;
    EXPECT_TRUE(text.contains("reinterpret_cast<unsigned*>(&out[j * w + i])[0] = "
                              "reinterpret_cast<const unsigned*>(out4)[0];"))
        << text;
}

/// A plane with `round` under its guard.
std::string guarded(const std::string& round) {
    return plane(axes + "    if (i < w && j < h) {\n" + round + "    }\n");
}

/// A grid-stride loop with `round`, with `before` and `behind` around it.
std::string strided(const std::string& round, const std::string& behind = "",
                    const std::string& before = "", const std::string& limit = "h") {
    return "__global__ void k(const float* x, float* y, const int* m, int w, int h) {\n" + before +
           "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < " + limit +
           "; i += blockDim.x * gridDim.x)\n        " + round + "\n" + behind +
           "}\nvoid run(float* x, float* y, int* m, int w, int h) {\n"
           "    k<<<132, 256>>>(x, y, m, w, h);\n}\n";
}

TEST(NeighbourGroups, AreCountedByALoopInStridesOfTheGrid) {
    checkApplicable(id, strided("y[i + w] = x[i + w];"),
                    R"(__global__ void k(const float* x, float* y, const int* m, int w, int h) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < h / 4 + (h % 4 > 0); i += blockDim.x * gridDim.x) {
        // A thread takes 4 neighbours: one access of up to 16 bytes each, where the addresses allow it.
        const int first = 4 * i;
        const bool aligned =
            (reinterpret_cast<size_t>(&x[first + w]) |
            reinterpret_cast<size_t>(&y[first + w])) % 16 == 0;
        if (aligned && h - first >= 4) {
            const float4 x4 = *reinterpret_cast<const float4*>(&x[first + w]);
            float4 y4;
            y4.x = x4.x;
            y4.y = x4.y;
            y4.z = x4.z;
            y4.w = x4.w;
            *reinterpret_cast<float4*>(&y[first + w]) = y4;
        } else {
            for (int k = first; k < min(h, first + 4); ++k)
                y[k + w] = x[k + w];
        }
    }
}
void run(float* x, float* y, int* m, int w, int h) {
    k<<<132, 256>>>(x, y, m, w, h);
}
)");
}

TEST(NeighbourGroups, OfALoopMakeGridsSmallerThatFollowTheElements) {
    const std::string source = strided("y[i + w] = x[i + w];");
    const std::string fixed = "k<<<132, 256>>>";
    const auto launchedBy = [&](const std::string& launch) {
        std::string text = source;
        text.replace(text.find(fixed), fixed.size(), launch);
        return edited(text);
    };
    EXPECT_TRUE(launchedBy("k<<<(h + 255) / 256, 256>>>")
                    .contains("k<<<((h + 255) / 256 + 3) / 4, 256>>>"));
    EXPECT_TRUE(launchedBy("int blocks = (h + 255) / 256;\n    k<<<blocks, 256>>>")
                    .contains("k<<<(blocks + 3) / 4, 256>>>"));
    EXPECT_TRUE(launchedBy("k<<<w, 256>>>").contains("k<<<w, 256>>>"));
    EXPECT_TRUE(launchedBy("k<<<1056 / 8, 256>>>").contains("k<<<1056 / 8, 256>>>"));
    const std::string ofProcessors = "k<<<processors * 16 / 2, 256>>>";
    EXPECT_TRUE(launchedBy("extern int processors;\n    " + ofProcessors).contains(ofProcessors));
    const auto launchedWithRows = [&](const std::string& rows) {
        std::string text = source;
        const auto at = text.find(fixed);
        text.replace(at, text.find(';', at) - at,
                     "const int rows = " + rows +
                         ";\n    k<<<(rows + 255) / 256, 256>>>(x, y, m, w, rows)");
        return edited(text);
    };
    EXPECT_TRUE(launchedWithRows("1 << 20").contains("k<<<((rows + 255) / 256 + 3) / 4, 256>>>"));
    EXPECT_TRUE(launchedWithRows("512").contains("k<<<(rows + 255) / 256, 256>>>"))
        << "as small as a block";
}

TEST(NeighbourGroups, FollowPointersThatAreMovedOnce) {
    const std::string text =
        edited(guarded("        const float* from;\n        from = x + j * w;\n"
                       "        float* to = y + j * w; // here\n        to += i;\n"
                       "        *to = from[i] * from[0];\n"));
    EXPECT_TRUE(text.contains("        const float* from;\n        from = x + j * w;\n"
                              "        float* to = y + j * w;\n        to += i;\n"
                              "        const bool aligned =\n"))
        << text;
    EXPECT_TRUE(text.contains("            to4.y = from4.y * from[0];\n")) << text;
    EXPECT_TRUE(text.contains("                float* to = y + j * w;\n"
                              "                to += k;\n"
                              "                *to = from[k] * from[0];\n"))
        << text;
}

TEST(NeighbourGroups, KeepACommentBehindACondition) {
    const std::string text =
        edited(plane(axes + "    if (i < w && j < h) // (inside)\n        y[j * w + i] = 1;\n"));
    EXPECT_TRUE(text.contains("    if (i < w && j < h) {\n        // (inside)\n")) << text;
}

class NeighbourGroupsAreNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(NeighbourGroupsAreNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, NeighbourGroupsAreNotOffered,
    testing::Values(
        GateCase{"StoreOneBehind", "strided-access",
                 guarded("        y[j * w + i + 1] = x[j * w + i];\n")},
        GateCase{"StoreAcross", "strided-access",
                 guarded("        y[i * h + j] = x[j * w + i];\n")},
        GateCase{"LoadAcross", "strided-access", guarded("        y[j * w + i] = x[i * h + j];\n")},
        GateCase{"LoadEverySecond", "strided-access",
                 guarded("        y[j * w + i] = x[2 * (j * w + i)];\n")},
        GateCase{"StoreWhereMemorySays", "strided-access",
                 guarded("        y[m[j * w + i]] = x[j * w + i];\n")},
        GateCase{"NarrowIndex", "strided-access",
                 guarded("        short s = i;\n        y[j * w + s] = x[j * w + i];\n")},
        GateCase{"PointerMovedTwice", "strided-access",
                 guarded("        float* to = y;\n        to += i;\n        to += j * w;\n"
                         "        *to = x[i];\n")},
        GateCase{"PointerMovedBehind", "strided-access",
                 guarded("        float* to = y + i;\n        *to = x[i];\n        to += 1;\n")},
        GateCase{"PointerMovedUnderACondition", "strided-access",
                 guarded("        float* to = y + i;\n        if (j > 3) to += w;\n"
                         "        *to = x[i];\n")},
        GateCase{"Reference", "strided-access",
                 guarded("        float& to = y[j * w + i];\n        to = x[j * w + i];\n")},
        GateCase{"NeighboursOfNeighbours", "no-unit-stride-access",
                 guarded("        y[j * w + i] = x[j * w + i - 1] + x[j * w + i + 1];\n")},
        GateCase{"Quotient", "strided-access",
                 guarded("        y[j * w + i / 2] = x[j * w + i];\n")},
        GateCase{"StoreUnderACondition", "conditional-store",
                 guarded("        if (m[j * w + i]) y[j * w + i] = x[j * w + i];\n")},
        GateCase{"LoadAfterStore", "load-after-store",
                 guarded("        y[j * w + i] = 1;\n        y[j * w + i] += x[j * w + i];\n")},
        GateCase{"InnerPoints", "compound-guard",
                 plane(axes + "    if (i > 0 && i < w && j < h) y[j * w + i] = x[j * w + i];\n")},
        GateCase{"OneOfTwo", "compound-guard",
                 plane(axes + "    if (i < w || j < h) y[j * w + i] = x[j * w + i];\n")},
        GateCase{"RowOfEachElement", "compound-guard",
                 plane("    int e = blockIdx.x * blockDim.x + threadIdx.x;\n    int r = e / w;\n"
                       "    if (e >= w * w || r >= h) return;\n    y[e] = x[r * w + e % w];\n")},
        GateCase{"NoBound", "no-bounds-guard", plane(axes + "    y[j * w + i] = x[j * w + i];\n")},
        GateCase{"BoundOfTheOtherAxis", "no-flat-index",
                 plane(axes + "    if (j < h) y[j * w + i] = x[j * w + i];\n")},
        GateCase{"WorkBefore", "work-before-guard",
                 plane(axes + "    y[0] = 1;\n    if (i < w && j < h) y[j * w + i] = x[j];\n")},
        GateCase{"WorkBehind", "work-after-guard",
                 plane(axes + "    if (i < w && j < h) y[j * w + i] = x[j];\n    y[0] = 1;\n")},
        GateCase{"LimitOfEachElement", "compound-guard",
                 plane(axes + "    if (i < m[i] && j < h) y[j * w + i] = x[j * w + i];\n")},
        GateCase{"ThreadElsewhere", "uses-thread-position",
                 guarded("        y[j * w + i] = x[j * w + i] * threadIdx.x;\n")},
        GateCase{"GridElsewhere", "uses-thread-position",
                 guarded("        y[j * w + i] = x[j * w + i] * gridDim.x;\n")},
        GateCase{"ChangedIndex", "no-flat-index",
                 plane(axes + "    if (i < w && j < h) {\n        y[j * w + i] = x[j * w + i];\n"
                              "        i = 0;\n    }\n")},
        GateCase{"Atomic", "atomic",
                 guarded("        y[j * w + i] = x[i];\n        atomicAdd(y, 1.0f);\n")},
        GateCase{"Loop", "loop-in-work",
                 guarded("        for (int r = 0; r < 3; ++r) y[j * w + i] += x[i];\n")},
        GateCase{"LoopOfACallee", "loop-in-work",
                 plane(axes + "    if (i < w && j < h) y[j * w + i] = sum(x, j) * x[i];\n",
                       "__device__ float sum(const float* x, int n) {\n    float s = 0;\n"
                       "    for (int r = 0; r < n; ++r) s += x[r];\n    return s;\n}\n")},
        GateCase{"UnknownCallee", "call-in-work",
                 plane(axes + "    if (i < w && j < h) y[j * w + i] = f(x[i]);\n",
                       "__device__ float f(float x);\n")},
        GateCase{
            "OperatorOfAClass", "call-in-work",
            "struct Every { float* p; int s; __device__ float& operator[](int i) const { return "
            "p[i * s]; } };\n__global__ void k(Every x, float* y, int w, int h) {\n" +
                axes +
                "    if (i < w && j < h) y[j * w + i] = x[j * w + i];\n}\n"
                "void run(Every x, float* y, int w, int h) { k<<<dim3(w, h), 1>>>(x, y, w, h); "
                "}\n"},
        GateCase{"ThreeChannels", "short-rows",
                 plane(axes + "    if (i < 3 && j < h) y[3 * j + i] = x[3 * j + i];\n")},
        GateCase{"RowsThatNoGroupFills", "short-rows",
                 plane("    int e = blockIdx.x * blockDim.x + threadIdx.x;\n    if (e >= w || "
                       "blockIdx.y >= h) return;\n"
                       "    y[blockIdx.y * w + e / 6 * 6 + e % 6] = x[m[e / 6] + e % 6];\n")},
        GateCase{"Macro", "from-macro",
                 plane(axes + "    if (i < w && j < h) AT(y, j, i) = AT(x, j, i);\n",
                       "#define AT(p, row, column) p[(row) * w + (column)]\n")},
        GateCase{"GridOfAFunction", "launch-grid",
                 plane(axes + "    if (i < w && j < h) y[j * w + i] = x[j * w + i];\n",
                       "dim3 gridOf(int w, int h);\n", "gridOf(w, h)")},
        GateCase{"LoopWithWorkBehind", "work-after-guard",
                 strided("y[i + w] = x[i + w];", "    y[0] = 0;\n")},
        GateCase{
            "LoopOverThreads", "uses-thread-position",
            strided("y[i + w] = x[i + w] * lane;", "", "    const int lane = threadIdx.x % 32;\n")},
        GateCase{"LoopThatSkips", "writes-outer-variable", strided("y[i + w] = x[i++ + w];")},
        GateCase{"LoopLimitInMemory", "compound-guard", strided("y[i + w] = 0;", "", "", "m[0]")},
        GateCase{"PartOfARecord", "strided-access",
                 pixelPlane("        out[j * w + i].r = in[j * w + i].g;\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

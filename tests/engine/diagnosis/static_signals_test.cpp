#include "analysis/features/features.h"
#include "tests/engine/diagnosis/subject.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

/// The diagnosis of the first kernel of a text, from the text alone.
Bottleneck diagnosisOf(const std::string& text) {
    const auto model = parsedProgram(text);
    EXPECT_TRUE(model.diagnostics.empty()) << model.diagnostics.front().message;
    const auto features = analysis::extractFeatures(model.kernels.front());
    return diagnose({.kernel = model.kernels.front(),
                     .features = features,
                     .gpu = kernelskill::testing::builtinGpu("H200"),
                     .source = model.source.get(),
                     .file = &model});
}

Bottleneck ofBody(const std::string& body) {
    return diagnosisOf(
        "__global__ void k(const float* x, const int* keys, float* out, int* counts,\n"
        "                  int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        body + "\n}\n");
}

TEST(AtomicsOnOneAddress, HoldUnderABoundsGuardOrAConditionOnData) {
    for (const char* body : {"atomicAdd(out, x[i]);", "if (i < n) atomicAdd(out, x[i]);",
                             "if (i >= n) return;\natomicAdd(out, x[i]);",
                             "if (i < n && x[i] > 0) atomicAdd(counts, 1);",
                             "if (i < n) { float v = x[i]; if (v > 0) atomicAdd(&counts[3], 1); }",
                             "for (; i < n; i += 1024) atomicMax(counts, keys[i]);",
                             "if (i < n) atomicAdd(&out[blockIdx.x], x[i]);"}) {
        EXPECT_EQ(ofBody(body).rule, "atomics-on-one-address") << body;
        EXPECT_EQ(ofBody(body).kind, BottleneckKind::Synchronization) << body;
    }
}

TEST(AtomicsOnOneAddress, DoNotHoldWhereTheKernelChoosesLanes) {
    for (const char* body : {"if (threadIdx.x == 0) atomicAdd(out, x[blockIdx.x]);",
                             "if (threadIdx.x % 32 == 0) atomicAdd(out, x[i]);",
                             "int lane = threadIdx.x & 31;\nif (lane == 0) atomicAdd(out, x[i]);",
                             "if (threadIdx.x != 0) return;\natomicAdd(out, x[i]);",
                             "if (threadIdx.x < 32) { if (i < n) atomicAdd(out, x[i]); }"})
        EXPECT_NE(ofBody(body).rule, "atomics-on-one-address") << body;
}

TEST(AtomicsOnOneAddress, HoldWhereAnAtomicIsTheCondition) {
    EXPECT_EQ(ofBody("if (i < n && atomicCAS(&counts[keys[i] + 1], -1, 1) == -1)\n"
                     "    counts[2 + atomicAdd(counts, 1)] = i;")
                  .rule,
              "atomics-on-one-address");
}

TEST(ContendedUpdates, AreAtomicsWhoseDataChoosesThePlace) {
    EXPECT_EQ(ofBody("if (i < n) atomicAdd(&counts[keys[i] & 63], 1);").rule, "contended-updates");
    EXPECT_EQ(ofBody("if (i < n) atomicAdd(&out[keys[i]], x[i]);").rule, "contended-updates");
    EXPECT_NE(ofBody("if (i < n) atomicAdd(&out[i], x[i]);").rule, "contended-updates");
}

TEST(LockInLoop, IsAnAtomicThatIsTriedUntilItSucceeds) {
    EXPECT_EQ(
        ofBody("while (atomicCAS(counts, 0, 1) != 0) {}\n*out += x[i];\natomicExch(counts, 0);")
            .rule,
        "lock-in-loop");
}

TEST(UncoalescedAccess, IsExplainedByTheDistanceThatItsSectorsFollowFrom) {
    const Bottleneck found =
        diagnosisOf("__global__ void k(const float* x, float* y) {\n"
                    "    int items = 2048 / blockDim.x;\n    float s = 0;\n"
                    "    for (int j = 0; j < items; ++j) s += x[threadIdx.x * items + j];\n"
                    "    y[threadIdx.x] = s;\n}\n"
                    "void run(const float* x, float* y) { k<<<1, 512>>>(x, y); }\n");
    for (const Evidence& evidence : found.evidence)
        EXPECT_THAT(evidence.text, ::testing::Not(::testing::HasSubstr("the same element")));
}

TEST(Divergence, IsWhereLanesOfAWarpDoLongWorkApart) {
    const char* work = "v = sinf(v) * 2.f + cosf(v); v = sqrtf(v) + 1.f;";
    const auto under = [&](const std::string& condition) {
        return ofBody("float v = x[i];\nfor (int r = 0; r < n; ++r) { if (" + condition + ") { " +
                      work + " } }\nout[i] = v;");
    };
    EXPECT_EQ(under("threadIdx.x % 2 == 0").rule, "branch-on-thread-in-loop");
    EXPECT_EQ(under("(threadIdx.x & 3) == 1").rule, "branch-on-thread-in-loop");
    EXPECT_NE(under("(threadIdx.x / 32) % 2 == 0").rule, "branch-on-thread-in-loop")
        << "whole warps";
    EXPECT_NE(under("i < n").rule, "branch-on-thread-in-loop") << "almost all lanes";
}

TEST(Divergence, IsNotAShortBranchThatIsPredicated) {
    EXPECT_NE(
        ofBody("float best = 0;\n"
               "for (int j = 0; j < n; ++j) { float d = x[j] - x[i]; if (d < best) best = d; }\n"
               "out[i] = best;")
            .kind,
        BottleneckKind::Divergence);
}

TEST(Divergence, IsALoopThatEachThreadLeavesByItsOwnValues) {
    EXPECT_EQ(ofBody("int v = keys[i], k = 0;\n"
                     "while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; ++k; }\ncounts[i] = k;")
                  .rule,
              "rounds-that-data-decides");
}

TEST(Divergence, IsATreeThatLeavesLanesOfEveryWarpIdle) {
    const auto tree = [](const std::string& condition) {
        return ofBody("__shared__ float s[256];\nint t = threadIdx.x;\ns[t] = x[i];\n"
                      "__syncthreads();\nfor (int d = 1; d < 256; d *= 2) {\n    if (" +
                      condition + ") s[t] += s[t + d];\n    __syncthreads();\n}\nout[i] = s[t];");
    };
    EXPECT_EQ(tree("t % (2 * d) == 0").rule, "idle-lanes-of-a-tree");
    EXPECT_NE(tree("t < 128").rule, "idle-lanes-of-a-tree");
}

TEST(UncoalescedAccess, IsSeenThroughMovedPointersAndFields) {
    EXPECT_EQ(ofBody("const float* p = x + i * n;\nfloat s = 0;\n"
                     "for (const float* e = p + n; p < e; ++p) s += *p;\nout[i] = s;")
                  .kind,
              BottleneckKind::UncoalescedAccess);
    EXPECT_EQ(diagnosisOf("struct P { float v[4]; int k[4]; };\n"
                          "__global__ void k(P* p) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    for (int c = 0; c < 4; ++c) p[i].v[c] += p[i].k[c];\n}\n")
                  .rule,
              "strided-records");
}

TEST(UncoalescedAccess, IsNotAnOffsetOfNarrowBlocks) {
    EXPECT_NE(diagnosisOf(
                  "__global__ void k(const float* a, float* b, int n) {\n"
                  "    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\n"
                  "    if (x > 0 && x < n - 1 && y < n)\n"
                  "        b[y * n + x] = a[y * n + x - 1] + a[y * n + x + 1];\n}\n"
                  "void run(float* a, float* b, int n) {\n"
                  "    k<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, n);\n}\n")
                  .kind,
              BottleneckKind::UncoalescedAccess);
}

TEST(UncoalescedAccess, IsNoStrideThatACallerMayGiveAsOne) {
    const std::string head = "__global__ void k(int n, float a, const float* x, int incx, float* y,"
                             " int incy) {\n"
                             "    int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + "
                             "threadIdx.x;\n";
    EXPECT_NE(diagnosisOf(head + "    if (i < n) y[i * incy] += a * x[i * incx];\n}\n").kind,
              BottleneckKind::UncoalescedAccess);
    // The length of a row, which is compared with.
    EXPECT_EQ(diagnosisOf(head + "    if (i < n) for (int j = 0; j < incx; ++j)\n"
                                 "        y[i] += a * x[i * incx + j];\n}\n")
                  .kind,
              BottleneckKind::UncoalescedAccess);
    // The length of a row that a pointer walks along.
    EXPECT_EQ(diagnosisOf(head + "    if (i >= n) return;\n    const float* row = x + i * incx;\n"
                                 "    float sum = 0;\n"
                                 "    for (int j = 0; j < 8; ++j) { sum += *row; row += 1; }\n"
                                 "    y[i * incx] = a * sum;\n}\n")
                  .kind,
              BottleneckKind::UncoalescedAccess);
}

TEST(UncoalescedAccess, IsARowOfItsOwnForEachLane) {
    EXPECT_EQ(ofBody("float s = 0;\nfor (int e = keys[i]; e < keys[i + 1]; ++e) s += x[e];\n"
                     "out[i] = s;")
                  .rule,
              "ragged-row-walk");
    EXPECT_NE(ofBody("float s = 0;\nint row = i >> 5;\n"
                     "for (int e = keys[row] + (threadIdx.x & 31); e < keys[row + 1]; e += 32)\n"
                     "    s += x[e];\nout[i] = s;")
                  .rule,
              "ragged-row-walk")
        << "a row a warp";
}

TEST(MatrixProduct, HasOperandsOfTwoAxes) {
    const auto product = [](const std::string& a, const std::string& b) {
        return diagnosisOf(
            "__constant__ float w[64];\n"
            "__global__ void k(const float* a, const float* b, float* c, int n, int r) {\n"
            "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
            "    if (x >= n || y >= n) return;\n    float s = 0;\n"
            "    for (int k = 0; k < r; ++k) s += " +
            a + " * " + b + ";\n    c[y * n + x] = s;\n}\n");
    };
    EXPECT_EQ(product("a[y * r + k]", "b[k * n + x]").rule, "matrix-product");
    EXPECT_NE(product("a[y * n + x + k]", "w[k]").rule, "matrix-product") << "a filter";
    EXPECT_NE(product("a[k * n + x]", "b[k]").rule, "matrix-product") << "a vector";
}

TEST(Compute, CountsFunctionsAndWhatStaysOnTheChip) {
    EXPECT_EQ(
        ofBody("float v = x[i];\nfor (int r = 0; r < n; ++r) v = sinf(v) + 0.1f;\nout[i] = v;")
            .kind,
        BottleneckKind::Compute);
    EXPECT_EQ(ofBody("float f = 0;\nfor (int j = 0; j < n; ++j) {\n"
                     "    float d = x[j] - x[i]; f += d * rsqrtf(d * d + 1.f); }\nout[i] = f;")
                  .kind,
              BottleneckKind::Compute)
        << "all threads load the same";
}

TEST(Compute, NamesACallWithTheSameArgumentsInEachRound) {
    EXPECT_EQ(
        diagnosisOf("__global__ void k(float* x, float base, float e, int n) {\n"
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float v = x[i];\n"
                    "    for (int r = 0; r < n; ++r) v = v * powf(base, e) + 0.1f;\n"
                    "    x[i] = v;\n}\n")
            .rule,
        "invariant-function");
}

TEST(StaticSignals, CountNoWasteThatIsDoneOnceBesideALongLoop) {
    const auto rule = [](const std::string& work) {
        return diagnosisOf("__global__ void k(const float* a, float* out, int m, int n) {\n"
                           "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    float sum = 0;\n    " +
                           work + "\n    out[x * 128] = sum;\n}\n")
            .rule;
    };
    EXPECT_EQ(rule("sum = a[x];"), "strided-global-access");
    EXPECT_NE(rule("for (int i = 0; i < 1000; ++i) sum += a[i * m + x];"), "strided-global-access");
}

TEST(LaunchOverhead, IsALaunchOfFewThreadsInALoopOfTheHost) {
    const auto repeated = [](const std::string& loop) {
        const std::string text =
            "__global__ void k(float* x) { x[blockIdx.x * 256 + threadIdx.x] += 1; }\n"
            "void run(float* x) {\n    " +
            loop + "\n        k<<<16, 256>>>(x);\n}\n";
        const auto model = parsedProgram(text);
        const auto features = analysis::extractFeatures(model.kernels.front());
        const LaunchSpec launch = bestLaunch(text);
        return diagnose({.kernel = model.kernels.front(),
                         .features = features,
                         .gpu = kernelskill::testing::builtinGpu("H200"),
                         .launch = &launch,
                         .source = model.source.get(),
                         .file = &model});
    };
    EXPECT_EQ(repeated("for (int s = 0; s < 1000; ++s)").rule, "launches-of-few-threads");
    EXPECT_NE(repeated("for (int s = 0; s < 3; ++s)").rule, "launches-of-few-threads");
}

TEST(Headroom, IsNoneWhereEachByteIsMovedOnceAndTheMemoryIsNearItsPeak) {
    const auto model = parsedProgram("__global__ void k(const float* a, float* b, int n) {\n"
                                     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "    if (i < n) b[i] = a[i];\n}\n");
    const auto features = analysis::extractFeatures(model.kernels.front());
    const auto at = [&](double percent) {
        Profile profile = kernelskill::testing::profileWith(
            {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", percent},
             {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20}});
        return diagnose({.kernel = model.kernels.front(),
                         .features = features,
                         .gpu = kernelskill::testing::builtinGpu("H200"),
                         .profile = &profile,
                         .source = model.source.get(),
                         .file = &model});
    };
    EXPECT_EQ(at(93).rule, "measured-bandwidth");
    EXPECT_EQ(at(93).headroom, noHeadroom);
    EXPECT_EQ(at(84).headroom, "low");
}

TEST(Headroom, IsNoneWhereEachByteIsMovedOnceAtFullWidth) {
    const auto of = [](const char* type) {
        return diagnosisOf(std::string("__global__ void k(const ") + type + "* a, " + type +
                           "* b, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n) b[i] = a[i];\n}\n");
    };
    EXPECT_EQ(of("float4").headroom, noHeadroom);
    EXPECT_EQ(of("float4").kind, BottleneckKind::MemoryBandwidth);
    EXPECT_NE(of("float").headroom, noHeadroom);
}

/// Sizes that are not known stand as large numbers, whose products leave 64 bits.
TEST(StaticSignals, AreFoundBesideProductsOfManySizes) {
    const Bottleneck found = diagnosisOf(R"(
__global__ void gather(const float* columns, float* out, int n, int a, int b, int c, int d, int e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    int base = (i * a * a + i * b) * c * d;
    for (int y = 0; y < e; ++y)
        for (int x = 0; x < e; ++x)
            sum += columns[base + y * (1 - b * a * c) * d + x * (1 - b * c * d)];
    out[i] = sum;
}
)");
    EXPECT_FALSE(found.evidence.empty());
}

/// Particles of a block and of its neighbours, four doubles each, in shared memory.
std::string particles(const std::string& place, const std::string& behind = "") {
    return "struct Particle { double v, x, y, z; };\n"
           "__global__ void k(const Particle* p, double* out) {\n"
           "    __shared__ Particle own[128], other[128];\n"
           "    int t = threadIdx.x;\n"
           "    own[t] = p[blockIdx.x * 128 + t];\n"
           "    double sum = 0;\n"
           "    for (int b = 0; b < 64; ++b) {\n"
           "        other[t] = p[b * 128 + t];\n"
           "        __syncthreads();\n"
           "        for (int j = 0; j < 128; ++j) {\n"
           "            double r = own[" +
           place + "].x - other[j].x;\n            sum += r * other[j].v + own[" + place +
           "].v * other[j].y;\n" + behind +
           "        }\n"
           "        __syncthreads();\n"
           "    }\n"
           "    out[blockIdx.x * 128 + t] = sum;\n"
           "}\nvoid run(const Particle* p, double* out) { k<<<4096, 128>>>(p, out); }\n";
}

TEST(BankConflicts, AreNoneWhereTheCompilerKeepsTheElement) {
    EXPECT_NE(diagnosisOf(particles("t")).kind, BottleneckKind::BankConflicts);
    EXPECT_EQ(diagnosisOf(particles("(t + j) % 128")).kind, BottleneckKind::BankConflicts);
    EXPECT_EQ(diagnosisOf(particles("t", "            own[t].v += r;\n")).kind,
              BottleneckKind::BankConflicts);
}

TEST(UncoalescedAccess, IsNoneOfWindowsThatMayBeOneElementApart) {
    const auto rule = [](const std::string& by) {
        return diagnosisOf("__global__ void k(const float* columns, float* image, int n, int "
                           "height, int width, int size, int pad,\n"
                           "                  int stride, int rows, int cols) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i >= n) return;\n"
                           "    float sum = 0;\n"
                           "    int x = i % width + pad;\n"
                           "    int first = x < size ? 0 : (x - size) / " +
                           by +
                           " + 1;\n"
                           "    int place = x * rows * cols;\n"
                           "    int by = 1 - " +
                           by +
                           " * rows * cols;\n"
                           "    for (int c = first; c < cols; ++c) sum += columns[place + c * "
                           "by];\n"
                           "    image[i] = sum;\n"
                           "}\n")
            .rule;
    };
    EXPECT_NE(rule("stride"), "strided-global-access");
    EXPECT_EQ(rule("4096"), "strided-global-access");
}

} // namespace
} // namespace kernelskill::engine

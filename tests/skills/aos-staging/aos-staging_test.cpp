#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "aos-staging";

const std::string body =
    "struct Body {\n    float x, y, z;\n    float vx, vy, vz;\n    float mass, energy;\n"
    "};\n";

/// A kernel over bodies, values and n with `work`, launched once as `launch`.
std::string kernel(const std::string& work,
                   const std::string& launch = "<<<(n + 255) / 256, 256>>>",
                   const std::string& records = "Body* bodies") {
    return body + "__global__ void k(" + records + ", float* values, int n, int w, int h) {\n" +
           work + "}\nvoid run(" + records + ", float* values, int n, int w, int h) {\n    k" +
           launch + "(" + records.substr(records.rfind(' ') + 1) + ", values, n, w, h);\n}\n";
}

const std::string index = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
const std::string push = "        bodies[i].vx += 1;\n        bodies[i].vy += 1;\n"
                         "        bodies[i].vz += bodies[i].mass;\n        bodies[i].x += 1;\n"
                         "        bodies[i].y += 1;\n        bodies[i].z += 1;\n";

std::string flat(const std::string& work,
                 const std::string& launch = "<<<(n + 255) / 256, 256>>>") {
    return kernel(work, launch, "float* q");
}

void expectPart(const std::string& text, const std::string& part) {
    EXPECT_TRUE(text.contains(part)) << part << "\nis not in\n" << text;
}

TEST(AosStaging, StoresBehindABoundsCheck) {
    checkApplicable(id, kernel(index + "    if (i < n) {\n" + push + "    }\n"),
                    kernel(R"(    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int bodiesWords[9 * 256];
    const int first = blockIdx.x * blockDim.x;
    for (int word = threadIdx.x; word < 8 * 256; word += 256)
        if (first + word / 8 < n)
            bodiesWords[word / 8 * 9 + word % 8] = reinterpret_cast<const int*>(bodies + first)[word];
    __syncthreads();
    Body& body = reinterpret_cast<Body&>(bodiesWords[9 * threadIdx.x]);
    if (i < n) {
        body.vx += 1;
        body.vy += 1;
        body.vz += body.mass;
        body.x += 1;
        body.y += 1;
        body.z += 1;
    }
    __syncthreads();
    for (int word = threadIdx.x; word < 8 * 256; word += 256)
        if (first + word / 8 < n)
            reinterpret_cast<int*>(bodies + first)[word] = bodiesWords[word / 8 * 9 + word % 8];
)"));
}

TEST(AosStaging, TakesElementsOfAFlatArrayAndAnEarlyReturn) {
    checkApplicable(id,
                    flat("    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n"
                         "    if (i >= n)\n        return;\n    for (int d = 0; d < 8; ++d)\n"
                         "        q[8 * i + d] += values[i] * d;\n"),
                    flat(R"(    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    __shared__ float qTile[9 * 256];
    const size_t first = i - threadIdx.x;
    for (int word = threadIdx.x; word < 8 * 256; word += 256)
        if (first + word / 8 < n)
            qTile[word / 8 * 9 + word % 8] = q[8 * first + word];
    __syncthreads();
    if (i < n) {
        for (int d = 0; d < 8; ++d)
            qTile[9 * threadIdx.x + d] += values[i] * d;
    }
    __syncthreads();
    for (int word = threadIdx.x; word < 8 * 256; word += 256)
        if (first + word / 8 < n)
            q[8 * first + word] = qTile[word / 8 * 9 + word % 8];
)"));
}

TEST(AosStaging, FollowsAPointerToTheRecordThatStandsBeforeTheCheck) {
    const std::string after = appliedText(
        id, flat("    int t = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;\n"
                 "    float* a = &q[9 * t];\n    if (t < n) {\n        float sum = a[0] + a[8];\n"
                 "        for (int c = 0; c < 9; c++)\n            a[c] = a[c] / sum;\n    }\n",
                 "<<<dim3(4, n / 1024), 128>>>"));
    expectPart(after, "    const int first = t - threadIdx.x;\n"
                      "    for (int word = threadIdx.x; word < 9 * 128; word += 128)\n"
                      "        if (first + word / 9 < n)\n"
                      "            qTile[word] = q[9 * first + word];\n    __syncthreads();\n"
                      "    float* a = &qTile[9 * threadIdx.x];\n    if (t < n) {\n");
}

TEST(AosStaging, LoadsNothingOfWhatIsOnlyStored) {
    const std::string after = appliedText(
        id, flat(index + "    float* at = q + i * 7;\n    float s = values[i];\n    at[0] = s;\n"
                         "    at[1] = s;\n    at[2] = s;\n    at[3] = s;\n    at[4] = s;\n"
                         "    at[5] = s;\n    at[6] = -s;\n",
                 "<<<n / 256, 256>>>"));
    expectPart(after, "    __shared__ float qTile[7 * 256];\n"
                      "    const int first = blockIdx.x * blockDim.x;\n"
                      "    float* at = qTile + 7 * threadIdx.x;\n");
    expectPart(after, "    at[6] = -s;\n    __syncthreads();\n"
                      "    for (int word = threadIdx.x; word < 7 * 256; word += 256)\n"
                      "        q[7 * first + word] = qTile[word];\n}\n");
}

TEST(AosStaging, StagesWholeStructs) {
    const std::string after = appliedText(
        id, kernel(index +
                   "    if (i < n) {\n        Body b;\n        b.x = b.y = b.z = values[i];\n"
                   "        b.vx = b.vy = b.vz = b.mass = b.energy = 1;\n        bodies[i] = b;\n"
                   "    }\n"));
    expectPart(after, "        body = b;\n    }\n    __syncthreads();\n");
    EXPECT_FALSE(after.contains("bodiesWords[word] = ")) << after;
}

TEST(AosStaging, KeepsRowsOfATwoDimensionalBlockApart) {
    const std::string after = appliedText(
        id, kernel("    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n    int i = y * w + x;\n"
                   "    if (x < w && y < h) {\n" +
                       push + "    }\n",
                   "<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>"));
    expectPart(after, "    __shared__ int bodiesWords[16][9 * 16];\n"
                      "    const int firstX = blockIdx.x * blockDim.x;\n"
                      "    const int firstI = i - threadIdx.x;\n"
                      "    for (int word = threadIdx.x; word < 8 * 16; word += 16)\n"
                      "        if (firstX + word / 8 < w && y < h)\n"
                      "            bodiesWords[threadIdx.y][word / 8 * 9 + word % 8] = "
                      "reinterpret_cast<const int*>(bodies + firstI)[word];\n");
    expectPart(after, "reinterpret_cast<Body&>(bodiesWords[threadIdx.y][9 * threadIdx.x]);");
}

TEST(AosStaging, ComputesTheNumberOfARecordThatIsDeclaredBehindTheCheck) {
    const std::string after =
        appliedText(id, kernel("    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                               "    if ((x >= w) || (y >= h)) return;\n    int i = y * w + x;\n" +
                                   push,
                               "<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>"));
    expectPart(after, "    const int firstI = y * w + x - threadIdx.x;\n");
    expectPart(after, "    __syncthreads();\n    Body& body = reinterpret_cast<Body&>("
                      "bodiesWords[threadIdx.y][9 * threadIdx.x]);\n"
                      "    if (x < w && y < h) {\n        int i = y * w + x;\n");
}

TEST(AosStaging, HasLaunchesStateTheMemoryOfBlocksOfAnySize) {
    const std::string after = appliedText(
        id, kernel(index + "    if (i < n) {\n" + push + "    }\n", "<<<(n + w - 1) / w, w >>>"));
    expectPart(after, "    extern __shared__ int bodiesWords[];\n");
    expectPart(after,
               "    for (int word = threadIdx.x; word < 8 * blockDim.x; word += blockDim.x)\n");
    expectPart(after, "k<<<(n + w - 1) / w, w, 9 * w * sizeof(int) >>>(bodies, ");
}

TEST(AosStaging, LeavesArraysThatCachesServeAlone) {
    const std::string source = body + R"(struct Pair {
    int a;
    float b;
    int c;
};
__global__ void k(const Pair* pairs, Body* bodies, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bodies[i].vx += pairs[i].b * pairs[i].a;
    bodies[i].vy += pairs[i].c;
    bodies[i].vz += 1;
    bodies[i].x += 1;
    bodies[i].y += 1;
    bodies[i].z += 1;
}
void run(const Pair* pairs, Body* bodies, int n) {
    k<<<(n + 63) / 64, 64>>>(pairs, bodies, n);
}
)";
    const std::string after = appliedText(id, source);
    expectPart(after, "    body.vx += pairs[i].b * pairs[i].a;\n");
    const Subject subject = parseSubject(source);
    const std::vector<Offer> others = skillNamed(id).alternatives(subject.context());
    ASSERT_EQ(others.size(), 1U);
    EXPECT_TRUE(others.front().title.contains("pairs, bodies")) << others.front().title;
}

TEST(AosStaging, IsAboutTheKernel) {
    checkTarget(id, kernel(index + "    if (i < n) {\n" + push + "    }\n"), "k");
}

class AosStagingGates : public testing::TestWithParam<GateCase> {};

TEST_P(AosStagingGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate, GetParam().compiled);
}

std::string guarded(const std::string& work) {
    return kernel(index + "    if (i < n) {\n" + work + "    }\n");
}

INSTANTIATE_TEST_SUITE_P(
    Each, AosStagingGates,
    testing::Values(
        GateCase{"NoRecords", "no-records", guarded("        values[i] += 1;\n")},
        GateCase{"NotOwnRecord", "not-own-record",
                 guarded(push + "        values[i] = bodies[i + 1].x;\n")},
        GateCase{"GridStride", "no-records",
                 kernel("    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
                        "blockDim.x * gridDim.x) {\n" +
                        push + "    }\n")},
        GateCase{"SmallElements", "small-elements",
                 kernel(index + "    if (i < n)\n        for (int c = 0; c < 12; ++c)\n"
                                "            q[12 * i + c] += 1;\n",
                        "<<<n / 64, 64>>>", "short* q")},
        GateCase{"OneLoad", "one-load",
                 kernel(index + "    if (i < n) {\n        q[i].x += 1;\n        q[i].w += 1;\n"
                                "    }\n",
                        "<<<n / 64, 64>>>", "float4* q")},
        GateCase{"MovedPointer", "moved-pointer",
                 flat(index +
                      "    q += 6 * i;\n    if (i < n)\n        for (int c = 0; c < 6; ++c)\n"
                      "            q[c] += 1;\n")},
        GateCase{"WholeArray", "whole-array",
                 flat(index + "    float* all = q;\n    if (i < n)\n"
                              "        for (int c = 0; c < 6; ++c)\n"
                              "            all[6 * i + c] += 1;\n")},
        GateCase{"FromMacro", "from-macro",
                 "#define AT(k) q[6 * i + k]\n" +
                     flat(index + "    if (i < n)\n        for (int c = 0; c < 6; ++c)\n"
                                  "            AT(c) += 1;\n")},
        GateCase{
            "RecordNumber", "record-number",
            flat("    if (n > 0)\n        for (int c = 0; c < 6; ++c)\n"
                 "            q[6 * (w + blockIdx.x * blockDim.x + threadIdx.x) + c] += 1;\n")},
        GateCase{"ConditionalRecords", "conditional-records",
                 guarded("        if (values[i] > 0) {\n" + push + "        }\n")},
        GateCase{"RecordEnds", "record-ends",
                 flat(index + "    if (i < n)\n        for (int c = 0; c < 5; ++c)\n"
                              "            q[6 * i + c] += 1;\n")},
        GateCase{"PartialRecords", "partial-records",
                 guarded("        bodies[i].x = 1;\n        bodies[i].y = 1;\n")},
        GateCase{"FewFields", "few-fields", guarded("        bodies[i].x += 1;\n")},
        GateCase{"SmallPart", "small-part",
                 guarded(push + "        for (int j = 0; j < w; ++j)\n"
                                "            values[i] += values[j];\n")},
        GateCase{"Guard", "guard",
                 kernel(index + "    if (values[i] > 0)\n        return;\n" + push)},
        GateCase{"CachedFields", "cached-fields",
                 kernel(index + "    if (i < n)\n        values[i] = bodies[i].x + bodies[i].y + "
                                "bodies[i].z;\n",
                        "<<<n / 64, 64>>>", "const Body* bodies")},
        GateCase{"FewStores", "cached-fields",
                 guarded("        bodies[i].x += bodies[i].vx;\n        bodies[i].y += "
                         "bodies[i].vy;\n")},
        GateCase{"SeveralBlocks", "several-blocks",
                 body + "__global__ void k(Body* bodies, Body* others, int n) {\n" + index +
                     "    if (i < n) {\n" + push +
                     "        others[i].vx += 1;\n        others[i].vy += 1;\n"
                     "        others[i].vz += 1;\n        others[i].x += 1;\n"
                     "        others[i].y += 1;\n        others[i].z += 1;\n    }\n}\n"
                     "void run(Body* a, Body* b, int n) {\n    k<<<1, 64>>>(a, b, 1);\n"
                     "    k<<<2, 32>>>(a, b, 1);\n}\n"},
        GateCase{"UnknownBlock", "unknown-block",
                 kernel(index + "    if (i < n) {\n" + push + "    }\n", "<<<n, dim3(w, 2)>>>")},
        GateCase{"StatedMemory", "unknown-block",
                 kernel(index + "    if (i < n) {\n" + push + "    }\n", "<<<n, w, 64>>>")},
        GateCase{"NoLaunch", "no-launch",
                 body + "__global__ void k(Body* bodies, int n) {\n" + index +
                     "    if (i < n) {\n" + push + "    }\n}\n"},
        GateCase{"ThreeDimensional", "three-dimensional",
                 kernel("    int i = (blockIdx.x * 4 + threadIdx.y * 2 + threadIdx.z) * 64 + "
                        "threadIdx.x;\n    if (i < n) {\n" +
                            push + "    }\n",
                        "<<<n / 256, dim3(64, 2, 2)>>>")},
        GateCase{"TooMuchSharedMemory", "too-much-shared-memory",
                 flat(index + "    if (i < n)\n        for (int c = 0; c < 16; ++c)\n"
                              "            q[16 * i + c] += 1;\n",
                      "<<<n / 1024, 1024>>>")},
        GateCase{"EarlyReturn", "early-return",
                 guarded(push + "        if (values[i] > 0)\n            return;\n"
                                "        bodies[i].x = 1;\n")},
        GateCase{"Line", "line",
                 kernel(index + "    if (i < n) {\n" + push + "    } values[0] = 1;\n")},
        GateCase{"MayAlias", "may-alias",
                 kernel(index + "    if (i < n) {\n" + push +
                            "        values[i] = bodies[i].x;\n"
                            "    }\n",
                        "<<<n / 64, 64>>>") +
                     "void both(Body* b) {\n    k<<<1, 64>>>(b, (float*)b, 1, 1, 1);\n}\n"},
        GateCase{"UnknownEffects", "unknown-effects",
                 "__device__ void act(float* all);\n" + guarded(push + "        act(values);\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

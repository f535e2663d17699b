#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <vector>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "register-tiling";

const std::string positions = "    int i = blockIdx.y * blockDim.y + threadIdx.y;\n"
                              "    int j = blockIdx.x * blockDim.x + threadIdx.x;\n";
const std::string declared =
    "__global__ void p(const float*, const float*, float*, int, int, int);\n";
const std::string guard = "    if (i >= m || j >= n) return;\n";
const std::string product = "    float sum = 0.0f;\n"
                            "    for (int t = 0; t < k; ++t)\n"
                            "        sum += a[i * k + t] * b[t * n + j];\n"
                            "    c[i * n + j] = sum;\n";

/// A kernel with `body`, launched with three allocations.
std::string kernel(const std::string& body, const std::string& block = "dim3(16, 16)",
                   const std::string& grid = "dim3((n + 15) / 16, (m + 15) / 16)",
                   const std::string& before = "") {
    return before +
           "__global__ void p(const float* a, const float* b, float* c, int m, int n, int k) {\n" +
           body +
           "}\nvoid run(int m, int n, int k) {\n    float *a, *b, *c;\n    cudaMalloc(&a, m);\n"
           "    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n    p<<<" +
           grid + ", " + block + ">>>(a, b, c, m, n, k);\n}\n";
}

std::string tiled(const std::string& body) {
    return appliedText(id, kernel(body));
}

void expectText(const std::string& text, const std::string& part) {
    EXPECT_TRUE(text.contains(part)) << part << "\n--- is not in ---\n" << text;
}

TEST(RegisterTiling, DividesGridsByTheOutputsOfAThread) {
    expectText(tiled(positions + guard + product),
               "p<<<dim3(((n + 15) / 16 + 3) / 4, ((m + 15) / 16 + 3) / 4), dim3(16, 16)>>>");
    const std::string named = kernel(positions + guard + product, "dim3(32, 8)", "grid",
                                     "#define CEIL(a, b) (((a) + (b) - 1) / (b))\n");
    std::string text = named;
    text.insert(text.find("    p<<<"), "    dim3 grid(CEIL(n, 32), CEIL(m, 8));\n");
    expectText(appliedText(id, text),
               "p<<<dim3((grid.x + 1) / 2, (grid.y + 7) / 8, grid.z), dim3(32, 8)>>>");
}

TEST(RegisterTiling, KeepsStatementsAndComments) {
    const std::string text =
        tiled(positions + "    if (i < m && j < n) {\n"
                          "        // The bias first.\n"
                          "        float sum = b[j];\n"
                          "        for (int t = 0; t < k; ++t) { // all terms\n"
                          "            float x = a[i * k + t]; /* left */\n"
                          "            sum = fmaf(x, a[j * k + t], sum);\n"
                          "        }\n"
                          "        c[i * n + j] = sum > 0 ? sum : 0.1f * sum; // leaky\n"
                          "    }\n");
    expectText(text, "// The bias first.\n");
    expectText(text, "sum[ii][jj] = b[j];");
    expectText(text, "// all terms\n");
    expectText(text, "float x = aValues[ii];");
    expectText(text, "/* left */\n");
    expectText(text, "sum[ii][jj] = fmaf(x, aValues2[jj], sum[ii][jj]);");
    expectText(text, "c[i * n + j] = sum[ii][jj] > 0 ? sum[ii][jj] : 0.1f * sum[ii][jj];");
    expectText(text, "// leaky\n");
}

TEST(RegisterTiling, KeepsOutputsInRegistersMeanwhile) {
    const std::string text = tiled(positions + "    if (i < m && j < n) {\n"
                                               "        c[i * n + j] *= 0.5f;\n"
                                               "        int t;\n"
                                               "        for (t = 0; t < k; t++)\n"
                                               "            c[i * n + j] += a[t * m + i] * "
                                               "b[t * n + j];\n"
                                               "    }\n");
    expectText(text, "sum[ii][jj] = c[i * n + j];\n                sum[ii][jj] *= 0.5f;\n");
    expectText(text, "c[i * n + j] = sum[ii][jj];");
    EXPECT_FALSE(text.contains("int t;"));
    expectText(tiled(positions + "    if (i < m && j < n)\n"
                                 "        for (int t = 0; t < k; t++)\n"
                                 "            c[i * n + j] += a[t * m + i] * b[t * n + j];\n"),
               "if (0 < k)\n                    sum[ii][jj] = c[i * n + j];\n");
}

TEST(RegisterTiling, StagesAlongWhatIsSideBySideInMemory) {
    const std::string text = tiled(positions + guard + product);
    expectText(text, "__shared__ __align__(16) float aTile[8][68];\n");
    expectText(text, "aTile[element % 8][element / 8] = i < m && t < k ? a[i * k + t] : 0;\n");
    expectText(text, "__shared__ __align__(16) float bTile[8][64];\n");
    expectText(text, "bTile[element / 64][element % 64] = j < n && t < k ? b[t * n + j] : 0;\n");
}

TEST(RegisterTiling, SplitsWideTilesIntoLoadsOfSixteenBytes) {
    const Subject subject = parseSubject(kernel(positions + guard + product));
    const Skill& skill = skillNamed(id);
    bool hasWide = false;
    for (const Offer& offer : skill.alternatives(subject.context()))
        if (offer.title.contains("8 x 8")) {
            hasWide = true;
            const auto edits = skill.apply(subject.context(), offer);
            ASSERT_TRUE(edits) << edits.error().describe();
            expectText(edits->begin()->second.front().newText,
                       "const int j = jBegin + threadIdx.x * 4 + jj / 4 * 64 + jj % 4;");
        }
    EXPECT_TRUE(hasWide);
}

TEST(RegisterTiling, LeavesOutTheRestWhereTheTextShowsNone) {
    const std::string text = tiled(positions + guard +
                                   "    float sum = 0.0f;\n"
                                   "    for (int t = 0; t < 512; ++t)\n"
                                   "        sum += a[i * 512 + t] * b[t * n + j];\n"
                                   "    c[i * n + j] = sum;\n");
    expectText(text, "for (int t = t0; t < t0 + 8; ++t) {");
    expectText(text, "= i < m ? a[i * 512 + t] : 0;");
}

TEST(RegisterTiling, GivesFlatOutputsRectangles) {
    const std::string text =
        appliedText(id, kernel("    int id = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (id >= m * n) return;\n"
                               "    int i = id / n;\n    int j = id % n;\n" +
                                   product,
                               "256", "(m * n + 255) / 256"));
    expectText(text, "const int tileColumns = (n + 63) / 64;\n");
    expectText(text, "const int tiles = ((m * n + n - 1) / n + 63) / 64 * tileColumns;\n");
    expectText(text, "for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {");
    expectText(text, "i * n < m * n && t < k ? a[i * k + t] : 0;");
    expectText(text, "if (j < n && id < m * n)");
    expectText(text, "p<<<(m * n + 255) / 256, 256>>>");
}

TEST(RegisterTiling, KeepsResultsExactlyAndSaysWhatLoadsItSaves) {
    const Subject subject = parseSubject(kernel(positions + guard + product));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->numerics, Numerics::Exact);
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 16);
    EXPECT_EQ(offer->gain->basis, "2 loads a term become 0.12");
}

TEST(RegisterTiling, TakesFewerOutputsWhereTheGridIsSmall) {
    expectText(appliedText(id, kernel(positions + guard + product, "dim3(16, 16)", "dim3(24, 24)")),
               "dim3((24 + 1) / 2, (24 + 1) / 2)");
}

TEST(RegisterTiling, TellsKernelsWithoutAGuardHowManyBlocksTheyHad) {
    const std::string text =
        appliedText(id, kernel(positions + product, "dim3(16, 16)", "dim3(n / 16, m / 16)"));
    expectText(text, "int k, unsigned int iBlocks, unsigned int jBlocks) {");
    expectText(text, "const int iEnd = iBlocks * 16;\n");
    expectText(text, "= i < iEnd && t < k ? a[i * k + t] : 0;");
    expectText(text, "= j < jEnd && t < k ? b[t * n + j] : 0;");
    expectText(text, "if (i < iEnd && j < jEnd)\n");
    expectText(text,
               "p<<<dim3((n / 16 + 3) / 4, (m / 16 + 3) / 4), dim3(16, 16)>>>(a, b, c, m, n, k, "
               "m / 16, n / 16);");
}

TEST(RegisterTiling, TellsBlocksOfOneRowHowManyThereWere) {
    const std::string text = appliedText(
        id, kernel("    int i = blockIdx.y;\n    int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "    if (j >= n) return;\n" +
                       product,
                   "256", "dim3((n + 255) / 256, m)"));
    expectText(text, "int k, unsigned int iBlocks) {");
    expectText(text, "const int iEnd = iBlocks;\n");
    expectText(text, "if (i < iEnd && j < n)\n");
    expectText(text, ">>>(a, b, c, m, n, k, m);");
}

class Gates : public testing::TestWithParam<GateCase> {};
TEST_P(Gates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string loop(const std::string& head, const std::string& body, const std::string& before = "") {
    return kernel(positions + guard + before + "    float sum = 0.0f;\n    " + head + "\n" + body +
                  "    c[i * n + j] = sum;\n");
}
const std::string term = "        sum += a[i * k + t] * b[t * n + j];\n";

const std::vector<GateCase> gates{
    {"Barrier", "barrier", kernel(positions + guard + product + "    __syncthreads();\n")},
    {"SharedMemory", "shares-memory",
     kernel("    __shared__ float s[4];\n    s[0] = 1;\n" + positions + guard + product)},
    {"DynamicSharedMemory", "shares-memory",
     kernel("    extern __shared__ float s[];\n    s[0] = 1;\n" + positions + guard + product)},
    {"WarpOperation", "warp-operation",
     kernel(positions + guard + product + "    c[0] = __shfl_sync(~0u, sum, 0);\n")},
    {"Atomic", "atomic", kernel(positions + guard + product + "    atomicAdd(c, sum);\n")},
    {"NoLoop", "no-term-loop", kernel(positions + guard + "    c[i * n + j] = a[i * k];\n")},
    {"NoLaunch", "no-launch",
     "__global__ void p(const float* a, float* c, int n) {\n" + positions +
         "    for (int t = 0; t < n; ++t) c[i * n + j] += a[i * n + t] * a[j * n + t];\n}\n"},
    {"UnknownBlock", "unknown-block", kernel(positions + guard + product, "dim3(n, 4)")},
    {"OnePosition", "no-output-axes",
     kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= m) return;\n"
            "    float sum = 0;\n    for (int t = 0; t < k; ++t) sum += a[i * k + t] * b[t];\n"
            "    c[i] = sum;\n",
            "256", "m")},
    {"Downwards", "not-counted-up", loop("for (int t = k - 1; t >= 0; --t)", term)},
    {"MayStop", "not-counted-up",
     loop("for (int t = 0; t < k; ++t) {", term + "        if (sum > 9) break;\n    }\n")},
    {"InStepsOfTwo", "not-counted-up", loop("for (int t = 0; t < k; t += 2)", term)},
    {"Triangle", "rounds-differ", loop("for (int t = 0; t <= i; ++t)", term)},
    {"FewTerms", "short-loop", loop("for (int t = 0; t < 9; ++t)", term)},
    {"InnerLoop", "loop-in-loop",
     loop("for (int t = 0; t < k; ++t)",
          "        for (int u = 0; u < 4; ++u)\n            sum += a[i * k + t + u];\n")},
    {"StoresInARound", "stores-in-loop",
     loop("for (int t = 0; t < k; ++t) {",
          term + "        c[(i * n + j) * k + t] = sum;\n    }\n")},
    {"ElementOfTheOutput", "operand-of-output",
     loop("for (int t = 0; t < k; ++t)", "        sum += a[(i + t) * n + j] * b[t];\n")},
    {"LoadsUnderAPlace", "conditional-operand",
     loop("for (int t = 0; t < k; ++t)",
          "        if (t != i) sum += a[i * k + t] * b[t * n + j];\n")},
    {"Division", "divides",
     loop("for (int t = 0; t < k; ++t)", "        sum += 7 / (int)a[i * k + t] * b[t * n + j];\n")},
    {"NothingShared", "no-shared-operand",
     loop("for (int t = 0; t < k; ++t)", "        sum += a[t] * b[t];\n")},
    {"GuardOfBoth", "compound-guard",
     kernel(positions + "    if (i >= m || j > i) return;\n" + product)},
    {"WorkBehindTheGuard", "work-after-guard",
     kernel(positions + "    if (i < m && j < n) {\n" + product + "    }\n    c[0] = 1;\n")},
    {"LeavesEarly", "early-exit",
     kernel(positions + guard + product + "    if (sum > 3) { c[0] = 1; return; }\n")},
    {"AsksForTheThread", "uses-thread-position",
     kernel(positions + guard + product + "    if (threadIdx.x == 0) c[0] = 1;\n")},
    {"AsksForTheBlock", "uses-thread-position",
     kernel(positions + guard + product + "    if (blockIdx.y == 0) c[0] = 1;\n")},
    {"MovesAParameter", "moves-parameter",
     kernel(positions + guard + "    c += i * n + j;\n" + product)},
    {"ArrayOfSums", "carried-array",
     kernel(positions + guard +
            "    float s[2] = {0, 0};\n    for (int t = 0; t < k; ++t)\n"
            "        s[t & 1] += a[i * k + t] * b[t * n + j];\n    c[i * n + j] = s[0] + s[1];\n")},
    {"CounterUsedLater", "loop-variable-used-later",
     kernel(positions + guard + "    float sum = 0;\n    int t;\n    for (t = 0; t < k; ++t)\n" +
            term + "    c[i * n + j] = sum / t;\n")},
    {"CarriedIndex", "operand-carried",
     loop("for (int t = 0; t < k; ++t)", "        sum += a[i * k + t] * b[at * k + t];\n",
          "    int at = (int)c[j];\n")},
    {"StoresTheOperand", "operand-stored",
     kernel(positions + guard +
            "    float sum = 0;\n    for (int t = 0; t < k; ++t)\n"
            "        sum += a[i * k + t] * c[t * n + j];\n    c[i * n + j] = sum;\n")},
    {"TermInAMacro", "from-macro",
     kernel(positions + guard +
                "    float sum = 0;\n    for (int t = 0; t < k; ++t)\n"
                "        ADD(sum, a[i * k + t] * b[t * n + j]);\n    c[i * n + j] = sum;\n",
            "dim3(16, 16)", "dim3(n, m)", "#define ADD(s, x) s += (x)\n")},
    {"NoGuard", "no-bounds-guard",
     kernel(positions + product, "dim3(16, 16)", "dim3(n / 16, m / 16)", declared)},
    {"RowsOfOneOutput", "no-reuse",
     kernel("    int i = blockIdx.y;\n    int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    if (j >= n) return;\n" +
                product,
            "256", "dim3((n + 255) / 256, m)", declared)},
    {"FewBlocks", "too-few-blocks",
     kernel(positions + guard + product, "dim3(16, 16)", "dim3(8, 8)")},
};

INSTANTIATE_TEST_SUITE_P(RegisterTiling, Gates, testing::ValuesIn(gates),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

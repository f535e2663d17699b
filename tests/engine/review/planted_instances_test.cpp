/// Right and wrong edits that compile a kernel for the values of its launches.
#include "tests/engine/review/review_fixture.h"

#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::ReviewFixture;

const std::string pool = R"(
__global__ void pool(const float* in, float* out, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = in[i * size];
    for (int k = 1; k < size; ++k)
        best = fmaxf(best, in[i * size + k]);
    out[i] = best;
}
void run(const float* in, float* out, int n, int size) {
    pool<<<(n + 255) / 256, 256>>>(in, out, n, size);
}
)";
const std::string callOf9 = "int main() {\n    float *x, *y;\n    cudaMalloc(&x, 36000);\n"
                            "    cudaMalloc(&y, 4000);\n    run(x, y, 1000, 9);\n}\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The kernel as a template, and host code that chooses the instance for 9 or for any value.
std::string chosen() {
    std::string text = replaced(pool, "__global__", "template <int known>\n__global__");
    text =
        replaced(text, "int size) {\n", "int size) {\n    if (known > 0)\n        size = known;\n");
    return replaced(text, "    pool<<<(n + 255) / 256, 256>>>(in, out, n, size);",
                    "    if (size == 9)\n"
                    "        pool<9><<<(n + 255) / 256, 256>>>(in, out, n, size);\n    else\n"
                    "        pool<0><<<(n + 255) / 256, 256>>>(in, out, n, size);");
}

using PlantedInstances = ReviewFixture;

TEST_F(PlantedInstances, AreRightWhereTheHostAsksForTheValue) {
    for (const std::string& calls : {callOf9, std::string()}) {
        const Verdict verdict = review(pool + calls, pool, chosen());
        EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    }
}

TEST_F(PlantedInstances, AreRefusedWithAMistakeInOneOfThem) {
    const std::vector<std::pair<std::string, std::string>> mistakes = {
        {"pool<9>", "pool<8>"}, {"size == 9", "size == 8"},  {"size = known;", "size = known - 1;"},
        {"pool<0>", "pool<5>"}, {"known > 0", "known >= 0"},
    };
    for (const std::string& calls : {callOf9, std::string()})
        for (const auto& [from, to] : mistakes) {
            const Verdict verdict = review(pool + calls, pool, replaced(chosen(), from, to));
            EXPECT_FALSE(isAccepted(verdict)) << to << calls << report(verdict);
        }
}

TEST_F(PlantedInstances, AreRefusedWithAnotherLaunchBesideTheOthers) {
    const std::string more = replaced(chosen(), "    else\n", "    if (size != 8)\n");
    const Verdict verdict = review(pool + callOf9, pool, more);
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
}

TEST_F(PlantedInstances, AreRightForAnEnumerator) {
    const std::string text = "enum Mode { ADD, SCALE, NEGATE };\n"
                             "__global__ void apply(float* x, int rows, Mode mode) {\n"
                             "    for (int r = 0; r < rows; ++r) {\n"
                             "        float v = x[r * 64 + threadIdx.x];\n"
                             "        if (mode == ADD) v += 1;\n"
                             "        else if (mode == SCALE) v *= 2;\n        else v = -v;\n"
                             "        x[r * 64 + threadIdx.x] = v;\n    }\n}\n"
                             "void run(float* x, int rows) {\n"
                             "    apply<<<1, 64>>>(x, rows, SCALE);\n}\n";
    std::string edited = replaced(text, "__global__", "template <Mode mode>\n__global__");
    edited = replaced(edited, ", Mode mode)", ")");
    edited =
        replaced(edited, "apply<<<1, 64>>>(x, rows, SCALE)", "apply<SCALE><<<1, 64>>>(x, rows)");
    const Verdict right = review(text, text, edited);
    EXPECT_TRUE(isAccepted(right)) << report(right);
    const Verdict wrong = review(text, text, replaced(edited, "apply<SCALE>", "apply<NEGATE>"));
    EXPECT_FALSE(isAccepted(wrong)) << report(wrong);
}

TEST_F(PlantedInstances, AreRightForSeveralConstants) {
    const std::string text = replaced(pool, "int n, int size) {\n    pool",
                                      "int n, int) {\n    pool<<<n / 256, 256>>>(in, out, n, 3);\n"
                                      "    pool");
    const std::string constant = replaced(text, "out, n, size);", "out, n, 5);");
    std::string edited = replaced(constant, "__global__", "template <int size>\n__global__");
    edited = replaced(edited, "int n, int size) {", "int n) {");
    edited = replaced(edited, "pool<<<n / 256, 256>>>(in, out, n, 3)",
                      "pool<3><<<n / 256, 256>>>(in, out, n)");
    edited = replaced(edited, "pool<<<(n + 255) / 256, 256>>>(in, out, n, 5)",
                      "pool<5><<<(n + 255) / 256, 256>>>(in, out, n)");
    const Verdict right = review(constant, constant, edited);
    EXPECT_TRUE(isAccepted(right)) << report(right);
    for (const std::string& wrong :
         {replaced(edited, "pool<3>", "pool<4>"), replaced(edited, "pool<5>", "pool<4>")}) {
        const Verdict verdict = review(constant, constant, wrong);
        EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
    }
}

TEST_F(PlantedInstances, AreTriedWithTheTypesOfTheOriginals) {
    std::string typed = replaced(pool, "__global__", "template <typename T>\n__global__");
    typed = replaced(typed, "const float* in, float* out, int n, int size) {\n    int i",
                     "const T* in, T* out, int n, int size) {\n    int i");
    typed = replaced(typed, "float best", "T best");
    typed = replaced(typed, "fmaxf(best, in[i * size + k])",
                     "best < in[i * size + k] ? in[i * size + k] : best");
    typed = replaced(typed, "void run(const float* in, float* out, int n, int size) {\n",
                     "void run(const float* in, float* out, const double* in2, double* out2, "
                     "int n) {\n    pool<<<(n + 255) / 256, 256>>>(in2, out2, n, 3);\n");
    typed = replaced(typed, "(in, out, n, size);\n}", "(in, out, n, 3);\n}");
    std::string edited =
        replaced(typed, "template <typename T>", "template <int size, typename T>");
    edited = replaced(edited, "int n, int size) {", "int n) {");
    edited = replaced(edited, "pool<<<(n + 255) / 256, 256>>>(in2, out2, n, 3)",
                      "pool<3><<<(n + 255) / 256, 256>>>(in2, out2, n)");
    edited = replaced(edited, "pool<<<(n + 255) / 256, 256>>>(in, out, n, 3)",
                      "pool<3><<<(n + 255) / 256, 256>>>(in, out, n)");
    const Verdict right = review(typed, typed, edited);
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

TEST_F(PlantedInstances, HaveBuffersWithTheSameContentWhereAParameterBeforeThemIsGone) {
    const std::string counted = R"(
__global__ void countPositive(int unused, const float* in, unsigned* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        atomicAdd(count, 1u);
}
void run(const float* in, unsigned* count, int n) {
    countPositive<<<(n + 255) / 256, 256>>>(3, in, count, n);
}
)";
    const std::string edited = replaced(replaced(counted, "int unused, ", ""), "(3, in", "(in");
    const Verdict right = review(counted, counted, edited);
    EXPECT_TRUE(isAccepted(right)) << report(right);
    const Verdict wrong = review(counted, counted, replaced(edited, "in[i] > 0", "in[i] > 0.5f"));
    EXPECT_FALSE(isAccepted(wrong)) << report(wrong);
}

} // namespace
} // namespace kernelskill::engine

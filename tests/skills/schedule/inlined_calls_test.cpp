/// Device functions with loops, written out where kernels call them.
#include "skills/schedule/inlined_calls.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string inlinedText(const std::string& source) {
    const Subject subject = parseSubject(source);
    EXPECT_EQ(errorsOf(subject.file), "");
    auto text = analysis::applyEdits(subject.file.source->text(), inlinedCall(subject.context()));
    EXPECT_TRUE(text) << text.error().describe();
    if (!text)
        return {};
    EXPECT_EQ(errorsOf(parseSubject(*text).file), "") << *text;
    return *text;
}

TEST(InlinedCall, WritesOutAValue) {
    const std::string function =
        R"(__device__ float element(const float* a, const float* b, int n, int k) {
    float sum = 0.0f; // in float
    for (int p = 0; p < k; ++p)
        sum += a[p] * b[p * n];
    return sum;
}
)";
    EXPECT_EQ(
        inlinedText(function +
                    R"(__global__ void k(const float* a, const float* b, float* c, int n, int k) {
    int p = threadIdx.x;
    if (p < n) {
        c[p] = 2 * element(a + p * k, b + p, n, k);
    }
}
)"),
        function + R"(__global__ void k(const float* a, const float* b, float* c, int n, int k) {
    int p = threadIdx.x;
    if (p < n) {
        const float * a2 = a + p * k;
        const float * b2 = b + p;
        float sum = 0.0f;
        for (int p2 = 0; p2 < k; ++p2)
            sum += a2[p2] * b2[p2 * n];
        c[p] = 2 * sum;
    }
}
)");
}

TEST(InlinedCall, WritesOutStatements) {
    const std::string function = R"(__device__ void clear(float* row, int n) {
    for (int j = 0; j < n; ++j)
        row[j] = 0;
}
)";
    EXPECT_EQ(inlinedText(function + R"(__global__ void k(float* y, int n) {
    float* row = y + threadIdx.x * n;
    clear(row, n);
}
)"),
              function + R"(__global__ void k(float* y, int n) {
    float* row = y + threadIdx.x * n;
    for (int j = 0; j < n; ++j)
        row[j] = 0;
}
)");
}

TEST(InlinedCall, KeepsParametersThatTheFunctionChangesApart) {
    const std::string function = R"(__device__ float total(const float* p, int n) {
    float sum = 0;
    while (n-- > 0)
        sum += *p++;
    return sum + 1;
}
)";
    EXPECT_EQ(inlinedText(function + R"(__global__ void k(const float* p, float* y, int n) {
    float sum = total(p, n) * n;
    y[0] = sum;
}
)"),
              function + R"(__global__ void k(const float* p, float* y, int n) {
    const float * p2 = p;
    int n2 = n;
    float sum2 = 0;
    while (n2-- > 0)
        sum2 += *p2++;
    float sum = (sum2 + 1) * n;
    y[0] = sum;
}
)");
}

TEST(InlinedCall, LeavesWhatItCannotWriteOut) {
    const std::string loop =
        "    float s = 0;\n    for (int j = 0; j < n; ++j)\n        s += p[j];\n";
    const std::string head = "__device__ float f(const float* p, int n) {\n";
    const std::string kernel = "__global__ void k(const float* p, float* y, int n) {\n";
    const std::vector<std::string> sources = {
        // No loop.
        head + "    return p[n];\n}\n" + kernel + "    y[0] = f(p, n);\n}\n",
        // It returns in between.
        head + "    if (n == 0)\n        return 0;\n" + loop + "    return s;\n}\n" + kernel +
            "    y[0] = f(p, n);\n}\n",
        // The call is a loop's condition, or may be skipped.
        head + loop + "    return s;\n}\n" + kernel +
            "    while (f(p, n) > y[0])\n        y[0] += 1;\n}\n",
        head + loop + "    return s;\n}\n" + kernel + "    y[0] = n > 0 ? f(p, n) : 0.0f;\n}\n",
        // Something else in the statement has an effect, which came first, or may have.
        head + loop + "    return s;\n}\n" + kernel + "    y[n++] = f(p, n);\n}\n",
        // A statement that has no block.
        head + loop + "    return s;\n}\n" + kernel +
            "    if (n > 0)\n        y[0] = f(p, n);\n}\n",
        // It stores, and the statement reads.
        "__device__ float f(float* p, int n) {\n    for (int j = 0; j < n; ++j)\n"
        "        p[j] = 0;\n    return p[0];\n}\n__global__ void k(float* y, int n) {\n"
        "    y[0] = y[1] + f(y, n);\n}\n",
        // The value is converted.
        "__device__ int f(const float* p, int n) {\n" + loop + "    return s;\n}\n" + kernel +
            "    y[0] = f(p, n);\n}\n",
        // A name that is a local of the kernel.
        "__constant__ float scale = 2;\n" + head + loop + "    return s * scale;\n}\n" + kernel +
            "    float scale = 3;\n    y[0] = f(p, n) + scale;\n}\n",
        // A template.
        "template <typename T> __device__ T f(const T* p, int n) {\n    T s = 0;\n"
        "    for (int j = 0; j < n; ++j)\n        s += p[j];\n    return s;\n}\n" +
            kernel + "    y[0] = f(p, n);\n}\n",
    };
    for (const std::string& source : sources)
        EXPECT_EQ(inlinedText(source), source);
}

} // namespace
} // namespace kernelskill::skills

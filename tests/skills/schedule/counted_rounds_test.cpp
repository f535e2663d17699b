/// Loops over moved pointers and indices, before and after.
#include "skills/schedule/counted_rounds.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

/// The kernel with `work` as its body.
std::string kernelOf(const std::string& work) {
    return "__global__ void k(const float* x, const float* end, float* y, int m, int n, unsigned "
           "u) "
           "{\n" +
           work + "}\n";
}

std::string countedText(const std::string& source) {
    const Subject subject = parseSubject(source);
    EXPECT_EQ(errorsOf(subject.file), "");
    auto text = analysis::applyEdits(subject.file.source->text(), countedRounds(subject.context()));
    EXPECT_TRUE(text) << text.error().describe();
    if (!text)
        return {};
    EXPECT_EQ(errorsOf(parseSubject(*text).file), "") << *text;
    return *text;
}

void expectCounted(const std::string& before, const std::string& after) {
    EXPECT_EQ(countedText(kernelOf(before)), kernelOf(after));
    EXPECT_EQ(countedText(kernelOf(after)), kernelOf(after)) << "it is in that form";
}

TEST(CountedRounds, OfAWhileLoopOverAPointer) {
    expectCounted(R"(    int i = threadIdx.x;
    const float* p = &x[i * n];
    const float* last = p + n;
    const float* q = x;
    float sum = 0.0f;
    while (p < last) { // a row
        sum += *p * *q;
        p++;
        ++q;
    }
    y[i] = sum;
)",
                  R"(    int i = threadIdx.x;
    const float* p = &x[i * n];
    const float* q = x;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) { // a row
        sum += p[j] * q[j];
    }
    y[i] = sum;
)");
}

TEST(CountedRounds, OfAPointerBesideTheIndex) {
    expectCounted(R"(    const float* p = x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < m; ++i, p += n)
        sum += *p + p[1];
    y[threadIdx.x] = sum;
)",
                  R"(    const float* p = x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < m; ++i)
        sum += p[(long long)i * n] + p[(long long)i * n + 1];
    y[threadIdx.x] = sum;
)");
}

TEST(CountedRounds, OfAWhileLoopWithAnIndexOfItsOwn) {
    expectCounted(R"(    float sum = 0;
    int offset = threadIdx.x;
    int i = 0;
    while (i < m) {
        sum += x[offset];
        offset += n;
        ++i;
    }
    y[threadIdx.x] = sum;
)",
                  R"(    float sum = 0;
    int offset = threadIdx.x;
    for (int i = 0; i < m; ++i) {
        sum += x[offset + i * n];
    }
    y[threadIdx.x] = sum;
)");
}

TEST(CountedRounds, OfABlockStride) {
    expectCounted(R"(    float sum = 0;
    int i = threadIdx.x;
    while (i < n) {
        sum += x[i];
        i += blockDim.x;
    }
    y[threadIdx.x] = sum;
)",
                  R"(    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[i];
    }
    y[threadIdx.x] = sum;
)");
}

TEST(CountedRounds, OfALoopThatCountsDownwards) {
    expectCounted(R"(    const float* row = x + threadIdx.x * n;
    float sum = 0;
    for (int j = n - 1; j >= 0; j--)
        sum += row[j] * j;
    y[threadIdx.x] = sum;
)",
                  R"(    const float* row = x + threadIdx.x * n;
    float sum = 0;
    for (int j = 0; j < n; ++j)
        sum += row[n - 1 - j] * (n - 1 - j);
    y[threadIdx.x] = sum;
)");
}

TEST(CountedRounds, OfAPointerThatTheLoopDeclares) {
    expectCounted(R"(    const int i = threadIdx.x;
    float* to = y + i * n;
    float sum = 0;
    for (const float* p = x + i * n; p != x + i * n + n; ++p) {
        sum += *p;
        *to++ = sum;
    }
)",
                  R"(    const int i = threadIdx.x;
    float* to = y + i * n;
    float sum = 0;
    const float* p = x + i * n;
    for (int j = 0; j < n; ++j) {
        sum += p[j];
        to[j] = sum;
    }
)");
}

TEST(CountedRounds, OfPointersOfOneName) {
    expectCounted(R"(    const int i = threadIdx.x;
    float sum = 0;
    for (const float* p = x + i * n; p < x + i * n + n; ++p)
        sum += *p;
    for (const float* p = x + m; p < x + m + n; ++p)
        sum -= p[2];
    y[i] = sum;
)",
                  R"(    const int i = threadIdx.x;
    float sum = 0;
    for (int j = 0; j < n; ++j)
        sum += x[(long long)(i * n) + j];
    for (int j2 = 0; j2 < n; ++j2)
        sum -= x[(long long)m + j2 + 2];
    y[i] = sum;
)");
}

TEST(CountedRounds, OfAPointerThatMovesWithTheGrid) {
    expectCounted(
        R"(    const float* from = x + blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = *from;
        from += blockDim.x * gridDim.x;
    }
)",
        R"(    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = x[i];
    }
)");
}

TEST(CountedRounds, OfAPointerThatMovesAsFarAsTheIndex) {
    expectCounted(R"(    const float* p = x;
    int at = 3;
    for (int i = 0; i < n; i += 4, p += 4, at += 4)
        y[at] = *p;
)",
                  R"(    const float* p = x;
    int at = 3;
    for (int i = 0; i < n; i += 4)
        y[at + i] = p[i];
)");
    const std::string apart =
        "    const float* p = x;\n    for (int i = 0; i < n; i += 4, p += 2)\n"
        "        y[i] = *p;\n";
    EXPECT_EQ(countedText(kernelOf(apart)), kernelOf(apart));
}

TEST(CountedRounds, OfUsesBehindTheChange) {
    expectCounted(R"(    const float* p = x;
    for (int j = 0; j < n; ++j) {
        float before = *p;
        ++p;
        y[j] = before + *p + *(p + m);
    }
)",
                  R"(    const float* p = x;
    for (int j = 0; j < n; ++j) {
        float before = p[j];
        y[j] = before + p[j + 1] + *((p + j + 1) + m);
    }
)");
}

TEST(CountedRounds, UpToAnEndThatIsGiven) {
    expectCounted(R"(    float sum = 0;
    const float* p = x;
    while (p != end)
        sum += *p++;
    y[0] = sum;
)",
                  R"(    float sum = 0;
    const float* p = x;
    for (long long j = 0; j < end - x; ++j)
        sum += p[j];
    y[0] = sum;
)");
}

TEST(CountedRounds, NamesNothingTwice) {
    expectCounted(R"(    int j = threadIdx.x, k = j + 1, i = k;
    const float* p = x + j * n + k - i;
    const float* stop = p + n;
    while (p < stop) {
        y[j] += *p;
        ++p;
    }
)",
                  R"(    int j = threadIdx.x, k = j + 1, i = k;
    const float* p = x + j * n + k - i;
    for (int j2 = 0; j2 < n; ++j2) {
        y[j] += p[j2];
    }
)");
}

TEST(CountedRounds, LeavesOtherLoops) {
    const std::vector<std::string> works = {
        // The pointer is asked for behind the loop.
        "    const float* p = x;\n    while (p < end) {\n        y[0] += *p;\n        ++p;\n    }\n"
        "    y[1] = *p;\n",
        // Not in each round.
        "    const float* p = x;\n    while (p < end) {\n        if (*p > 0)\n            ++p;\n"
        "        y[0] += *p;\n    }\n",
        // A round may be skipped in front of the change.
        "    const float* p = x;\n    int i = 0;\n    while (i < n) {\n        if (y[i] > 0)\n"
        "            continue;\n        y[i] = *p;\n        ++p;\n        ++i;\n    }\n",
        // The bound moves.
        "    const float* p = x;\n    while (p < end) {\n        y[0] += *p;\n        ++p;\n"
        "        --end;\n    }\n",
        // It may wrap around.
        "    for (unsigned j = u - 1; j > 0; --j)\n        y[j] = x[j];\n",
        "    unsigned j = threadIdx.x;\n    while (j + m < u) {\n        y[j] = x[j];\n"
        "        ++j;\n    }\n",
        // It halves.
        "    for (int s = n; s > 0; s >>= 1)\n        y[s] = x[s];\n",
        // It has its form.
        "    for (int j = 0; j < n; ++j)\n        y[j] = x[j];\n",
        // Two changes.
        "    const float* p = x;\n    for (int j = 0; j < n; ++j) {\n        y[j] = *p++;\n"
        "        y[j] += *p++;\n    }\n",
        // Its address is taken.
        "    const float* p = x;\n    const float** q = &p;\n    for (int j = 0; j < n; ++j) {\n"
        "        y[j] = **q;\n        ++p;\n    }\n",
        "    const float* p = x;\n    int step = 1;\n    int& alias = step;\n"
        "    for (int j = 0; j < n; ++j) {\n        y[j] = *p;\n        p += step;\n"
        "        alias = j;\n    }\n",
        // The step is another one in each round.
        "    const float* p = x;\n    for (int j = 0; j < n; ++j) {\n        y[j] = *p;\n"
        "        p += j;\n    }\n",
    };
    for (const std::string& work : works)
        EXPECT_EQ(countedText(kernelOf(work)), kernelOf(work));
}

TEST(CountedRounds, LeavesWhatAMacroNames) {
    const std::string source =
        "#define NEXT(p) (*(p)++)\n" + kernelOf("    const float* p = x;\n    while (p < end)\n"
                                                "        y[0] += NEXT(p);\n");
    EXPECT_EQ(countedText(source), source);
}

} // namespace
} // namespace kernelskill::skills

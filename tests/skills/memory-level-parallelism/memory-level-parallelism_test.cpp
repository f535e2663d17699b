#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "memory-level-parallelism";

TEST(MemoryLevelParallelism, TakesAStatementWithoutBrackets) {
    checkApplicable(id, R"(
__global__ void half(float* x, size_t n) {
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = 0.5f * x[i] +
               1.0f; // in place
}
)",
                    R"(
__global__ void half(float* x, size_t n) {
    const size_t step = blockDim.x;
    // The loads of 4 rounds are under way before the first is used.
    for (size_t first = threadIdx.x; first < n; first += 4 * step) {
        float xAhead[4];
        #pragma unroll
        for (int ahead = 0; ahead < 4; ++ahead)
            if (first + ahead * step < n) {
                const size_t i = first + ahead * step;
                xAhead[ahead] = x[i];
            }
        #pragma unroll
        for (int ahead = 0; ahead < 4; ++ahead)
            if (first + ahead * step < n) {
                const size_t i = first + ahead * step;
                x[i] = 0.5f * xAhead[ahead] +
                       1.0f; // in place
            }
    }
}
)");
}

TEST(MemoryLevelParallelism, LoadsAheadOfAtomicsAndSkippedRounds) {
    const std::string text = appliedText(id, R"(
__global__ void count(const unsigned* __restrict__ keys, int* __restrict__ bins, int n, int stride) {
    int missed = 0;
    for (int i = threadIdx.x; i < n - 1; i += 2 * stride) {
        const unsigned key = keys[i + 1];
        if (key == keys[i + 1] % 2) {
            ++missed;
            continue;
        }
        atomicAdd(&bins[key & 15], 1);
    }
    bins[16 + threadIdx.x] = missed;
}
)");
    EXPECT_TRUE(text.contains("const long long step = 2 * stride;")) << text;
    EXPECT_TRUE(text.contains("if (first + ahead * step < n - 1) {")) << text;
    EXPECT_TRUE(text.contains("unsigned int keysAhead[4];")) << text;
    EXPECT_TRUE(text.contains("const unsigned key = keysAhead[ahead];")) << text;
    EXPECT_TRUE(text.contains("if (key == keysAhead[ahead] % 2) {")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(MemoryLevelParallelism, CountsByOneWithoutAName) {
    const std::string text = appliedText(id, R"(
__global__ void rows(const double* in, double* out, int n) {
    double* row = out + threadIdx.x * n;
    for (int k = 0; k < n; ++k) {
        out[k] = in[k * n] + in[k];
    }
}
void run(int n) {
    double *in, *out;
    cudaMalloc(&in, n);
    cudaMalloc(&out, n);
    rows<<<1, 32>>>(in, out, n);
}
)");
    EXPECT_TRUE(text.contains("for (long long first = 0; first < n; first += 4) {")) << text;
    EXPECT_TRUE(text.contains("const int k = first + ahead;")) << text;
    EXPECT_TRUE(text.contains("inAhead[ahead] = in[k * n];")) << text;
    EXPECT_TRUE(text.contains("inAhead2[ahead] = in[k];")) << text;
    EXPECT_TRUE(text.contains("out[k] = inAhead[ahead] + inAhead2[ahead];")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(MemoryLevelParallelism, EndsBothLoopsWhereASearchEnds) {
    const std::string text = appliedText(id, R"(
__global__ void find(const double* table, const double* wanted, int* found, int n) {
    int x;
    int place = -1;
    for (x = 0; x < n; x++) {
        if (table[x] >= wanted[threadIdx.x]) {
            place = x;
            break;
        }
        if (x == 77) break;
    }
    found[threadIdx.x] = place;
}
)");
    EXPECT_TRUE(text.contains("    bool goesOn = true;\n"
                              "    for (long long first = 0; goesOn && first < n; first += 4) {\n"
                              "        double tableAhead[4];\n"))
        << text;
    EXPECT_TRUE(text.contains("                if (tableAhead[ahead] >= wanted[threadIdx.x]) {\n"
                              "                    place = x;\n"
                              "                    goesOn = false;\n"
                              "                    break;\n"
                              "                }\n"
                              "                if (x == 77) { goesOn = false; break; }"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(MemoryLevelParallelism, TestsRoundsOfASearchAtOnce) {
    checkApplicable(id, R"(
__global__ void find(const double* table, const double* wanted, int* found, int n) {
    int x;
    for (x = 0; x < n; x++) {
        if (table[x] >= wanted[threadIdx.x])
            break;
    }
    found[threadIdx.x] = x;
}
)",
                    R"(
__global__ void find(const double* table, const double* wanted, int* found, int n) {
    int x;
    long long first = 0;
    // The loads of 16 rounds are under way before the first is tested.
    for (; first + 15 < n; first += 16) {
        bool found2 = false;
        #pragma unroll
        for (int ahead = 0; ahead < 16; ++ahead) {
            const int x = first + ahead;
            found2 |= table[x] >= wanted[threadIdx.x];
        }
        if (found2)
            break;
    }
    for (x = static_cast<int>(first); x < n; x++) {
        if (table[x] >= wanted[threadIdx.x])
            break;
    }
    found[threadIdx.x] = x;
}
)");
}

TEST(MemoryLevelParallelism, TestsRoundsOfAWhileLoopWithLocals) {
    const std::string text = appliedText(id, R"(
__global__ void find(const int* left, const int* right, int* found, int n) {
    unsigned k = 2;
    while (k < n) {
        const int a = left[3 * k];
        const int b = right[k];
        if (a == 7 &&
            b & 3) {
            found[threadIdx.x] = a;
            return;
        }
        k += 2;
    }
    found[threadIdx.x] = k;
}
)");
    EXPECT_TRUE(text.contains("    long long first = k;\n")) << text;
    EXPECT_TRUE(text.contains("    for (; first + 14 < n; first += 16) {\n")) << text;
    EXPECT_TRUE(text.contains("            const unsigned int k = first + ahead * 2;\n"
                              "            const int a = left[3 * k];\n"
                              "            const int b = right[k];\n"
                              "            found2 |= a == 7 &&\n"))
        << text;
    EXPECT_TRUE(text.contains("    k = static_cast<unsigned int>(first);\n    while (k < n) {\n"
                              "        const int a = left[3 * k];\n"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(MemoryLevelParallelism, ComparesTestsOfOtherTypesWithZero) {
    const std::string text = appliedText(id, R"(
__global__ void find(const float* in, int* out, size_t n) {
    int place = 0;
    for (auto i = size_t{0}; i < n; ++i)
        if (in[i] - in[i + 1]) {
            place = i;
            break;
        }
    out[threadIdx.x] = place;
}
)");
    EXPECT_TRUE(text.contains("            found |= (in[i] - in[i + 1]) != 0;\n")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(MemoryLevelParallelism, TestsRoundsOfASearchInTheHead) {
    checkApplicable(id, R"(
__global__ void interval(const float* edges, const float* values, int* out, int count) {
    const float v = values[threadIdx.x];
    int k = 0;
    while ((k < count) && (edges[k] <= v || edges[k + 1] < 0))
        ++k;
    out[threadIdx.x] = k;
}
)",
                    R"(
__global__ void interval(const float* edges, const float* values, int* out, int count) {
    const float v = values[threadIdx.x];
    int k = 0;
    long long first = k;
    // The loads of 16 rounds are under way before the first is tested.
    for (; first + 15 < count; first += 16) {
        bool found = false;
        #pragma unroll
        for (int ahead = 0; ahead < 16; ++ahead) {
            const int k = first + ahead;
            found |= !((edges[k] <= v || edges[k + 1] < 0));
        }
        if (found)
            break;
    }
    k = static_cast<int>(first);
    while ((k < count) && (edges[k] <= v || edges[k + 1] < 0))
        ++k;
    out[threadIdx.x] = k;
}
)");
    const std::string text = appliedText(id, R"(
__global__ void interval(const float* edges, int* out, int count) {
    int k;
    for (k = 2; k < count && edges[k] <= 3 && k != 77; k++) {}
    out[threadIdx.x] = k;
}
)");
    EXPECT_TRUE(text.contains("found |= !(edges[k] <= 3 && k != 77);")) << text;
    EXPECT_TRUE(text.contains("for (k = static_cast<int>(first); k < count && edges[k]")) << text;
}

/// A search whose `body` a round is, which goes on as long as nothing is found.
std::string searching(const std::string& body, const std::string& head = "int i = 0; i < n; ++i") {
    return "__device__ bool ask(int* p);\n__global__ void k(const int* in, const volatile int* "
           "flag, "
           "int* out, int n, unsigned limit) {\n    int place = 0;\n    for (" +
           head + ") {\n" + body + "    }\n    out[0] = place;\n}\n";
}

/// Its tests may not be made ahead.
class SearchesThatStayInOrder : public testing::TestWithParam<std::string> {};

TEST_P(SearchesThatStayInOrder, AreNotTestedAhead) {
    const Subject subject = parseSubject(GetParam());
    const auto offer = skillNamed(id).prepare(subject.context());
    EXPECT_FALSE(offer && offer->title.starts_with("Test ")) << offer->title;
}

INSTANTIATE_TEST_SUITE_P(
    Searches, SearchesThatStayInOrder,
    testing::Values(
        searching("        if (in[i] == 3) {\n            place = i;\n        }\n"),
        searching("        if (in[in[i]] == 3) {\n            place = i;\n            break;\n"
                  "        }\n"),
        searching("        if (in[place++] + in[i] == 3) {\n            break;\n        }\n"),
        searching("        if (flag[i] == 3) {\n            break;\n        }\n"),
        searching("        if (in[i] == 3 && ask(out)) {\n            break;\n        }\n"),
        searching("        out[i] = 1;\n        if (in[i] == 3) {\n            break;\n"
                  "        }\n"),
        searching("        if (in[i] == 3) {\n            break;\n        } else {\n"
                  "            place = i;\n        }\n"),
        searching("        if (in[i] == 3) {\n            break;\n        }\n",
                  "int i = 0; i < 20; ++i"),
        searching("        if (in[i] == 3) {\n            break;\n        }\n",
                  "int i = place - 5; i < limit; ++i"),
        searching("        if (in[i] == 3) {\n            break;\n        }\n",
                  "int i = 0; i < n; i += -1"),
        searching("", "int i = 0; i < n - 1 && in[i] != 3; ++i") +
            "void run(int* p) {\n    k<<<1, 32>>>(p, p, p, 12, 3);\n}\n",
        searching("        place += i;\n", "int i = 0; i < n && in[i] != 3; ++i"),
        searching("", "int i = 0; i < n && in[in[i]] != 3; ++i"),
        searching("        if (in[i * 32 + threadIdx.x] == 3) {\n            break;\n        }\n"),
        searching("", "int i = 0; in[i] != 3 && i < n; ++i")));

TEST(MemoryLevelParallelism, LoadsAllRoundsOfAShortLoopWithBranches) {
    const std::string text = appliedText(id, R"(
#define SIDES 4
struct Flow { float x, y; };
__device__ void speedOf(float mass, Flow& flow) { flow.x = mass; flow.y = -mass; }
__global__ void flux(const int* neighbours, const float* mass, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j, neighbour;
    float sum = 0;
    Flow flow;
    #pragma unroll
    for (j = 0; j < SIDES; j++) {
        neighbour = neighbours[i + j * n];
        if (neighbour >= 0) {
            speedOf(mass[neighbour], flow);
            sum += flow.x;
        }
    }
    out[i] = sum;
}
)");
    EXPECT_FALSE(text.contains("#pragma unroll\n    for (j")) << text;
    EXPECT_TRUE(text.contains("    for (long long first = 0; first < SIDES; first += 4) {\n"))
        << text;
    EXPECT_TRUE(text.contains("neighboursAhead[ahead] = neighbours[i + j * n];")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(MemoryLevelParallelism, CountsInAWhileLoop) {
    const std::string text = appliedText(id, R"(
template <class Reader>
__global__ void gather(const int* __restrict__ list, float* out, int n) {
    Reader reader;
    float sum = 0;
    int j = 0;
    while (j < n) {
        int at = list[j * 32 + threadIdx.x];
        if (at > 0)
            sum += reader(at) * out[at];
        j++;
    }
    out[threadIdx.x] = sum;
}
)");
    EXPECT_TRUE(text.contains("    for (long long first = j; first < n; first += 4) {\n")) << text;
    EXPECT_TRUE(text.contains("                const int j = first + ahead;\n"
                              "                int at = listAhead[ahead];\n"))
        << text;
    EXPECT_TRUE(text.contains("                    sum += reader(at) * out[at];\n"
                              "            }\n    }\n    out[threadIdx.x] = sum;\n"))
        << text;
}

TEST(MemoryLevelParallelism, IsExactAndAboutTheLoop) {
    EXPECT_EQ(offeredNumerics(id, readSource("skills/memory-level-parallelism/before.cu")),
              Numerics::Exact);
    checkTarget(id, R"(
__global__ void k(const float* __restrict__ a, float* __restrict__ b, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        b[i] = a[i];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        b[i] += a$0[i];
}
)",
                "for (int i = threadIdx.x; i < n; i += blockDim.x)\n        b[i] += a[i];");
}

std::vector<int> optionsOf(const Subject& subject) {
    std::vector<int> options;
    for (const Offer& offer : skillNamed(id).alternatives(subject.context()))
        options.push_back(offer.option);
    return options;
}

constexpr std::string_view strided = R"(
template <class T, int blockSize>
__global__ void sums(const T* __restrict__ in, T* __restrict__ out, int stop) {
    T sum = 0;
    int i = threadIdx.x;
    while (i < stop) {
        sum += in[i]; // in order
        i += blockSize;
    }
    out[threadIdx.x] = sum;
}
template __global__ void sums<float, 256>(const float*, float*, int);
)";

/// The text with the alternative of that number.
std::string textWith(const Subject& subject, std::size_t alternative) {
    const std::vector<Offer> all = skillNamed(id).alternatives(subject.context());
    EXPECT_GT(all.size(), alternative);
    if (all.size() <= alternative)
        return "";
    const auto edits = skillNamed(id).apply(subject.context(), all[alternative]);
    EXPECT_TRUE(edits);
    if (!edits)
        return "";
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    EXPECT_TRUE(text && parseSubject(*text).file.diagnostics.empty()) << text.value_or("");
    return text.value_or("");
}

/// A walk through the neighbours of a node, whose pointers have the qualifiers.
std::string neighbours(const std::string& qualifiers) {
    return "struct Node { int begin; int count; };\n"
           "__device__ int wrapped(int at, int n) { return at < n ? at : at - n; }\n"
           "__global__ void visit(const Node* " +
           qualifiers + " nodes, const int* " + qualifiers + " edges, const bool* " + qualifiers +
           " seen, int* " + qualifiers + R"( cost, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    for (int i = nodes[t].begin; i < (nodes[t].count + nodes[t].begin); i++) {
        int id = edges[i];
        int at = wrapped(id + 1, n);
        if (!seen[at])
            cost[id] = t;
    }
}
)";
}

TEST(MemoryLevelParallelism, LoadsAtPlacesThatAreLoaded) {
    const std::string text = appliedText(id, neighbours("__restrict__"));
    EXPECT_TRUE(text.contains(R"(
    for (long long first = nodes[t].begin; first < nodes[t].count + nodes[t].begin; first += 4) {
        int edgesAhead[4];
        bool seenAhead[4];
        #pragma unroll
        for (int ahead = 0; ahead < 4; ++ahead)
            if (first + ahead < nodes[t].count + nodes[t].begin) {
                const int i = first + ahead;
                int id = edges[i];
                int at = wrapped(id + 1, n);
                edgesAhead[ahead] = edges[i];
                seenAhead[ahead] = seen[at];
            }
        #pragma unroll
        for (int ahead = 0; ahead < 4; ++ahead)
            if (first + ahead < nodes[t].count + nodes[t].begin) {
                const int i = first + ahead;
                int id = edgesAhead[ahead];
                int at = wrapped(id + 1, n);
                if (!seenAhead[ahead])
                    cost[id] = t;
            }
    }
)")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
    EXPECT_EQ(refusedBy(id, neighbours("")).gate, "not-counted-up");
}

TEST(MemoryLevelParallelism, TriesMoreRoundsWhereTheCompilerLoadsForFour) {
    const Subject subject = parseSubject(std::string(strided));
    ASSERT_FALSE(skillNamed(id).prepare(subject.context()));
    EXPECT_THAT(optionsOf(subject), testing::ElementsAre(8, 16));
    EXPECT_TRUE(textWith(subject, 1).contains(R"(
    const long long step = blockSize;
    long long first = i;
    // The loads of 16 rounds are under way before the first is used.
    for (; first + 15 * step < stop; first += 16 * step) {
        T inAhead[16];
        #pragma unroll
        for (int ahead = 0; ahead < 16; ++ahead) {
            const int i = first + ahead * step;
            inAhead[ahead] = in[i];
        }
        #pragma unroll
        for (int ahead = 0; ahead < 16; ++ahead) {
            sum += inAhead[ahead]; // in order
        }
    }
    i = static_cast<int>(first);
    while (i < stop) {
        sum += in[i]; // in order
        i += blockSize;
    }
)")) << textWith(subject, 1);
}

TEST(MemoryLevelParallelism, LeavesTheLoopTheRoundsThatFillNoGroup) {
    const Subject subject = parseSubject(R"(
__global__ void half(float* x, size_t n) {
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = 0.5f * x[i] +
               1.0f; // in place
}
)");
    ASSERT_TRUE(skillNamed(id).prepare(subject.context()));
    EXPECT_THAT(optionsOf(subject), testing::ElementsAre(8, 16, 4));
    EXPECT_TRUE(textWith(subject, 0).contains(R"(
    for (; first + 7 * step < n; first += 8 * step) {
        float xAhead[8];
        #pragma unroll
        for (int ahead = 0; ahead < 8; ++ahead) {
            const size_t i = first + ahead * step;
            xAhead[ahead] = x[i];
        }
        #pragma unroll
        for (int ahead = 0; ahead < 8; ++ahead) {
            const size_t i = first + ahead * step;
            x[i] = 0.5f * xAhead[ahead] +
                   1.0f; // in place
        }
    }
    for (size_t i = first; i < n; i += blockDim.x)
        x[i] = 0.5f * x[i] +
               1.0f; // in place
)")) << textWith(subject, 0);
}

TEST(MemoryLevelParallelism, ReachesLoopsOfFunctionsThatTheKernelCalls) {
    const auto calling = [](const std::string& loop) {
        return "__device__ float distance(const float* __restrict__ x, float* seen, int a, int n, "
               "int dim) {\n"
               "    float sum = 0;\n    " +
               loop +
               "\n        sum += x[i * n + a];\n"
               "    return sum;\n}\n"
               "__global__ void k(const float* x, float* out, int n, int dim) {\n"
               "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    if (t < n)\n        out[t] = distance(x, out, t, n, dim);\n}\n";
    };
    const std::string text = appliedText(id, calling("for (int i = 0; i < dim; i += n)"));
    EXPECT_TRUE(text.contains("xAhead[ahead] = x[i * n + a];")) << text;
    EXPECT_TRUE(text.contains("sum += xAhead[ahead];")) << text;
    const Subject subject = parseSubject(calling("for (int i = 0; i < dim; ++i)"));
    EXPECT_EQ(refusedBy(id, calling("for (int i = 0; i < dim; ++i)")).gate, "no-loop");
    EXPECT_THAT(optionsOf(subject), testing::ElementsAre(8, 16));
    EXPECT_EQ(skillNamed(id).alternatives(subject.context()).front().kernelName, "k");
}

TEST(MemoryLevelParallelism, LoadsForAsManyRoundsAsThereAreAndFitIntoRegisters) {
    const auto optionsFor = [](const std::string& value, const std::string& limit) {
        return optionsOf(parseSubject("__global__ void k(double* __restrict__ x, const double* "
                                      "__restrict__ y, int n) {\n    for (int i = 0; i < " +
                                      limit + "; i += 1)\n        x[i] = " + value + ";\n}\n"));
    };
    EXPECT_THAT(optionsFor("y[i]", "n"), testing::ElementsAre(8, 16));
    EXPECT_THAT(optionsFor("y[i]", "24"), testing::ElementsAre(8));
    EXPECT_THAT(optionsFor("y[i]", "12"), testing::IsEmpty());
    EXPECT_THAT(optionsFor("y[i] + y[i + n] + y[i + 2 * n]", "n"), testing::ElementsAre(8));
}

/// `body` in a loop over all threads; what is stored and loaded does not overlap.
std::string looping(const std::string& body,
                    const std::string& head = "int i = threadIdx.x; i < n; i += blockDim.x") {
    return "__device__ int escape(int* p);\n__global__ void k(const int* __restrict__ in, const "
           "int* other, int* __restrict__ out, int n) {\n    int missed = 0;\n    for (" +
           head + ") {\n" + body + "    }\n    out[0] = missed;\n}\n";
}

class MemoryLevelParallelismIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(MemoryLevelParallelismIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, MemoryLevelParallelismIsNotOffered,
    testing::Values(
        GateCase{"NoLoop", "no-loop", "__global__ void k(int* x) {\n    x[threadIdx.x] += 1;\n}\n"},
        GateCase{"Down", "not-counted-up",
                 looping("        out[i] = in[i];\n", "int i = n; i > 0; --i")},
        GateCase{
            "StepChanges", "not-counted-up",
            looping("        out[i] = in[i];\n        n /= 2;\n", "int i = 1; i < 99; i += n")},
        GateCase{"IndexChanges", "not-counted-up",
                 looping("        out[i] = in[i];\n        ++i;\n")},
        GateCase{
            "Pragma", "already-unrolled",
            "__global__ void k(const int* in, int* out, int n) {\n    #pragma unroll 2\n    for "
            "(int i = threadIdx.x; i < n; i += blockDim.x) {\n        out[i] = in[i];\n    }\n}\n"},
        GateCase{"Short", "short-loop",
                 looping("        out[i] = in[i];\n", "int i = 0; i < 4; ++i")},
        GateCase{"LoadBehindExit", "no-load-to-batch",
                 looping("        if (i % 7 == 3)\n            break;\n        out[i] = in[i];\n")},
        GateCase{"StepLeftOut", "not-counted-up",
                 "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
                 "    int i = 0;\n    while (i < n) {\n        if (in[i] == 3)\n"
                 "            continue;\n        out[i] = in[i];\n        ++i;\n    }\n}\n"},
        GateCase{"IndexUsedLater", "index-used-later",
                 "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
                 "    int i;\n    for (i = 0; i < n; ++i) {\n        if (in[i] == 3)\n"
                 "            break;\n        out[i + 1] = 1;\n    }\n    out[0] = i;\n}\n"},
        GateCase{"LoopInside", "not-innermost",
                 looping("        for (int j = 0; j < n; ++j)\n            out[i] += in[j];\n")},
        GateCase{"Barrier", "call-in-loop",
                 looping("        out[i] = in[i];\n        __syncthreads();\n")},
        GateCase{"UnknownCall", "call-in-loop",
                 looping("        escape(out);\n        missed += other[i];\n")},
        GateCase{"Conditional", "no-load-to-batch",
                 looping("        if (i % 3)\n            out[i] = in[i];\n")},
        GateCase{"AfterContinue", "no-load-to-batch",
                 looping("        if (i % 3)\n            continue;\n        out[i] = in[i];\n")},
        GateCase{"Chosen", "no-load-to-batch", looping("        out[i] = i % 3 ? in[i] : 0;\n")},
        GateCase{"ShortCircuit", "no-load-to-batch",
                 looping("        out[i] = i % 3 == 0 && in[i] > 0;\n")},
        GateCase{"Dependent", "no-load-to-batch",
                 looping("        int j = i * 2;\n        out[i] = in[j];\n        ++j;\n")},
        GateCase{"Invariant", "no-load-to-batch", looping("        out[i] = in[n];\n")},
        GateCase{
            "TooMany", "too-many-loads",
            looping("        out[i] = in[i] + in[i + 1] + in[i + 2] + in[i + 3] + in[i + 4];\n")},
        GateCase{"MayAlias", "may-alias", looping("        out[i] = other[i];\n")},
        GateCase{"WritesAhead", "may-alias", looping("        out[i + 1] = out[i];\n")},
        GateCase{"NarrowIndex", "narrow-index",
                 "__global__ void k(const int* __restrict__ in, int* __restrict__ out, long n) {\n"
                 "    for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
                 "        out[i] = in[i];\n    }\n}\n"},
        GateCase{"RedundantThreads", "redundant-threads",
                 looping("        out[i] = in[i];\n") +
                     "void run(int* a, int n) {\n    k<<<1, dim3(32, 8)>>>(a, a, a, n);\n}\n"},
        GateCase{"ReadsWhatItWrote", "may-alias",
                 looping("        out[i] = 2 * out[i];\n        missed += out[i];\n")},
        GateCase{"SameElementEachRound", "may-alias",
                 looping("        out[i - i] = out[i - i] + 1;\n")},
        GateCase{"CompilerMayReorder", "compiler-may-reorder",
                 looping("        out[i] = in[i];\n", "int i = 0; i < n; ++i")},
        GateCase{"OneLine", "several-statements-a-line",
                 "__global__ void k(float* x, int n) {\n    for (int i = threadIdx.x; i < n; i += "
                 "blockDim.x) x[i] += 1;\n}\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills

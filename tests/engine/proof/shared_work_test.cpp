/// Edits that share the work out to the threads in another way are proved, and none of them that
/// forgets an element, does one twice, or takes another value.
#include "tests/engine/proof/mutants.h"
#include "tests/engine/proof/proof_subject.h"
#include "tests/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

struct SharedEdit {
    std::string name;
    std::string before;
    std::string after;
    std::string proof;
};

std::string proofText(const SharedEdit& edit) {
    return describe(proofOf(edit.before, edit.after));
}

constexpr const char* ofFew = "proved for all inputs and sizes, if there are fewer than 2^31 "
                              "threads";

/// Four elements a thread by vectors, and what is left over one by one.
SharedEdit vectors() {
    return {"vectors",
            R"(
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
void launch(int n, float a, const float* x, float* y) {
    saxpy<<<(n + 255) / 256, 256>>>(n, a, x, y);
}
)",
            R"(
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 == 0;
    if (aligned && i < n / 4) {
        const float4 x4 = reinterpret_cast<const float4*>(x)[i];
        float4 y4 = reinterpret_cast<const float4*>(y)[i];
        y4.x = a * x4.x + y4.x;
        y4.y = a * x4.y + y4.y;
        y4.z = a * x4.z + y4.z;
        y4.w = a * x4.w + y4.w;
        reinterpret_cast<float4*>(y)[i] = y4;
    } else if (i <= n / 4) {
        for (int k = 4 * i; k < n && k - 4 * i < 4; ++k)
            y[k] = a * x[k] + y[k];
    }
}
void launch(int n, float a, const float* x, float* y) {
    saxpy<<<((n + 255) / 256 + 3) / 4, 256>>>(n, a, x, y);
}
)",
            ofFew};
}

/// Two elements a thread, without vectors and without a loop.
SharedEdit pairs() {
    return {"pairs",
            R"(
__global__ void halve(float* __restrict__ out, const float* __restrict__ in, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = 0.5f * in[i];
}
void launch(float* out, const float* in, unsigned n) {
    halve<<<(n + 127) / 128, 128>>>(out, in, n);
}
)",
            R"(
__global__ void halve(float* __restrict__ out, const float* __restrict__ in, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned half = n / 2;
    if (i < half) {
        out[2 * i] = 0.5f * in[2 * i];
        out[2 * i + 1] = 0.5f * in[2 * i + 1];
    } else if (i == half && n % 2 != 0) {
        out[i * 2] = 0.5f * in[i * 2];
    }
}
void launch(float* out, const float* in, unsigned n) {
    halve<<<((n + 127) / 128 + 1) / 2, 128>>>(out, in, n);
}
)",
            ofFew};
}

/// Four elements a thread in a loop of four rounds.
SharedEdit rounds() {
    return {"rounds",
            R"(
__global__ void shift(const int* in, int* out, int columns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + i / columns;
}
void launch(const int* in, int* out, int columns, int n) {
    shift<<<(n + 255) / 256, 256>>>(in, out, columns, n);
}
)",
            R"(
__global__ void shift(const int* in, int* out, int columns, int n) {
    const long long first = 4LL * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int k = 0; k < 4; ++k) {
        const long long at = first + k;
        if (at < n) {
            const int i = (int)at;
            out[i] = in[i] + i / columns;
        }
    }
}
void launch(const int* in, int* out, int columns, int n) {
    shift<<<(n + 1023) / 1024, 256>>>(in, out, columns, n);
}
)",
            ofFew};
}

/// Vectors in a loop over the grid, and what is left over in another one.
SharedEdit loops() {
    return {"loops",
            R"(
__global__ void damp(const float* rate, float* state, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        state[i] = state[i] * rate[i];
}
)",
            R"(
__global__ void damp(const float* rate, float* state, int n) {
    const bool aligned = reinterpret_cast<size_t>(rate) % 16 == 0 && reinterpret_cast<size_t>(state) % 16 == 0;
    const int groups = aligned ? n / 4 : 0;
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += gridDim.x * blockDim.x) {
        const float4 rate4 = reinterpret_cast<const float4*>(rate)[g];
        float4 state4 = reinterpret_cast<const float4*>(state)[g];
        state4.x = state4.x * rate4.x;
        state4.y = state4.y * rate4.y;
        state4.z = state4.z * rate4.z;
        state4.w = state4.w * rate4.w;
        reinterpret_cast<float4*>(state)[g] = state4;
    }
    for (int i = 4 * groups + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        state[i] = state[i] * rate[i];
}
)",
            "proved for all inputs and sizes, if n plus the number of threads does not overflow "
            "and rate, state do not overlap and there are fewer than 2^31 threads"};
}

TEST(SharedWork, IsProvedForVectorsAndWhatIsLeftOver) {
    EXPECT_EQ(proofText(vectors()), vectors().proof);
}

TEST(SharedWork, IsProvedForPairsAndRounds) {
    EXPECT_EQ(proofText(pairs()), pairs().proof);
    EXPECT_EQ(proofText(rounds()), rounds().proof);
}

TEST(SharedWork, IsProvedForLoopsOverTheGrid) {
    EXPECT_EQ(proofText(loops()), loops().proof);
}

TEST(SharedWork, NamesTheAlignmentThatNothingTests) {
    SharedEdit edit = vectors();
    edit.after = replaced(replaced(edit.after, "aligned && ", ""),
                          "    const bool aligned = (reinterpret_cast<size_t>(x) | "
                          "reinterpret_cast<size_t>(y)) % 16 == 0;\n",
                          "");
    EXPECT_EQ(proofText(edit), "proved for all inputs and sizes, if x is aligned to 16 bytes and y "
                               "is aligned to 16 bytes and there are fewer than 2^31 threads");
    // Eight bytes are too few.
    SharedEdit less = vectors();
    less.after = replaced(less.after, "% 16 == 0", "% 8 == 0");
    EXPECT_THAT(proofText(less), HasSubstr("x is aligned to 16 bytes"));
}

TEST(SharedWork, NamesTheGridThatTheTextDoesNotTell) {
    SharedEdit edit = vectors();
    edit.before = replaced(replaced(edit.before, "void launch(int n", "void launch(int g, int n"),
                           "<<<(n + 255) / 256", "<<<g");
    edit.after = replaced(replaced(edit.after, "void launch(int n", "void launch(int g, int n"),
                          "<<<((n + 255) / 256 + 3)", "<<<(g + 3)");
    EXPECT_EQ(proofText(edit), "proved for all inputs and sizes, if the original's grid has a "
                               "thread for each of n and there are fewer than 2^31 threads");
    edit.after = replaced(edit.after, "(g + 3) / 4", "(g + 2) / 4");
    EXPECT_THAT(proofText(edit), HasSubstr("unproved: a launch may leave out some of n"));
}

TEST(SharedWork, NeedsOtherMemoryForRoundsOfOneThread) {
    // A thread's rounds come one after the other, so that one may use what another has left.
    SharedEdit edit = loops();
    for (std::string* text : {&edit.before, &edit.after})
        *text += "void twice(float* x, int n) { damp<<<8, 256>>>(x, x, n); }\n";
    EXPECT_THAT(proofText(edit), HasSubstr("unproved"));
}

struct WrongEdit {
    SharedEdit (*edit)();
    std::string right;
    std::string wrong;
    std::string why;
};

const std::vector<WrongEdit>& wrongEdits() {
    static const std::vector<WrongEdit> list{
        {vectors, "y4.z = a * x4.z + y4.z;", "y4.z = a * x4.y + y4.z;", "takes another lane"},
        {vectors, "y4.w = a * x4.w + y4.w;", "", "leaves a lane as it was"},
        {vectors, "float4 y4 = reinterpret_cast<const float4*>(y)[i];",
         "float4 y4 = reinterpret_cast<const float4*>(x)[i];", "reads another array"},
        {vectors, "reinterpret_cast<float4*>(y)[i] = y4;",
         "reinterpret_cast<float4*>(y)[i + 1] = y4;", "writes the next thread's elements"},
        {vectors, "aligned && i < n / 4", "aligned && i <= n / 4", "goes over the end"},
        {vectors, "aligned && i < n / 4", "aligned && i < n / 2", "goes over the end"},
        {vectors, "else if (i <= n / 4)", "else if (i < n / 4)", "leaves out the rest"},
        {vectors, "} else if (i <= n / 4) {", "}\n    if (i <= n / 4) {",
         "does elements twice, the second time on results"},
        {vectors, "k - 4 * i < 4", "k - 4 * i < 3", "leaves out one of four"},
        {vectors, "k - 4 * i < 4", "k - 4 * i < 5", "does the next thread's first element"},
        {vectors, "k < n &&", "k <= n &&", "does one element too many"},
        {vectors, "k < n &&", "k < n - 1 &&", "leaves out the last element"},
        {vectors, "int k = 4 * i;", "int k = 4 * i + 1;", "leaves out the first of four"},
        {vectors, "int k = 4 * i;", "int k = 2 * i;", "begins at other elements"},
        {vectors, "y[k] = a * x[k] + y[k];", "y[k] = a * x[k];", "adds nothing in the rest"},
        {vectors, "((n + 255) / 256 + 3) / 4", "((n + 255) / 256) / 4",
         "has no threads for the last elements"},
        {vectors, "((n + 255) / 256 + 3) / 4", "((n + 255) / 256 + 7) / 8",
         "has half of the threads"},
        {vectors, "((n + 255) / 256 + 3) / 4, 256", "((n + 255) / 256 + 3) / 4, 128",
         "has half of the threads"},
        {vectors, "int i = blockIdx.x * blockDim.x + threadIdx.x;",
         "int i = blockIdx.x * blockDim.x + threadIdx.x / 2;", "two threads do the same elements"},
        {vectors, "int i = blockIdx.x * blockDim.x + threadIdx.x;",
         "int i = blockIdx.x * 256 + threadIdx.x;", "holds for blocks of 256 threads alone"},
        {pairs, "out[2 * i + 1] = 0.5f * in[2 * i + 1];", "", "leaves out every other element"},
        {pairs, "out[2 * i + 1] = 0.5f * in[2 * i + 1];", "out[2 * i + 1] = 0.5f * in[2 * i];",
         "takes its neighbour's value"},
        {pairs, "out[2 * i] = 0.5f * in[2 * i];", "out[i] = 0.5f * in[i];",
         "does the first half twice"},
        {pairs, "i == half && n % 2 != 0", "i == half && n % 2 == 0",
         "does the last element where it is done, and not where it is not"},
        {pairs, "i == half && n % 2 != 0", "i == half + 1 && n % 2 != 0",
         "there may be no such thread"},
        {pairs, "out[i * 2] = 0.5f * in[i * 2];", "out[n] = 0.5f * in[n];", "is over the end"},
        {rounds, "k < 4; ++k", "k < 3; ++k", "leaves out one of four"},
        {rounds, "k < 4; ++k", "k <= 4; ++k", "does the next thread's first element"},
        {rounds, "at < n", "at <= n", "does one element too many"},
        {rounds, "at < n", "first < n", "does up to three elements too many"},
        {rounds, "4LL * (", "2LL * (", "overlaps with the next thread"},
        {rounds, "4LL * (", "5LL * (", "leaves out every fifth element"},
        {rounds, "i / columns", "(i + k) / columns", "takes another row"},
        {rounds, "(n + 1023) / 1024, 256", "(n + 1023) / 1024, 128", "has half of the threads"},
        {rounds, "(n + 1023) / 1024", "n / 1024", "has no threads for the last elements"},
        {loops, "int i = 4 * groups +", "int i = groups +", "does elements twice"},
        {loops, "int i = 4 * groups +", "int i = 4 * groups + 4 +", "leaves out four elements"},
        {loops, "aligned ? n / 4 : 0", "aligned ? n / 4 : 1",
         "does four elements by vectors where they are not aligned"},
        {loops, "aligned ? n / 4 : 0", "aligned ? n / 4 + 1 : 0", "goes over the end"},
        {loops, "g < groups;", "g < groups - 1;", "leaves out the last group"},
        {loops, "g < groups; g += gridDim.x * blockDim.x", "g < groups; g += blockDim.x",
         "blocks do the same groups"},
        {loops, "state4.y = state4.y * rate4.y;", "state4.y = state4.y * rate4.x;",
         "takes another lane"},
        {loops, "i < n; i += gridDim.x * blockDim.x", "i < n; i += 2 * gridDim.x * blockDim.x",
         "leaves out every other round"},
        {loops, "        state[i] = state[i] * rate[i];", "        rate[i], state[i] = rate[i];",
         "takes another value in the rest"},
    };
    return list;
}

TEST(SharedWork, IsNotProvedWhereItIsWrong) {
    for (const WrongEdit& wrong : wrongEdits()) {
        SharedEdit edit = wrong.edit();
        edit.after = replaced(edit.after, wrong.right, wrong.wrong);
        EXPECT_THAT(proofText(edit), HasSubstr("unproved")) << edit.name << ": " << wrong.why;
    }
}

TEST(SharedWork, IsNotProvedWhereRoundsNeedEachOther) {
    // Each round reads what a later one of the same thread writes: no vector may run ahead.
    const std::string before = R"(
__global__ void pull(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = x[i + 1024];
}
)";
    const std::string after = R"(
__global__ void pull(float* x, int n) {
    const int half = n / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < half; i += gridDim.x * blockDim.x) {
        const float a = x[2 * i + 1024], b = x[2 * i + 1025];
        x[2 * i] = a;
        x[2 * i + 1] = b;
    }
    for (int i = 2 * half + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = x[i + 1024];
}
)";
    EXPECT_THAT(describe(proofOf(before, after)), HasSubstr("unproved"));
}

TEST(SharedWork, IsNotProvedWhereThreadsWorkTogether) {
    SharedEdit edit = vectors();
    for (std::string* text : {&edit.before, &edit.after})
        *text = replaced(*text, "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    __syncthreads();\n");
    EXPECT_THAT(proofText(edit), HasSubstr("what threads do together"));
}

/// A change of an edited kernel that is right all the same, and why.
struct Equivalent {
    std::string_view edit;
    std::string_view line; ///< A part of the changed line.
    std::string_view reason;
};
const std::vector<Equivalent>& equivalents() {
    static const std::vector<Equivalent> list{
        {"vectors", "const bool aligned", "a condition names the alignment"},
        {"loops", "const bool aligned", "a condition names the alignment"},
        {"loops", "n / (4 + 1)", "the second loop does what the first one leaves"},
    };
    return list;
}

/// All mutants take some minutes.
constexpr std::size_t mutantsApart = 6;

TEST(SharedWork, IsNotProvedForMutants) {
    for (const SharedEdit& edit : {vectors(), pairs(), rounds(), loops()}) {
        EditedProgram program(edit.before);
        const ProgramSource& before = program.original();
        std::size_t made = 0;
        int tried = 0;
        for (const Mutant& mutant :
             mutantsOf(edit.after, {0, static_cast<std::uint32_t>(edit.after.size())})) {
            if (made++ % casesApart(mutantsApart) != 0)
                continue;
            const std::string changed = mutated(edit.after, mutant);
            const ProgramSource after = program.with(changed);
            if (hasErrors(after))
                continue;
            ++tried;
            const Proof proof = proofOf(before, after);
            const std::string line = lineOf(changed, mutant);
            const bool isListed =
                std::ranges::any_of(equivalents(), [&](const Equivalent& equivalent) {
                    return edit.name == equivalent.edit && line.contains(equivalent.line);
                });
            EXPECT_TRUE(!proof || isListed) << edit.name << ": " << line << "\n" << describe(proof);
        }
        std::cout << edit.name << ": " << tried << " mutants\n";
        EXPECT_GT(tried, 5);
    }
}

TEST(SharedWork, GivesUpAtAFunctionWithEffects) {
    const std::string before = R"(
struct Plane { int width; };
__device__ int at(const Plane& plane, int x, int y) { return y * plane.width + x; }
__global__ void fill(Plane plane, float* out) {
    for (int y = 0; y < 4; ++y)
        out[at(plane, threadIdx.x, y)] = 1.0f;
}
)";
    EXPECT_THAT(describe(proofOf(before, replaced(before, "= 1.0f", "= 2.0f"))),
                HasSubstr("unproved"));
}

} // namespace
} // namespace kernelskill::engine

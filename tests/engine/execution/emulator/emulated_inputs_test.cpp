// Tests the contents of memory without a description: device variables, arrays of classes.
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;
using testing::Ne;

class EmulatedInputs : public ExecutorFixture {
protected:
    ProgramSource program(const std::string& text) {
        return parse(source("examples/inputs.cu"), text);
    }
};

TEST_F(EmulatedInputs, FindsWhatTheHostCopiesToVariables) {
    const auto result = runFirstKernel(program(R"(
__constant__ int width;
__device__ float weights[8];
__device__ int offsets[4];
__device__ unsigned arrivals;
__global__ void gather(float* w, int* o, int* width_, unsigned* last) {
    w[threadIdx.x] = weights[threadIdx.x % 8];
    o[threadIdx.x] = offsets[threadIdx.x % 4];
    width_[threadIdx.x] = width;
    last[threadIdx.x] = atomicAdd(&arrivals, 1);
}
void launch(float* w, int* o, int* width_, unsigned* last, const float* hostWeights) {
    int columns = 48;
    unsigned none = 0;
    int first[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(width, &columns, sizeof(int));
    cudaMemcpyToSymbol(weights, hostWeights, 8 * sizeof(float));
    cudaMemcpyToSymbolAsync(offsets, first, sizeof first, 0, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(arrivals, &none, sizeof none);
    gather<<<1, 32>>>(w, o, width_, last);
}
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(valuesOf<int>(*result, "width_"), Each(48));
    EXPECT_THAT(valuesOf<float>(*result, "w"), Each(Ne(0.0f)));
    EXPECT_THAT(valuesOf<int>(*result, "o"), AllOf(Each(Ge(0)), Each(Lt(16)), Contains(Ne(0))));
    EXPECT_EQ(valuesOf<unsigned>(*result, "last").front(), 0u);
    EXPECT_THAT(
        result->profile.launch.notes,
        Contains(HasSubstr("'width' is set by the host on line 16; it is taken to hold 48")));
}

// Without a known size it had no bytes, and got those of the next argument: an address.
TEST_F(EmulatedInputs, FindsTheFieldsOfAFunctorWhoseTypeIsDeduced) {
    const auto result = runFirstKernel(program(R"(
struct Between {
    float low, high;
    __device__ bool operator()(float v) const { return low <= v && v < high; }
};
template <typename Predicate> __global__ void limits(Predicate accepts, float* low, float* high) {
    low[threadIdx.x] = accepts.low;
    high[threadIdx.x] = accepts.high;
}
void launch(float* low, float* high) { limits<<<1, 32>>>(Between{0.25f, 0.5f}, low, high); }
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(valuesOf<float>(*result, "low"), Each(1.25f));
    EXPECT_THAT(valuesOf<float>(*result, "high"), Each(1.25f));
}

TEST_F(EmulatedInputs, FindsZerosInAClassThatTheTextDoesNotShow) {
    const auto result = runFirstKernel(program(R"(
#define FUNCTOR struct Shift { int by; __device__ int operator()(int v) const { return v + by; } };
FUNCTOR
template <typename F> __global__ void apply(F f, int* out) { out[threadIdx.x] = f(3); }
void launch(int* out) { apply<<<1, 32>>>(Shift{2}, out); }
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(valuesOf<int>(*result, "out"), Each(3));
}

TEST_F(EmulatedInputs, FindsWhatAnotherKernelLeft) {
    const ProgramSource both = program(R"(
__device__ float mean;
__device__ int found;
__global__ void apply(float* x, int* n) {
    x[threadIdx.x] = mean;
    n[threadIdx.x] = found;
}
__global__ void measure(const float* x) {
    mean = x[0];
    atomicAdd(&found, 1);
}
void launch(float* x, int* n) {
    measure<<<1, 1>>>(x);
    apply<<<1, 32>>>(x, n);
}
)");
    const auto result = runFirstKernel(both);
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(valuesOf<float>(*result, "x"), Each(Ne(0.0f)));
    EXPECT_THAT(valuesOf<int>(*result, "n"), Each(Ne(0)));
}

TEST_F(EmulatedInputs, TakesAVariablesContentsFromAPin) {
    const auto result = runFirstKernel(program(R"(
__constant__ float scale;
// kernelskill: launch times<<<1, 32>>>(x=rand[32], scale=3)
__global__ void times(float* x) { x[threadIdx.x] = scale; }
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(valuesOf<float>(*result, "x"), Each(3.0f));
}

TEST_F(EmulatedInputs, RefusesAPointerThatTheHostSets) {
    const ProgramSource pointer = program(R"(
__device__ float* table;
__global__ void read(float* x) { x[threadIdx.x] = table[threadIdx.x]; }
void launch(float* x, float* t) {
    cudaMemcpyToSymbol(table, &t, sizeof t);
    read<<<1, 32>>>(x);
}
)");
    const auto result = runFirstKernel(pointer);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(result.error().what, HasSubstr("'table'"));
    EXPECT_THAT(result.error().where, HasSubstr("inputs.cu:5"));
}

TEST_F(EmulatedInputs, FillsTheFieldsOfAClassByTheirTypes) {
    const auto result = runFirstKernel(program(R"(
struct Cell { int column; float share[2]; };
typedef struct {
    float x, y;
    double mass;
    unsigned char alive;
    Cell cell;
    short tag;
    float4 colour;
} Particle;
__global__ void unpack(const Particle* particles, float* floats, double* doubles, int* integers) {
    const Particle p = particles[threadIdx.x];
    floats[threadIdx.x] = fminf(fminf(p.x, p.y), fminf(p.cell.share[1], p.colour.w));
    floats[threadIdx.x + 64] = fmaxf(fmaxf(p.x, p.y), fmaxf(p.cell.share[1], p.colour.w));
    doubles[threadIdx.x] = p.mass;
    integers[threadIdx.x] = min(p.cell.column, (int)p.tag);
    integers[threadIdx.x + 64] = max(max(p.cell.column, (int)p.tag), (int)p.alive);
}
void launch(const Particle* particles, float* floats, double* doubles, int* integers) {
    unpack<<<1, 64>>>(particles, floats, doubles, integers);
}
)"));
    ASSERT_TRUE(result) << result.error().describe();
    const auto floats = valuesOf<float>(*result, "floats");
    EXPECT_THAT(floats, AllOf(Each(Ge(0.0f)), Each(Lt(1.0f))));
    EXPECT_GT(*std::ranges::max_element(floats), 0.5f);
    EXPECT_THAT(valuesOf<double>(*result, "doubles"),
                AllOf(Each(Ge(0.0)), Each(Lt(1.0)), Contains(testing::Gt(0.5))));
    EXPECT_THAT(valuesOf<int>(*result, "integers"),
                AllOf(Each(Ge(0)), Each(Lt(64)), Contains(testing::Gt(4))));
    EXPECT_THAT(result->profile.notes, Contains(HasSubstr("'particles' has a class type")));
}

TEST_F(EmulatedInputs, FillsTheFieldsOfAClassThatAConditionalLeaves) {
    const auto result = runFirstKernel(program(R"(
#define HAS_WEIGHT 1
typedef struct {
    float x;
#ifdef ON_ANOTHER_MACHINE
    int indexes, more;
#elif HAS_WEIGHT
    float weight;
#else
    double weight;
#endif
#if 0
    float gone;
#endif
} Item;
__global__ void unpack(const Item* items, float* floats) {
    floats[threadIdx.x] = items[threadIdx.x].x;
    floats[threadIdx.x + 64] = items[threadIdx.x].weight;
}
void launch(const Item* items, float* floats) { unpack<<<1, 64>>>(items, floats); }
)"));
    ASSERT_TRUE(result) << result.error().describe();
    const auto floats = valuesOf<float>(*result, "floats");
    EXPECT_THAT(floats, AllOf(Each(Ge(0.0f)), Each(Lt(1.0f))));
    EXPECT_GT(*std::max_element(floats.begin() + 64, floats.end()), 0.5f);
}

TEST_F(EmulatedInputs, SaysThatGuessesMayBeAtFaultForAWildAddress) {
    const auto result = runFirstKernel(program(R"(
__global__ void scatter(const int* place, float* out) { out[(1ll << 50) - place[0]] = 1; }
void launch(const int* place, float* out) { scatter<<<1, 1>>>(place, out); }
)"),
                                       std::chrono::milliseconds{5000});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Failed);
    EXPECT_THAT(result.error().what,
                HasSubstr("with guessed contents of buffers, which may be at fault"));
    EXPECT_THAT(result.error().what, HasSubstr("out of bounds"));
    EXPECT_THAT(result.error().remedy, HasSubstr("kernelskill: launch scatter<<<1, 1>>>"));
}

TEST_F(EmulatedInputs, SaysThatALaunchIsGuessedWhereTheProgramHasNone) {
    const auto result = runFirstKernel(program(R"(
__global__ void seek(const int* in, float* out, int n) {
    int i = threadIdx.x;
    while (in[i % n] != n + 100000)
        ++i;
    out[threadIdx.x] = i;
}
)"),
                                       std::chrono::milliseconds{300});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what,
                HasSubstr("a loop did not end with a guessed launch, cut off"));
}

TEST_F(EmulatedInputs, ProposesAPinForALoopThatDoesNotEnd) {
    const ProgramSource endless = program(R"(
template <int STEP> __global__ void seek(const int* in, float* out, int n, float limit) {
    int i = threadIdx.x;
    while (in[i % n] != n + 100000)
        i += STEP;
    out[threadIdx.x] = i * limit;
}
void launch(const int* in, float* out) { seek<2><<<dim3(1, 2), 64>>>(in, out, 256, 0.5f); }
)");
    const auto result = runFirstKernel(endless, std::chrono::milliseconds{300});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Failed);
    EXPECT_THAT(result.error().what,
                HasSubstr("a loop did not end with guessed contents of buffers, cut off"));
    EXPECT_THAT(result.error().where, HasSubstr("inputs.cu:"));
    EXPECT_THAT(result.error().remedy,
                HasSubstr("// kernelskill: launch seek<2><<<dim3(1, 2), 64>>>(in=rand[4096], "
                          "out=rand[4096], n=256, limit=0.5)"));
}

TEST_F(EmulatedInputs, RefusesTheDeviceRuntimeByNameAndLine) {
    const auto result = runFirstKernel(program(R"(
__global__ void waits(int* out) {
    out[threadIdx.x] = 1;
    cudaDeviceSynchronize();
}
void launch(int* out) { waits<<<1, 32>>>(out); }
)"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(result.error().what, HasSubstr("cudaDeviceSynchronize() in device code"));
    EXPECT_THAT(result.error().where, HasSubstr("inputs.cu:4"));
}

TEST_F(EmulatedInputs, RefusesALaunchFromADeviceFunctionByNameAndLine) {
    const ProgramSource nested = program(R"(
__global__ void child(int* out) { out[threadIdx.x] = 1; }
__device__ void spawn(int* out) {
    child<<<1, 32, 0, cudaStreamTailLaunch>>>(out);
}
__global__ void parent(int* out) { spawn(out); }
void launch(int* out) { parent<<<1, 32>>>(out); }
)");
    const auto result = run({nested, *analysis::kernelNamed(*nested.model, "parent")});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(result.error().what, HasSubstr("dynamic parallelism: a launch of 'child'"));
    EXPECT_THAT(result.error().where, HasSubstr("inputs.cu:4"));
}

TEST_F(EmulatedInputs, RunsAKernelOfAClassThatCannotBeTakenApart) {
    const auto result = runFirstKernel(program(R"(
struct Flags {
    unsigned low : 4, high : 4;
    int count;
};
__global__ void counts(const Flags* flags, int* out) { out[threadIdx.x] = flags[threadIdx.x].count; }
void launch(const Flags* flags, int* out) { counts<<<1, 32>>>(flags, out); }
)"));
    ASSERT_TRUE(result) << result.error().describe();
}

} // namespace
} // namespace kernelskill::engine

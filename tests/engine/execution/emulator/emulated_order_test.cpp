// Kernels whose threads order each other by more than barriers: right ones are clean, and each is
// racy with one of its parts taken away.
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;

struct Idiom {
    std::string name;
    std::string text;
    /// Each is racy with it replaced.
    std::vector<std::pair<std::string, std::string>> parts;
};

std::string without(const Idiom& idiom, const std::pair<std::string, std::string>& part) {
    std::string text = idiom.text;
    const std::size_t at = text.find(part.first);
    EXPECT_NE(at, std::string::npos) << part.first;
    return text.replace(at, part.first.size(), part.second);
}

const std::vector<Idiom>& idioms() {
    static const std::vector<Idiom> all = {
        {"LastBlock",
         R"(
__device__ unsigned int retired = 0;
__global__ void total(const float* in, float* partial, float* out) {
    __shared__ float sums[64];
    __shared__ bool isLast;
    sums[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (threadIdx.x < step)
            sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        isLast = atomicInc(&retired, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x < gridDim.x)
        sums[threadIdx.x] = partial[threadIdx.x];
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i)
            sum += sums[i];
        *out = sum;
        retired = 0;
    }
}
// kernelskill: launch total<<<8, 64>>>(in=rand[512], partial=zero[8], out=zero[1])
)",
         {{"        __threadfence();\n", ""},
          {"__threadfence()", "__threadfence_block()"},
          {"atomicInc(&", "atomicInc_block(&"},
          {"isLast = atomicInc(&retired, gridDim.x) == gridDim.x - 1", "isLast = blockIdx.x == 7"},
          {"        __syncthreads();\n    }\n    if", "    }\n    if"}}},
        {"LookBack",
         R"(
__global__ void scan(const int* in, volatile int* flags, int* sums, int* out) {
    __shared__ int before;
    if (threadIdx.x == 0) {
        int sum = 0;
        if (blockIdx.x > 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            sum = sums[blockIdx.x - 1];
        }
        before = sum;
        sums[blockIdx.x] = sum + in[blockIdx.x];
        __threadfence();
        flags[blockIdx.x] = 1;
    }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = before;
}
// kernelskill: launch scan<<<8, 32>>>(in=rand[8, 0..9], flags=zero[8], sums=zero[8], out=zero[256])
)",
         {{"        __threadfence();\n        flags", "        flags"},
          {"            __threadfence();\n            sum", "            sum"},
          {"            while (flags[blockIdx.x - 1] == 0) {\n            }\n", ""}}},
        {"SpinLock",
         R"(
__global__ void append(int* lock, int* values, int* out) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        values[0] += blockIdx.x;
        values[1] += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
// kernelskill: launch append<<<6, 32>>>(lock=zero[1], values=zero[2], out=zero[192])
)",
         {{"        __threadfence();\n        atomicExch", "        atomicExch"},
          {"        while (atomicCAS(lock, 0, 1) != 0) {\n        }\n", ""},
          {"atomicExch(lock, 0)", "atomicExch_block(lock, 0)"}}},
        {"Privatized",
         R"(
__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned counts[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (counts[i] != 0)
            atomicAdd(&bins[i], counts[i]);
}
// kernelskill: launch histogram<<<8, 128>>>(in=rand[1024], bins=zero[256], n=1024)
)",
         {{"atomicAdd(&counts[in[i]], 1u)", "counts[in[i]] += 1u"},
          {"atomicAdd(&bins[i], counts[i])", "bins[i] += counts[i]"},
          {"atomicAdd(&bins[i]", "atomicAdd_block(&bins[i]"},
          {"    __syncthreads();\n    int i =", "    int i ="},
          {"    __syncthreads();\n    for (int i = threadIdx.x; i < 256; i += blockDim.x)\n        "
           "if",
           "    for (int i = threadIdx.x; i < 256; i += blockDim.x)\n        if"}}},
        {"OrderingAtomic",
         R"(
#include <cuda/atomic>
__global__ void pass(int* ready, int* value, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        value[0] = 42;
        flag.store(1, cuda::memory_order_release);
    }
    if (threadIdx.x == 0 && blockIdx.x == 1) {
        while (flag.load(cuda::memory_order_acquire) == 0) {
        }
        out[0] = value[0];
    }
}
// kernelskill: launch pass<<<2, 32>>>(ready=zero[1], value=zero[1], out=zero[1])
)",
         {{"store(1, cuda::memory_order_release)", "store(1, cuda::memory_order_relaxed)"},
          {"load(cuda::memory_order_acquire)", "load(cuda::memory_order_relaxed)"},
          {"cuda::thread_scope_device", "cuda::thread_scope_block"}}},
        {"SharedFlag",
         R"(
__global__ void handOver(const int* in, int* out) {
    __shared__ int value[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        value[threadIdx.x] = in[threadIdx.x];
        __syncwarp();
        if (threadIdx.x == 0) {
            __threadfence_block();
            ready = 1;
        }
    } else {
        while (ready == 0) {
        }
        __threadfence_block();
        out[threadIdx.x - 32] = value[threadIdx.x - 32];
    }
}
// kernelskill: launch handOver<<<1, 64>>>(in=rand[32, 0..9], out=zero[32])
)",
         {{"        __syncwarp();\n", ""},
          {"            __threadfence_block();\n            ready = 1", "            ready = 1"},
          {"        __threadfence_block();\n        out", "        out"}}},
        {"CompareAndSwapLoop",
         R"(
__global__ void largest(const float* in, unsigned* out) {
    const float value = in[blockIdx.x * 64 + threadIdx.x];
    unsigned old = *out;
    while (value > __uint_as_float(old)) {
        const unsigned seen = atomicCAS(out, old, __float_as_uint(value));
        if (seen == old)
            break;
        old = seen;
    }
    if (value <= __uint_as_float(old))
        atomicMax(out, old);
}
// kernelskill: launch largest<<<4, 64>>>(in=rand[256], out=zero[1])
)",
         {{"atomicCAS(out, old, __float_as_uint(value))", "old; *out = __float_as_uint(value)"}}},
    };
    return all;
}

class EmulatedSchedules : public ExecutorFixture {
protected:
    /// Without the suspicion of volatile flags, which are meant to be unordered.
    Result<RunResult> runIn(const std::string& text, const Schedule& schedule) {
        auto result = runWithFlags(text, schedule);
        if (result)
            std::erase_if(result->profile.hazards, [](const Hazard& hazard) {
                return hazard.details.doubt == RaceDoubt::Volatile;
            });
        return result;
    }

    Result<RunResult> runWithFlags(const std::string& text, const Schedule& schedule) {
        const ProgramSource program = parse(source("examples/order.cu"), text);
        const KernelRef kernel{program, program.model->kernels.front()};
        auto launches = inferLaunches(kernel.file(), kernel.kernel);
        if (!launches)
            return std::unexpected(launches.error());
        Job job;
        job.launch = launches->front();
        job.wantOutputs = true;
        job.wantTolerated = true;
        job.schedule = schedule;
        job.limits.time = std::chrono::seconds{60};
        auto image = executor_->build(kernel, job.launch, {});
        if (!image)
            return std::unexpected(image.error());
        return executor_->run(**image, job, {});
    }
};

class EmulatedOrder : public EmulatedSchedules, public testing::WithParamInterface<Idiom> {
protected:
    std::vector<Hazard> racesOf(const std::string& text) {
        const auto result = runIn(text, {});
        EXPECT_TRUE(result) << result.error().describe() << text;
        std::vector<Hazard> races;
        if (result)
            std::ranges::copy_if(
                result->profile.hazards, std::back_inserter(races),
                [](const Hazard& hazard) { return hazard.kind == HazardKind::Race; });
        return races;
    }
};

TEST_P(EmulatedOrder, IsCleanAsItIs) {
    const std::vector<Hazard> races = racesOf(GetParam().text);
    EXPECT_TRUE(races.empty()) << races.front().message;
}

TEST_P(EmulatedOrder, NeedsEachOfItsParts) {
    for (const auto& part : GetParam().parts)
        EXPECT_FALSE(racesOf(without(GetParam(), part)).empty()) << part.first;
}

INSTANTIATE_TEST_SUITE_P(Idioms, EmulatedOrder, testing::ValuesIn(idioms()),
                         [](const auto& info) { return info.param.name; });

constexpr Schedule reversed{Schedule::Order::Reverse, 1, 0};
constexpr Schedule mixed{Schedule::Order::Random, 5, 3};

TEST_F(EmulatedSchedules, RightKernelsGiveTheSameResultInAllOrders) {
    for (const Idiom& idiom : idioms()) {
        if (idiom.name == "LookBack" || idiom.name == "OrderingAtomic")
            continue; // They wait for earlier blocks.
        const auto expected = runIn(idiom.text, {});
        ASSERT_TRUE(expected) << expected.error().describe();
        for (const Schedule& schedule : {reversed, mixed}) {
            const auto result = runIn(idiom.text, schedule);
            ASSERT_TRUE(result) << idiom.name << ": " << result.error().describe();
            EXPECT_TRUE(result->profile.hazards.empty())
                << idiom.name << ": " << result->profile.hazards.front().message;
            for (std::size_t i = 0; i < expected->outputs.size(); ++i)
                EXPECT_EQ(expected->outputs[i].bytes, result->outputs[i].bytes)
                    << idiom.name << " " << expected->outputs[i].name;
        }
    }
}

TEST_F(EmulatedSchedules, BlocksThatWaitForOthersTakeTurns) {
    const Schedule inTurns{Schedule::Order::Forward, 5, 3};
    for (const Idiom& idiom : idioms()) {
        const auto result = runIn(idiom.text, inTurns);
        ASSERT_TRUE(result) << idiom.name << ": " << result.error().describe();
        EXPECT_TRUE(result->profile.hazards.empty())
            << idiom.name << ": " << result->profile.hazards.front().message;
    }
}

TEST_F(EmulatedSchedules, AnInterruptedUpdateIsLost) {
    const std::string text = R"(
__global__ void count(int* counter) {
    counter[0] += 1;
}
// kernelskill: launch count<<<8, 64>>>(counter=zero[1])
)";
    const auto inOrder = runIn(text, {});
    ASSERT_TRUE(inOrder) << inOrder.error().describe();
    EXPECT_EQ(valuesOf<int>(*inOrder, "counter").front(), 512);
    const auto interrupted = runIn(text, mixed);
    ASSERT_TRUE(interrupted) << interrupted.error().describe();
    EXPECT_LT(valuesOf<int>(*interrupted, "counter").front(), 512);
}

TEST_F(EmulatedSchedules, TheLastWriterDependsOnTheOrder) {
    const std::string text = R"(
__global__ void last(int* out) {
    out[0] = blockIdx.x * blockDim.x + threadIdx.x;
}
// kernelskill: launch last<<<4, 64>>>(out=zero[1])
)";
    const auto forward = runIn(text, {});
    const auto backward = runIn(text, reversed);
    ASSERT_TRUE(forward && backward);
    EXPECT_EQ(valuesOf<int>(*forward, "out").front(), 255);
    EXPECT_EQ(valuesOf<int>(*backward, "out").front(), 0);
}

TEST_F(EmulatedSchedules, AGridBarrierJoinsBlocksThatTakeTurns) {
    const std::string text = R"(
#include <cooperative_groups.h>
__global__ void twoSteps(int* first, int* second) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    first[i] = i;
    cooperative_groups::this_grid().sync();
    second[i] = first[gridDim.x * blockDim.x - 1 - i];
}
// kernelskill: launch twoSteps<<<12, 32>>>(first=zero[384], second=zero[384])
)";
    for (const Schedule& schedule : {Schedule{}, reversed, mixed}) {
        const auto result = runIn(text, schedule);
        ASSERT_TRUE(result) << result.error().describe();
        EXPECT_TRUE(result->profile.hazards.empty()) << result->profile.hazards.front().message;
        EXPECT_EQ(valuesOf<int>(*result, "second").front(), 383);
    }
}

TEST_F(EmulatedSchedules, AValueFromOutsideTheMaskIsNoLongerTheLanesOwn) {
    const auto result = runIn(R"(
__global__ void half(int* out) {
    int value = 1;
    if (threadIdx.x < 16)
        for (int step = 16; step > 0; step /= 2)
            value += __shfl_down_sync(0x0000ffff, value, step);
    out[threadIdx.x] = value;
}
// kernelskill: launch half<<<1, 32>>>(out=zero[32])
)",
                              {});
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_NE(valuesOf<int>(*result, "out").front(), 32);
}

TEST_F(EmulatedSchedules, NamesTheObjectsInWhichAtomicsMet) {
    const auto result = runIn(R"(
__device__ int arrivals = 0;
__global__ void count(const int* index, int* scattered, int* total) {
    __shared__ int sum;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    atomicAdd(&scattered[index[i]], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
        atomicAdd(&arrivals, 1);
    }
}
// kernelskill: launch count<<<2, 64>>>(index=iota[128], scattered=zero[128], total=zero[1])
)",
                              {});
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(result->profile.contentions,
                testing::UnorderedElementsAre(Contention{"sum", false}, Contention{"total", true},
                                              Contention{"arrivals", true}));
}

/// Fences order the data that blocks pass on through volatile memory.
TEST_F(EmulatedSchedules, SuspectsVolatileDataThatNoFenceOrders) {
    const std::string text = R"(
__global__ void passOn(volatile int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 5;
        __threadfence();
        flag[0] = 1;
    } else {
        while (flag[0] == 0) { }
        __threadfence();
        out[0] = data[0];
    }
}
// kernelskill: launch passOn<<<2, 32>>>(data=zero[1], flag=zero[1], out=zero[1])
)";
    const auto objectsOf = [&](const std::string& kernel) {
        std::set<std::string> objects;
        const auto result = runWithFlags(kernel, {});
        EXPECT_TRUE(result) << result.error().describe();
        if (result)
            for (const Hazard& hazard : result->profile.hazards)
                objects.insert(hazard.details.object);
        return objects;
    };
    EXPECT_EQ(objectsOf(text), (std::set<std::string>{"flag"}));
    std::string unfenced = text;
    unfenced.erase(unfenced.find("        __threadfence();\n        flag"), 25);
    EXPECT_EQ(objectsOf(unfenced), (std::set<std::string>{"data", "flag"}));
}

} // namespace
} // namespace kernelskill::engine

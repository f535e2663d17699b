#include "engine/graph/kernels/device_helpers.h"

#include <array>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

struct Helper {
    std::string_view name;
    std::vector<std::string_view> callees;
    std::string_view text;
};

/// In an order in which each stands behind its callees.
const std::vector<Helper>& table() {
    static const std::vector<Helper> helpers = {
        {"floorDivide", {}, R"(/// The quotient rounded down, for a positive divisor.
template <typename T>
__device__ __forceinline__ T floorDivide(T value, T by)
{
    return value >= 0 ? value / by : -((by - 1 - value) / by);
}
)"},
        {"floorModulo", {"floorDivide"}, R"(template <typename T>
__device__ __forceinline__ T floorModulo(T value, T by)
{
    return value - floorDivide(value, by) * by;
}
)"},
        {"atLeast", {}, R"(/// The larger of a value and a bound; NaN stays NaN.
template <typename T>
__device__ __forceinline__ T atLeast(T value, T bound)
{
    return value < bound ? bound : value;
}
)"},
        {"atMost", {}, R"(/// The smaller of a value and a bound; NaN stays NaN.
template <typename T>
__device__ __forceinline__ T atMost(T value, T bound)
{
    return value > bound ? bound : value;
}
)"},
        {"larger", {}, R"(/// The larger value; NaN if one is.
template <typename T>
__device__ __forceinline__ T larger(T left, T right)
{
    return left > right || left != left ? left : right;
}
)"},
        {"smaller", {}, R"(/// The smaller value; NaN if one is.
template <typename T>
__device__ __forceinline__ T smaller(T left, T right)
{
    return left < right || left != left ? left : right;
}
)"},
        {"Sum", {}, R"(struct Sum {
    template <typename T>
    __device__ __forceinline__ T operator()(T left, T right) const
    {
        return left + right;
    }
};
)"},
        {"Product", {}, R"(struct Product {
    template <typename T>
    __device__ __forceinline__ T operator()(T left, T right) const
    {
        return left * right;
    }
};
)"},
        {"Maximum", {"larger"}, R"(struct Maximum {
    template <typename T>
    __device__ __forceinline__ T operator()(T left, T right) const
    {
        return larger(left, right);
    }
};
)"},
        {"Minimum", {"smaller"}, R"(struct Minimum {
    template <typename T>
    __device__ __forceinline__ T operator()(T left, T right) const
    {
        return smaller(left, right);
    }
};
)"},
        {"reduceWarp", {}, R"(/// Combines the values of a warp's lanes; each lane gets the result.
template <typename T, typename Combine>
__device__ __forceinline__ T reduceWarp(T value, Combine combine)
{
    for (int step = 16; step > 0; step /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}
)"},
        {"reduceBlock",
         {"reduceWarp"},
         R"(/// Combines the values of a block's threads; each thread gets the result.
template <int Threads, typename T, typename Combine>
__device__ __forceinline__ T reduceBlock(T value, T neutral, Combine combine)
{
    __shared__ T parts[Threads / 32];
    value = reduceWarp(value, combine);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < Threads / 32 ? parts[threadIdx.x % 32] : neutral;
    value = reduceWarp(value, combine);
    __syncthreads(); // The parts may be written again.
    return value;
}
)"},
        {"scanBlock",
         {},
         R"(/// Combines the values of all threads before this one; `total` gets that of all threads.
template <int Threads, typename T, typename Combine>
__device__ __forceinline__ T scanBlock(T value, T neutral, Combine combine, T& total)
{
    __shared__ T parts[Threads / 32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        const T before = __shfl_up_sync(0xffffffffu, value, step);
        value = lane >= step ? combine(before, value) : value;
    }
    if (lane == 31)
        parts[warp] = value;
    __syncthreads();
    T before = neutral;
    T all = neutral;
    for (int i = 0; i < Threads / 32; ++i) {
        before = i < warp ? combine(before, parts[i]) : before;
        all = combine(all, parts[i]);
    }
    __syncthreads(); // The parts may be written again.
    total = all;
    const T previous = __shfl_up_sync(0xffffffffu, value, 1);
    return lane > 0 ? combine(before, previous) : before;
}
)"},
        {"Vector", {}, R"(/// Neighbouring elements that one instruction loads or stores.
template <typename T, int N>
struct alignas(sizeof(T) * N) Vector {
    T at[N];
};
)"},
    };
    return helpers;
}

void addWithCallees(std::string_view name, std::set<std::string_view>& wanted) {
    for (const Helper& helper : table())
        if (helper.name == name && wanted.insert(helper.name).second)
            for (const std::string_view callee : helper.callees)
                addWithCallees(callee, wanted);
}

} // namespace

std::string helperTexts(const std::set<std::string>& names) {
    std::set<std::string_view> wanted;
    for (const std::string& name : names)
        addWithCallees(name, wanted);
    std::string text;
    for (const Helper& helper : table())
        if (wanted.contains(helper.name))
            text += std::string(helper.text) + "\n";
    return text;
}

} // namespace kernelskill::engine::graph

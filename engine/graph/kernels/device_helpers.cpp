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

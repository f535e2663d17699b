#include "engine/graph/tensor_extents.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {
namespace {

bool dependsOnData(const Extent& extent) {
    return extent.isDynamic() && extent.value < 0;
}

bool dependsOnData(const TensorType& type) {
    return dependsOnData(type.offset) ||
           std::ranges::any_of(type.sizes, [](const Extent& e) { return dependsOnData(e); }) ||
           std::ranges::any_of(type.strides, [](const Extent& e) { return dependsOnData(e); });
}

/// Bytes from the begin of the storage to the end of the last element; nullopt: above 63 bits.
/// Requires extents that do not depend on data.
std::optional<std::int64_t> reach(const TensorType& type) {
    std::int64_t last = type.offset.value;
    for (std::size_t i = 0; i < type.sizes.size(); ++i) {
        if (type.sizes[i].value == 0)
            return 0;
        std::int64_t step = 0;
        if (__builtin_mul_overflow(type.sizes[i].value - 1, type.strides[i].value, &step) ||
            __builtin_add_overflow(last, step, &last))
            return std::nullopt;
    }
    std::int64_t bytes = 0;
    if (__builtin_add_overflow(last, std::int64_t{1}, &last) ||
        __builtin_mul_overflow(last, static_cast<std::int64_t>(sizeOf(type.element)), &bytes))
        return std::nullopt;
    return bytes;
}

} // namespace

std::optional<std::int64_t> elementCount(const TensorType& type) {
    std::int64_t count = 1;
    bool isEmpty = false;
    for (const Extent& size : type.sizes) {
        if (size.value < 0)
            return std::nullopt;
        isEmpty |= size.value == 0;
        if (size.value != 0 && __builtin_mul_overflow(count, size.value, &count))
            return std::nullopt;
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(sizeOf(type.element)), &bytes))
        return std::nullopt;
    return isEmpty ? 0 : count;
}

std::string extentProblem(const TensorType& type) {
    if (type.strides.size() != type.sizes.size())
        return fmt::format("has {} extents and {} strides", type.sizes.size(), type.strides.size());
    for (const Extent& size : type.sizes)
        if (size.value < 0 && !dependsOnData(size))
            return fmt::format("has the extent {}", size.value);
    for (const Extent& stride : type.strides)
        if (stride.value < 0 && !dependsOnData(stride))
            return fmt::format("has the stride {}", stride.value);
    if (type.offset.value < 0 && !dependsOnData(type.offset))
        return fmt::format("begins at element {} of its storage", type.offset.value);
    if (dependsOnData(type))
        return {};
    if (!elementCount(type) || !reach(type))
        return "has more elements than can be addressed";
    return {};
}

std::string storageProblem(const TensorType& type, std::uint64_t bytes) {
    if (std::string problem = extentProblem(type); !problem.empty())
        return problem;
    if (dependsOnData(type))
        return "has an extent that depends on data";
    const std::int64_t needed = *reach(type);
    if (static_cast<std::uint64_t>(needed) > bytes)
        return fmt::format("needs {} bytes of its storage, which has {}", needed, bytes);
    return {};
}

} // namespace kernelskill::engine::graph

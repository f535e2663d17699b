#include "engine/graph/reference/contiguous_tensor.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace kernelskill::engine::graph {

TensorData owningTensor(TensorType type, std::vector<std::byte> bytes) {
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {std::move(type), std::span(*owner), owner};
}

TensorType contiguousType(ElementType element, std::span<const std::int64_t> sizes) {
    TensorType type;
    type.element = element;
    type.strides.resize(sizes.size());
    std::int64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        type.strides[i].value = stride;
        stride *= std::max<std::int64_t>(sizes[i], 1);
    }
    for (const std::int64_t size : sizes)
        type.sizes.push_back({size, {}});
    return type;
}

TensorType contiguousType(ElementType element, std::vector<Extent> sizes) {
    TensorType type = contiguousType(element, valuesOf(sizes));
    std::string factors; // Of the dynamic extents further inside.
    std::int64_t number = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        if (!factors.empty())
            type.strides[i].expression = std::to_string(number) + factors;
        if (sizes[i].isDynamic())
            factors += "*(" + sizes[i].expression + ")";
        else
            number *= std::max<std::int64_t>(sizes[i].value, 1);
    }
    type.sizes = std::move(sizes);
    return type;
}

std::vector<std::int64_t> valuesOf(std::span<const Extent> extents) {
    std::vector<std::int64_t> values;
    for (const Extent& extent : extents)
        values.push_back(extent.value);
    return values;
}

} // namespace kernelskill::engine::graph

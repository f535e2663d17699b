#include "engine/graph/reference/smaller_program.h"

#include "engine/graph/operators.h"
#include "engine/graph/reference/contiguous_tensor.h"

#include <set>
#include <string_view>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

std::int64_t smallerExtent(std::int64_t extent, std::int64_t limit) {
    while (extent > limit * 2 / 3 && extent % 2 == 0)
        extent /= 2;
    const std::int64_t least = limit / 2 - 1;
    return extent > limit ? least + extent % least : extent;
}

Program withExtents(Program program, const ExtentLimit& limit) {
    const auto changed = [&](std::int64_t extent) {
        return limit ? smallerExtent(extent, *limit) : extent;
    };
    for (const Input& input : program.inputs) {
        const auto value = program.values.find(input.value);
        if (value == program.values.end())
            continue;
        const std::vector<std::int64_t> before = valuesOf(value->second.sizes);
        std::vector<Extent> sizes = value->second.sizes;
        for (Extent& extent : sizes)
            if (!extent.isDynamic())
                extent.value = changed(extent.value);
        value->second = contiguousType(value->second.element, sizes);
        if (!input.target.empty() && valuesOf(sizes) != before)
            program.tensors[input.target] = {value->second, {}, nullptr};
    }
    static const std::set<std::string_view> sizeArguments{"size", "normalized_shape", "num_groups",
                                                          "groups"};
    for (Node& node : program.nodes)
        for (NamedArgument& argument : node.arguments) {
            // The numbers that extents are multiplied by or added to are sizes, too.
            if (!sizeArguments.contains(argument.name) && !node.target.starts_with("_operator."))
                continue;
            if (auto* sizes = std::get_if<std::vector<std::int64_t>>(&argument.value)) {
                for (std::int64_t& size : *sizes)
                    size = changed(size);
            } else if (auto* numbers = std::get_if<std::vector<SymbolicInt>>(&argument.value)) {
                for (SymbolicInt& number : *numbers)
                    if (auto* size = std::get_if<std::int64_t>(&number))
                        *size = changed(*size);
            } else if (auto* size = std::get_if<std::int64_t>(&argument.value)) {
                *size = changed(*size);
            }
        }
    return program;
}

Program withFixedExtents(Program program) {
    for (auto& [name, type] : program.values) {
        for (std::vector<Extent>* extents : {&type.sizes, &type.strides})
            for (Extent& extent : *extents)
                extent.expression.clear();
        type.offset.expression.clear();
    }
    for (auto& [name, extent] : program.symbolicInts)
        extent.expression.clear();
    program.symbols.clear();
    program.relations.clear();
    // Nothing reads what an assertion gives.
    std::erase_if(program.nodes, [](const Node& node) { return node.target == assertedTruth; });
    return program;
}

} // namespace kernelskill::engine::graph

/// PyTorch programs on small tensors: the same graph with smaller extents.
#pragma once

#include "engine/graph/lowering/raised.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/contiguous_tensor.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// An extent of at most 12 that stands for `extent` everywhere, so that what fitted still fits.
inline std::int64_t shrunkExtent(std::int64_t extent) {
    while (extent > 8 && extent % 2 == 0)
        extent /= 2;
    return extent > 12 ? 5 + extent % 5 : extent;
}

/// The graph with shrunk inputs, weights and sizes in arguments; tensors that the archive holds are
/// made up. What its results' shapes are, raising says: see withShapes().
inline Program shrunk(Program graph) {
    for (const Input& input : graph.inputs) {
        const auto value = graph.values.find(input.value);
        if (value == graph.values.end())
            continue;
        std::vector<std::int64_t> sizes;
        for (const Extent& extent : value->second.sizes)
            sizes.push_back(shrunkExtent(extent.value));
        value->second = contiguousType(value->second.element, sizes);
        if (!input.target.empty())
            graph.tensors[input.target] = {value->second, {}, nullptr};
    }
    for (Node& node : graph.nodes)
        for (NamedArgument& argument : node.arguments) {
            const bool isSize = argument.name == "size" || argument.name == "normalized_shape" ||
                                argument.name == "num_groups";
            if (!isSize)
                continue;
            if (auto* sizes = std::get_if<std::vector<std::int64_t>>(&argument.value))
                for (std::int64_t& size : *sizes)
                    size = shrunkExtent(size);
            else if (auto* size = std::get_if<std::int64_t>(&argument.value))
                *size = shrunkExtent(*size);
        }
    return graph;
}

/// The graph with the shapes that raising found for its values; false if one is not known.
inline bool withShapes(Program& graph, const Raised& raised) {
    for (auto& [name, type] : graph.values) {
        const auto shape = raised.shapes.find(name);
        if (shape == raised.shapes.end())
            continue;
        std::vector<std::int64_t> sizes;
        for (const analysis::raise::Index& extent : shape->second) {
            const auto size = extent.constant();
            if (!size || *size < 0)
                return false;
            sizes.push_back(*size);
        }
        type = contiguousType(type.element, sizes);
    }
    return true;
}

/// The archives of a folder, sorted by their names.
inline std::set<std::filesystem::path> archivesIn(const std::filesystem::path& folder) {
    std::set<std::filesystem::path> archives;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".pt2")
            archives.insert(entry.path());
    return archives;
}

} // namespace kernelskill::engine::graph::testing

/// The values of a graph while it runs.
#pragma once

#include "engine/graph/torch/aten.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace kernelskill::engine::graph {

/// The values of a run by their names: tensors, and integers for symbolic ones.
using Values = std::unordered_map<std::string, c10::IValue>;

/// The device and the precision that a program runs in.
struct Place {
    c10::Device device = c10::Device(c10::DeviceType::CPU);
    /// The element type of all floating-point tensors; nullopt: each its own.
    std::optional<at::ScalarType> floating;
};

/// The element type that a tensor of that type has there. Complex numbers get parts of that type.
[[nodiscard]] inline at::ScalarType typeAt(const Place& place, at::ScalarType type) {
    if (!place.floating)
        return type;
    if (c10::isComplexType(type))
        return *place.floating == at::kDouble ? at::kComplexDouble : at::kComplexFloat;
    return c10::isFloatingType(type) ? *place.floating : type;
}

} // namespace kernelskill::engine::graph

/// Whether a tensor's shape can be one, and whether its storage holds it.
#pragma once

#include "engine/graph/program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::engine::graph {

/// The product of the extents, by their values at export; nullopt if it or the bytes of so many
/// elements exceed 63 bits, or if an extent depends on data.
[[nodiscard]] std::optional<std::int64_t> elementCount(const TensorType& type);

/// Returns what is wrong with the extents, strides and offset, as the rest of a sentence whose
/// subject is the tensor; empty if nothing is. Extents of 0 are fine.
[[nodiscard]] std::string extentProblem(const TensorType& type);

/// The same, and whether a storage of `bytes` holds every element.
[[nodiscard]] std::string storageProblem(const TensorType& type, std::uint64_t bytes);

} // namespace kernelskill::engine::graph

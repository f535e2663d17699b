/// The archive's numbers of element types, layouts and memory formats as LibTorch's own.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/torch/aten.h"

#include <string>

namespace kernelskill::engine::graph {

/// "1.13.0"
[[nodiscard]] std::string torchVersion();

/// Unsupported if this LibTorch lacks the type.
[[nodiscard]] Result<at::ScalarType> scalarType(ElementType type);
/// Unsupported for types that archives have no number for, such as quantised ones.
[[nodiscard]] Result<ElementType> elementType(at::ScalarType type);

/// LibTorch's number of the scalar type, layout or memory format.
[[nodiscard]] Result<std::int64_t> torchNumber(const EnumValue& value);

} // namespace kernelskill::engine::graph

/// Types of tensors as the JSON of an archive describes them.
#pragma once

#include "engine/graph/json_text.h"
#include "engine/graph/program.h"

#include <map>
#include <string>

namespace kernelskill::engine::graph {

/// The symbols that expressions of extents named.
using SymbolRanges = std::map<std::string, SymbolRange>;

/// torch's number of an element type. InvalidInput if it is not known.
[[nodiscard]] Result<ElementType> readElementType(const nlohmann::json& value,
                                                  const std::string& where);

/// {"as_int": 3} or {"as_expr": {"expr_str": …, "hint": …}}. Adds symbols to `symbols` that are not
/// in it, as numbers from 0 on.
[[nodiscard]] Result<Extent> readExtent(const nlohmann::json& value, const std::string& where,
                                        SymbolRanges& symbols);

/// A TensorMeta. Its extents can be those of a tensor (tensor_extents.h); Unsupported if it is
/// sparse.
[[nodiscard]] Result<TensorType> readTensorType(const nlohmann::json& value,
                                                const std::string& where, SymbolRanges& symbols);

} // namespace kernelskill::engine::graph

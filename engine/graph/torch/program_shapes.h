/// The extents of a program for values of its symbols.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/symbol_values.h"
#include "engine/graph/torch/values.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

using Symbols = SymbolValues;

/// Others that the program allows, near those at export; nullopt if it has no symbol that could be
/// another.
[[nodiscard]] std::optional<Symbols> otherSymbols(const Program& program, const Symbols& exported);

/// Failed if an extent has no value.
[[nodiscard]] Result<std::vector<std::int64_t>> sizesAt(const TensorType& type,
                                                        const Symbols& symbols);

/// The values of the graph that are integers and follow from the symbols alone, and the user's
/// inputs that are always the same.
[[nodiscard]] Values numbersAt(const Program& program, const Symbols& symbols);

} // namespace kernelskill::engine::graph

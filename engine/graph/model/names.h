/// Names in the text of a generated model.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine::graph {

/// `text` as an identifier of C++ that is no keyword.
[[nodiscard]] std::string identifier(std::string_view text);

/// Gives each buffer a name that no keyword, function of CUDA or other buffer has.
void renameBuffers(analysis::raise::Program& program);

/// Gives each computation a name of its own, by which its kernel is called.
void renameComputations(analysis::raise::Program& program);

/// An extent of an input that a dynamic size is.
struct SymbolPlace {
    std::size_t input = 0;
    std::size_t axis = 0;
};
[[nodiscard]] std::optional<SymbolPlace> placeOfSymbol(const ModelPlan& plan,
                                                       const std::string& symbol);

} // namespace kernelskill::engine::graph

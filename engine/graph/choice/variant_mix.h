/// Variants of places in a program, which are judged together.
#pragma once

#include "engine/graph/model/model_files.h"
#include "engine/graph/program_part.h"

#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

/// A model that does the work of a part.
struct PlacedVariant {
    std::optional<ProgramPart> part; ///< nullopt: the whole program.
    const ModelFiles* files = nullptr;
};

/// The models of a program; LibTorch runs the rest of it.
using VariantMix = std::vector<PlacedVariant>;

} // namespace kernelskill::engine::graph

/// The text of what a model with dynamic extents knows of them: which it takes, and how they follow
/// from the shapes of its inputs.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

// All are empty for a model without symbols.

/// The members Sizes, Shapes, sizesOf() and problemOf() of the class Model.
[[nodiscard]] std::string sizesMembers(const ModelPlan& plan);
/// The definitions of sizesOf() and problemOf().
[[nodiscard]] std::string sizesDefinitions(const ModelPlan& plan);
/// A statement for each symbol that makes its value a constant of its name, from `object`: "sizes".
[[nodiscard]] std::string sizeConstants(const ModelPlan& plan, const std::string& object,
                                        const std::string& indent = "    ");

} // namespace kernelskill::engine::graph

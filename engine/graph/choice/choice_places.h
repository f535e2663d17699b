/// The places of a model where its own kernels or a library can do the work.
#pragma once

#include "engine/graph/model/model_plan.h"
#include "engine/graph/program_part.h"

#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct ChoicePlace {
    std::set<std::string> nodes; ///< The nodes that a library would run.
    /// These nodes, and those around them whose work own kernels do in the same pass.
    ProgramPart part;
    bool isLinearAlgebra = true; ///< Else a reduction, normalisation, pool, scan or loss.
    /// Whether a simplification makes one smaller computation of the nodes, which own kernels alone
    /// can do.
    bool isSimplified = false;
};

/// The places of a model whose plan leaves nothing to libraries that has a rule, in the graph's
/// order: each product, convolution or attention with what follows from its results and is computed
/// for its operands element by element, those that a simplification made one together; then each
/// other node of OperatorKind::Reduction whose kernels do the work of no other such node and of no
/// product. No node follows from two places. A place has work in the plan.
[[nodiscard]] std::vector<ChoicePlace> choicePlaces(const ModelPlan& own);

} // namespace kernelskill::engine::graph

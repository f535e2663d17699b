/// What a generated model consists of: kernels in their order, and where its tensors lie.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/kernels/kernel.h"
#include "engine/graph/kernels/kernel_choice.h"
#include "engine/graph/model/placement.h"
#include "engine/graph/program.h"
#include "engine/graph/simplify/simplification.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

struct ModelOptions {
    /// Whether products, convolutions and recurrent layers are left to a library.
    bool usesLibraries = false;
    KernelOptions kernels;
    std::set<std::string> notSimplified; ///< Names of simplifications that are not used.
};

/// A kernel that is launched, or a node that a library runs.
struct ModelStep {
    std::variant<Kernel, analysis::raise::LibraryCall> work;
    bool dependsOnWeightsAlone = false; ///< It runs once, before the first call.
};

/// A tensor that a model is given or gives.
struct ModelTensor {
    std::string source; ///< The graph's name of it.
    analysis::raise::BufferId buffer = 0;
};

struct ModelPlan {
    std::string name; ///< An identifier.
    /// The graph that the kernels are made from: where libraries are used, with the bias of
    /// convolutions as an addition of its own (separate_bias.h).
    Program graph;
    analysis::raise::Program program;
    std::vector<ModelStep> steps;
    std::vector<ModelTensor> weights; ///< In the order of the graph's signature, as all of these.
    std::vector<ModelTensor> inputs;
    std::vector<ModelTensor> outputs;
    std::vector<std::string> symbols; ///< The dynamic sizes, sorted.
    std::vector<Simplification> simplifications;
    /// Outputs whose elements are all one number, whatever the inputs.
    std::map<analysis::raise::BufferId, double> constantOutputs;
    Placement prepared;  ///< Of what depends on weights alone.
    Placement workspace; ///< Of all other buffers between steps.
};

/// Plans the kernels of a program. Unsupported, with the nodes, for a program that changes tensors
/// which exist before the call, has subgraphs, or has extents that depend on data; Failed where a
/// dynamic size is the extent of no input.
[[nodiscard]] Result<ModelPlan> plannedModel(Program graph, const std::string& name,
                                             const ModelOptions& options);

} // namespace kernelskill::engine::graph

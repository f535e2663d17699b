/// Plans a generated model: its kernels in their order, and the memory of its tensors.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/kernels/kernel.h"
#include "engine/graph/kernels/kernel_choice.h"
#include "engine/graph/model/placement.h"
#include "engine/graph/program.h"
#include "engine/graph/simplify/simplification.h"
#include "engine/graph/symbol_values.h"

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
    /// Nodes that are left to a library although they have a rule, whatever `usesLibraries` says.
    std::set<std::string> libraryNodes = {};
    /// Nodes of libraries that compute in float32 where the caller lets others use TF32.
    std::set<std::string> float32Nodes = {};
    /// Convolutions of libraries that have their tensors in channels-last order; others are not
    /// looked at.
    std::set<std::string> channelsLastNodes = {};
    KernelOptions kernels = {};
    std::set<std::string> notSimplified = {}; ///< Names of simplifications that are not used.
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

/// A condition that the sizes of a call meet.
struct PlannedRelation {
    ExtentRelation stated;
    analysis::raise::Index left;
    analysis::raise::Index right;
};

struct ModelPlan {
    std::string name; ///< An identifier.
    /// The graph that the kernels are made from: where libraries are used, with the bias of
    /// convolutions as an addition of its own (separate_bias.h).
    Program graph;
    analysis::raise::Program program;
    std::vector<ModelStep> steps;
    std::vector<ModelTensor> weights; ///< In the signature's order, as inputs and outputs are.
    std::vector<ModelTensor> inputs;
    std::vector<ModelTensor> outputs;
    std::vector<std::string> symbols;        ///< The dynamic sizes, sorted.
    std::vector<SymbolSource> symbolSources; ///< One for each of them, in their order.
    std::vector<PlannedRelation> relations;
    /// The integers of the graph that are computed of sizes.
    std::map<std::string, analysis::raise::Index> integers;
    std::vector<Simplification> simplifications;
    /// The nodes left to a library that have to be computed without TF32.
    std::set<std::string> float32Nodes;
    /// Outputs whose elements are all one number, whatever the inputs.
    std::map<analysis::raise::BufferId, double> constantOutputs;
    Placement prepared;  ///< Memory of the buffers that depend on weights alone.
    Placement workspace; ///< Memory of all other local buffers.
};

/// Plans the kernels of a program. Unsupported, with the nodes, for a program that changes tensors
/// which exist before the call, has subgraphs, or has extents that depend on data, and for a
/// dynamic size that is the extent of no input.
[[nodiscard]] Result<ModelPlan> plannedModel(Program graph, const std::string& name,
                                             const ModelOptions& options);

/// The nodes that a library runs, in their order.
[[nodiscard]] std::vector<const analysis::raise::LibraryCall*> libraryCalls(const ModelPlan& plan);
/// The names of those nodes that have their tensors in channels-last order.
[[nodiscard]] std::set<std::string> channelsLastCalls(const ModelPlan& plan);
/// The places in `outputs` of those that are a library's result as it stands, which no step reads:
/// a caller may take the library's memory for them.
[[nodiscard]] std::set<std::size_t> outputsOfLibraries(const ModelPlan& plan);
/// The outputs, each buffer once.
[[nodiscard]] std::vector<ModelTensor> distinctOutputs(const ModelPlan& plan);

} // namespace kernelskill::engine::graph

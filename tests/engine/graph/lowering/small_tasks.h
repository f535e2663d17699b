/// PyTorch programs on small tensors, run by the interpreter.
#pragma once

#include "engine/graph/check/model_check.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/reference/smaller_program.h"
#include "tests/analysis/raise/interpreter.h"
#include "tests/engine/graph/lowering/raised_values.h"

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// A raised program and what its inputs and weights hold.
struct SmallTask {
    Raised raised;
    analysis::raise::Memory memory;
};

/// The graph as it is, with inputs made from `seed`.
inline std::expected<SmallTask, std::string> seededTask(const Program& graph, std::uint64_t seed) {
    auto program = raised(graph);
    if (!program)
        return std::unexpected(program.error().describe());
    analysis::raise::Memory memory(program->program.buffers.size());
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        if (!program->inputs[i])
            continue;
        const auto held = graph.tensors.find(graph.inputs[i].target);
        const bool isHeld = held != graph.tensors.end() && held->second.owner != nullptr;
        const auto tensor =
            isHeld ? Result<TensorData>(held->second) : seededTensor(graph, graph.inputs[i], seed);
        if (!tensor)
            return std::unexpected(tensor.error().describe());
        memory[*program->inputs[i]] = numbersIn(*tensor);
    }
    return SmallTask{*std::move(program), std::move(memory)};
}

/// The graph on small tensors.
inline std::expected<SmallTask, std::string> smallTask(const Program& graph, std::uint64_t seed) {
    const auto small = withRaisedTypes(withExtents(graph, 12));
    if (!small)
        return std::unexpected(small.error().describe());
    return seededTask(*small, seed);
}

} // namespace kernelskill::engine::graph::testing

/// The memory that a raised program runs in, from tensors.
#pragma once

#include "engine/graph/check/tensor_numbers.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/program.h"
#include "tests/analysis/raise/interpreter.h"

#include <cstdint>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// Fills the user's inputs from `inputs`, in their order, and the weights from the archive.
inline analysis::raise::Memory memoryOf(const Program& graph, const Raised& raised,
                                        const std::vector<TensorData>& inputs) {
    analysis::raise::Memory memory(raised.program.buffers.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        if (!raised.inputs[i])
            continue;
        const Input& input = graph.inputs[i];
        memory[*raised.inputs[i]] = input.kind == Input::Kind::User
                                        ? numbersIn(inputs.at(next++))
                                        : numbersIn(graph.tensors.at(input.target));
    }
    return memory;
}

} // namespace kernelskill::engine::graph::testing

/// Binds the values that a program begins with: the user's inputs, weights and constants.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/torch/values.h"

namespace kernelskill::engine::graph {

/// The inputs of the program at that place, from the subject's inputs, the program's tensors, or
/// the subject's seed. InvalidInput, by name, for a number, an element type or a shape that does
/// not fit the program. A dynamic extent can be what its symbol allows, the same wherever it
/// stands.
[[nodiscard]] Result<Values> bindInputs(const Program& program, const TorchSubject& subject,
                                        const Place& place);

/// Adds the value of a fixed input; nothing if it is None.
void bindFixed(const Input& input, Values& values);

/// How a tensor differs from the shape that the program gives it, as the rest of a sentence; empty
/// if it does not. Dynamic extents are not looked at.
[[nodiscard]] std::string shapeProblem(const TensorType& type, c10::IntArrayRef sizes);

} // namespace kernelskill::engine::graph

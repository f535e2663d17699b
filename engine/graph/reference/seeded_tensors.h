/// Made-up tensors: inputs of users, and weights that an archive names but does not hold. Whoever
/// runs the program makes the same ones from the same seed.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <cstdint>

namespace kernelskill::engine::graph {

/// The kind of elements that an input has, by what reads it first.
struct ElementRange {
    /// Floating-point elements are scale * value + shift, of values in [-1, 1).
    float scale = 1;
    float shift = 0;
    /// Integers are at least 0 and below it.
    std::int64_t integerBound = 2;

    /// Whether the reader takes elements of that range only, so that they cannot be drawn from any
    /// other.
    [[nodiscard]] bool isBound() const { return shift != 0; }
};

[[nodiscard]] ElementRange elementRange(const Program& program, const Input& input);

/// The tensor of an input of the program, in row-major order. Its elements depend on the seed, the
/// input's name and what reads it first:
/// - floating-point ones are uniform in [-1, 1), as Fill::Random of the runner and the emulator;
/// - in [0, 1) where a logarithm or a square root is taken of them, or where they are a
///   distribution;
/// - in [0.5, 1.5) for the scales and the variances of a normalisation;
/// - divided by the square root of the inputs that an output has, for parameters of two and more
///   dimensions, so that deep programs keep their magnitude;
/// - integers are valid as classes and indices of the operator that reads them, else 0 or 1.
/// InvalidInput if the input is no tensor, or too large to be addressed.
[[nodiscard]] Result<TensorData> seededTensor(const Program& program, const Input& input,
                                              std::uint64_t seed);

} // namespace kernelskill::engine::graph

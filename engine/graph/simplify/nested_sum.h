/// Sums of sums of products, such as a mean over the results of a convolution.
#pragma once

#include "analysis/raise/program.h"
#include "analysis/raise/uses.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

/// A sum over products that another sum adds up:
/// sum over r of (scale * (sum over k of left * right) + offset), all over the outer sum's axes.
struct NestedSum {
    analysis::raise::BufferId between =
        0; ///< The buffer that the inner sum writes for the outer one alone.
    analysis::raise::Computation outer;
    analysis::raise::Computation inner;
    std::vector<analysis::raise::Scalar> factors;
    analysis::raise::Scalar scale;
    analysis::raise::Scalar offset;
    std::vector<std::vector<analysis::raise::Axis>>
        own; ///< The axes r that stand in each factor alone.
};

/// Whether the computation is one sum of floating-point numbers.
[[nodiscard]] bool isSum(const analysis::raise::Computation& computation);

/// Whether the buffer holds sums of products, for one computation alone.
[[nodiscard]] bool isBetweenSums(const analysis::raise::Program& program,
                                 analysis::raise::BufferId buffer,
                                 const analysis::raise::Uses& uses);

/// The nested sum of step `step` over what `buffer` holds; nullopt if it is none, or if each axis
/// of the outer sum does not go with one factor. The program gets new axes.
[[nodiscard]] std::optional<NestedSum> nestedSum(analysis::raise::Program& program,
                                                 std::size_t step, analysis::raise::BufferId buffer,
                                                 const analysis::raise::Uses& uses);

} // namespace kernelskill::engine::graph

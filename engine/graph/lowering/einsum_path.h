/// The order in which the operands of an einsum are multiplied.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct EinsumOperand {
    std::string letters; ///< One for each axis.
    /// Whether it depends on weights alone: what is made of such operands is computed once.
    bool isKnown = false;
};

/// Multiplies two operands, which are replaced by the product, behind all others.
struct EinsumStep {
    std::size_t left = 0; ///< The places of the operands; left < right.
    std::size_t right = 0;
    std::string letters; ///< The product's. All others are summed over.
};

/// Finds the steps after which the operands are few enough to be multiplied at once. Empty if that
/// is best for all of them: steps have to halve the terms of a call, since what they make goes
/// through memory.
[[nodiscard]] std::vector<EinsumStep> einsumPath(const std::vector<EinsumOperand>& operands,
                                                 const std::string& result,
                                                 const std::map<char, double>& extents);

} // namespace kernelskill::engine::graph

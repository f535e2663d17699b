/// The order in which the operands of an einsum are multiplied.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct EinsumOperand {
    std::string letters; ///< One for each axis.
    /// Whether it depends on weights alone. Products of such operands are computed once.
    bool isKnown = false;
};

/// Multiplies two operands. The product takes their place, behind all other operands.
struct EinsumStep {
    std::size_t left = 0; ///< The places of the operands; left < right.
    std::size_t right = 0;
    std::string letters; ///< The axes of the product. All other letters are summed over.
};

/// Finds the steps to take before the remaining operands are multiplied at once. Empty if it is
/// best to multiply all at once: steps have to halve the terms of a call, since their products go
/// through memory.
[[nodiscard]] std::vector<EinsumStep> einsumPath(const std::vector<EinsumOperand>& operands,
                                                 const std::string& result,
                                                 const std::map<char, double>& extents);

} // namespace kernelskill::engine::graph

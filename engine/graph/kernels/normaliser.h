/// Recognises sums of exponentials relative to a row's maximum, as in a softmax. One pass over the
/// row can compute the maximum and these sums: it subtracts the maximum of the elements so far, and
/// scales the sums when that maximum grows.
#pragma once

#include "analysis/raise/scalar.h"
#include "engine/graph/kernels/row_program.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

struct Normaliser {
    std::size_t reduction = 0; ///< The maximum's number among its pass's reductions.
    /// The buffer that holds each row's maximum.
    analysis::raise::BufferId maximum = 0;
    /// The terms of each sum, with the maximum's element in the place of `base`.
    std::vector<analysis::raise::Scalar> terms;
    /// The value that the program subtracts before each exponential: a function of the maximum.
    analysis::raise::Scalar base;
};

/// Replaces loads of results of earlier passes by the expressions that compute them.
using Inlining = std::function<analysis::raise::Scalar(const analysis::raise::Scalar&)>;

/// The maximum of floats that `pass` computes, if every sum of `next` runs over the same elements
/// and each of its terms is exp(element - base) times a factor. nullopt otherwise, and if rows may
/// be empty.
[[nodiscard]] std::optional<Normaliser> normaliserOf(const RowPass& pass, const RowPass& next,
                                                     const Inlining& inlined);

} // namespace kernelskill::engine::graph

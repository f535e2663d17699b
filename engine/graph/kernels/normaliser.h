/// Sums of exponentials relative to a row's maximum, as a softmax has them. One pass over the row
/// forms them together with the maximum: its sums are relative to the maximum so far.
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
    /// What each sum adds up, relative to the buffer's element in place of `base`.
    std::vector<analysis::raise::Scalar> terms;
    /// What the program's sums are relative to: a function of the maximum.
    analysis::raise::Scalar base;
};

/// Replaces what a value reads of earlier passes by what they compute, as the kernel does.
using Inlining = std::function<analysis::raise::Scalar(const analysis::raise::Scalar&)>;

/// The maximum that `pass` forms, of floats, if all that `next` adds up over the same elements is
/// in proportion to exp(element - base). nullopt otherwise, and for rows that may be empty.
[[nodiscard]] std::optional<Normaliser> normaliserOf(const RowPass& pass, const RowPass& next,
                                                     const Inlining& inlined);

} // namespace kernelskill::engine::graph

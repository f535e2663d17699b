/// Sums of products of two factors, as products of matrices: which axes are rows, columns and
/// depth.
#pragma once

#include "analysis/raise/program.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// A computation that is `sum over the depth of left * right`. Rows are the axes of the result that
/// the left factor alone reads, columns those of the right one; both factors read batches. A
/// convolution has pixels as rows, channels of its result as columns, and channels of its input
/// and taps as its depth.
struct Contraction {
    analysis::raise::Computation computation; ///< Its axes are those of the lists below.
    std::vector<analysis::raise::Axis> batches;
    std::vector<analysis::raise::Axis> rows;    ///< The last one innermost.
    std::vector<analysis::raise::Axis> columns; ///< The last one innermost.
    std::vector<analysis::raise::Axis> depth;   ///< The same axes as `computation.reduced`.
    std::uint32_t axes = 0; ///< Axes that have been numbered, those of the program included.
    analysis::raise::Scalar left;
    analysis::raise::Scalar right;
};

/// Takes a computation apart. Neighbouring axes that memory does not tell apart become one, and an
/// axis of groups is split from that of the channels in a group. Fails, with the reason, unless
/// the computation has one reduction, a sum of floats of a product whose factors have an axis of
/// the result each that the other one does not read, and there are at most 2^30 rows, columns and
/// elements of the depth.
[[nodiscard]] std::expected<Contraction, std::string>
contractionOf(const analysis::raise::Program& program,
              const analysis::raise::Computation& computation);

/// The number of elements of the axes together.
[[nodiscard]] analysis::raise::Index extentOf(const std::vector<analysis::raise::Axis>& axes);

/// The stride of an index along an axis; nullopt if it is no constant.
[[nodiscard]] std::optional<std::int64_t> strideOf(const analysis::raise::Index& index,
                                                   const analysis::raise::Axis& axis);

} // namespace kernelskill::engine::graph

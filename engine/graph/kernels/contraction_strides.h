/// Transposed convolutions with strides, without the products that are zero.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::engine::graph {

/// Rewrites contractions whose left or right factor is zero unless a stride divides a position of
/// the result less a tap: `x[(i - k) / s]` where s divides i - k. The position becomes s * q + r. A
/// tap belongs to one r and one distance d from q, so that the sum runs over distances, of which
/// there are about s times fewer than taps, and r is one more axis of the other factor, which is
/// zero where no tap belongs to r and d. Where s does not divide the extent, what is left over at
/// the ends becomes computations of its own, which store to the same buffer.
[[nodiscard]] analysis::raise::Program withoutStrideZeros(analysis::raise::Program program);

} // namespace kernelskill::engine::graph

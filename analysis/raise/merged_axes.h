/// Fewer axes for the same loops: neighbouring axes that every buffer lays out one behind the other
/// become one.
#pragma once

#include "analysis/raise/program.h"

#include <cstdint>

namespace kernelskill::analysis::raise {

/// The same computation, in which neighbouring axes (of `axes`, and of `reduced`) are one wherever
/// no access and no condition then needs a quotient or a remainder that it did not need before.
/// Axes of extent 1 vanish. Of a scan, the axis along which it runs stays. `axes` numbers new axes.
[[nodiscard]] Computation withMergedAxes(const Program& program, Computation computation,
                                         std::uint32_t& axes);

/// The computation with other indices for axes, by their ids. The axes themselves stay listed.
[[nodiscard]] Computation substituted(const Computation& computation,
                                      const std::map<std::uint32_t, Index>& axes);

/// Calls `visit` for each node of all reductions and stores, equal ones several times.
void forEachNode(const Computation& computation,
                 const std::function<void(const ScalarNode&)>& visit);

} // namespace kernelskill::analysis::raise

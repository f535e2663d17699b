/// Numbers as text of CUDA C++, and the types that values are computed in.
#pragma once

#include "analysis/raise/program.h"

#include <string>

namespace kernelskill::engine::graph {

using analysis::ScalarKind;

/// "1.5f", "-1", "true", an infinity or a NaN as CUDA spells them.
[[nodiscard]] std::string numberText(ScalarKind type, const analysis::raise::ScalarNode& number);
/// The value that a reduction begins with: "0.0f", "-INFINITY".
[[nodiscard]] std::string neutralText(analysis::raise::Reducer reducer, ScalarKind type);
/// The type that values of this one are computed in: "float" for a half.
[[nodiscard]] ScalarKind computedType(ScalarKind type);

} // namespace kernelskill::engine::graph

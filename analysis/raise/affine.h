/// Scalars as scale * variable + offset.
#pragma once

#include "analysis/raise/scalar.h"

#include <optional>

namespace kernelskill::analysis::raise {

/// A null scale is 1, a null offset is 0.
struct Affine {
    Scalar scale;
    Scalar offset;
};

/// `value` as an affine function of the node `variable`, which stands nowhere in scale and offset;
/// nullopt if it is none, or if numbers of other types stand between. Equal up to rounding.
[[nodiscard]] std::optional<Affine> affineIn(const Scalar& value, const ScalarNode* variable);

/// A product, or sum, of factors that are 1, or 0, where they are null; null if both are.
[[nodiscard]] Scalar timesOrOne(const Scalar& left, const Scalar& right);
[[nodiscard]] Scalar plusOrZero(const Scalar& left, const Scalar& right);
/// scale * variable + offset.
[[nodiscard]] Scalar applied(const Affine& affine, const Scalar& variable);

} // namespace kernelskill::analysis::raise

/// The values that an integral expression of a kernel can have, as far as types, operators, loops
/// and guards in the text bound them.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// Both ends included.
struct ValueRange {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool operator==(const ValueRange&) const = default;
};

/// The values that `expr` can have where it stands. nullopt if it is not integral; the range of its
/// type if nothing more is known.
[[nodiscard]] std::optional<ValueRange> valueRangeOf(const KernelModel& kernel, const CodeMap& code,
                                                     ExprId expr);

/// The limits of `use`, a variable that never changes, where it stands: those of
/// `if (variable < limit)` around it and of `if (variable >= limit) return;` before it, each as
/// written.
[[nodiscard]] std::vector<ExprId> guardLimits(const CodeMap& code, ExprId use);

} // namespace kernelskill::analysis

/// CUDA's vector types, and the accesses that may become one.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// CUDA's vector type of `lanes` elements; empty when it has none.
[[nodiscard]] std::string vectorType(analysis::ScalarKind scalar, int lanes);

/// Refuses with `already-vectorized` a kernel that casts pointers to those of vectors.
[[nodiscard]] Gated<void> requireScalars(const SkillContext& context);

/// True if `expr` runs whenever the statements `work` do: under no condition, and not on one side
/// of ?:, && or ||.
[[nodiscard]] bool isUnconditional(const analysis::CodeMap& code,
                                   const std::vector<analysis::StmtId>& work,
                                   analysis::ExprId expr);

/// The `p[i]` that an access is about, also when it is given by its address or is a part of it.
[[nodiscard]] analysis::ExprId elementOf(const analysis::CodeMap& code,
                                         analysis::ExprId expression);

/// The `__ldg(&p[i])` around p[i]; noId when there is none.
[[nodiscard]] analysis::ExprId readOnlyLoadAround(const analysis::CodeMap& code,
                                                  analysis::ExprId expression);

/// "__ldcs" of `__ldcs(&p[i])` around p[i], and so on for every load and store that says how it is
/// cached, but for __ldg; empty when there is none.
[[nodiscard]] std::string_view cacheHintAround(const analysis::CodeMap& code,
                                               analysis::ExprId expression);

} // namespace kernelskill::skills

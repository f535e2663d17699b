/// Values that all rounds of a loop compute alike, and the edit that computes them once before it.
#pragma once

#include "skills/invariant-hoisting/costly_functions.h"
#include "skills/schedule/draft.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// The largest expression around a costly function that all rounds of a loop compute alike.
struct InvariantValue {
    /// Every place where the loop has the same expression, in the order of the source.
    std::vector<analysis::ExprId> uses;
    analysis::ExprId call = analysis::noId;
    CostlyFunction function;
    analysis::StmtId loop = analysis::noId; ///< The outermost loop that does not change it.
    bool inEveryRound = false; ///< Every round evaluates it; else a condition or jump decides.
    /// A local of the loop that is this value and never changes, and the only variable of its
    /// declaration: it can move as a whole. noId: none.
    analysis::VariableId declared = analysis::noId;
};

/// Finds the values that nvcc leaves in their loop, in the order of the source. Refuses with
/// `compiler-hoists`, `reads-memory`, `from-macro`, `few-rounds`, `several-statements-a-line` or
/// `no-place` for what comes closest, or with `no-invariant-function`.
[[nodiscard]] Gated<std::vector<InvariantValue>> invariantValues(const SkillContext& context);

/// Returns a name for a local with the value: `noun` for a call alone, else what the sum, product
/// or quotient around it uses it for.
[[nodiscard]] std::string nameOfUse(const SkillContext& context, analysis::ExprId value,
                                    std::string_view noun);

/// Returns a name for each value, all different: that of its local if the local moves.
[[nodiscard]] std::vector<std::string> valueNames(const SkillContext& context,
                                                  const std::vector<InvariantValue>& values);

/// Computes the values, all of one loop, before it.
void hoist(Draft& draft, const SkillContext& context, const std::vector<InvariantValue>& values,
           const std::vector<std::string>& names);

} // namespace kernelskill::skills

/// The primitive `hoist`: a value that all rounds of a loop compute alike is computed once before.
#pragma once

#include "skills/schedule/costly_functions.h"
#include "skills/schedule/draft.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// An expression around a costly function, as large as it may be.
struct InvariantValue {
    /// In the order of the source: the same expression wherever the loop has it.
    std::vector<analysis::ExprId> uses;
    analysis::ExprId call = analysis::noId;
    CostlyFunction function;
    analysis::StmtId loop = analysis::noId; ///< The outermost one that leaves it.
    bool inEveryRound = false;              ///< False: a condition or a jump decides.
    /// A local of the loop that is this value and never changes, and the only variable of its
    /// declaration: it can move as a whole. noId: none.
    analysis::VariableId declared = analysis::noId;
};

/// Those that a compiler leaves in their loop, in the order of the source. Refuses with
/// `compiler-hoists`, `reads-memory`, `from-macro`, `few-rounds`, `several-statements-a-line` or
/// `no-place` for what comes closest, or with `no-invariant-function`.
[[nodiscard]] Gated<std::vector<InvariantValue>> invariantValues(const SkillContext& context);

/// `wanted`, or that with a number, where the function or the list has it already.
[[nodiscard]] std::string unusedName(const analysis::FunctionBody& body, const std::string& wanted,
                                     const std::vector<std::string>& taken);

/// How a local with the value is called: after the function, or after what the sum or product
/// around it uses it for.
[[nodiscard]] std::string nameOfUse(const SkillContext& context, analysis::ExprId value,
                                    std::string_view noun);

/// Names of locals for them, all different; that of the local that moves.
[[nodiscard]] std::vector<std::string> valueNames(const SkillContext& context,
                                                  const std::vector<InvariantValue>& values);

/// Computes the values, all of one loop, before it.
void hoist(Draft& draft, const SkillContext& context, const std::vector<InvariantValue>& values,
           const std::vector<std::string>& names);

} // namespace kernelskill::skills

/// Loops that count up to a fixed limit, and what a loop leaves as it is.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/rewriting/gates.h"
#include "skills/skill.h"

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace kernelskill::skills {

/// `for (int i = start; i < limit; i += step)`
struct CountedLoop {
    std::uint32_t loop = analysis::noId; ///< Index into KernelModel::loops.
    analysis::ExprId start = analysis::noId;
    analysis::ExprId limit = analysis::noId;
    analysis::ExprId step = analysis::noId; ///< noId: one.
};

/// Refuses with `not-counted-up`, saying what is different: a loop whose limit, step or index the
/// body may change, or whose head comes out of a macro.
[[nodiscard]] std::expected<CountedLoop, Refusal>
readCountedLoop(const SkillContext& context, const CodeMap& code, std::uint32_t loop);

/// Made of constants, indices and variables that the loop's body does not change.
[[nodiscard]] bool isFixed(const CodeMap& code, const analysis::Loop& loop, analysis::ExprId expr);
/// As isFixed(), for what the loop's own declarations do not decide either.
[[nodiscard]] bool isFixedOutside(const CodeMap& code, const analysis::Loop& loop,
                                  analysis::ExprId expr);

/// True if evaluating `expr` once more changes nothing: it assigns nothing and calls nothing.
[[nodiscard]] bool hasNoEffect(const CodeMap& code, analysis::ExprId expr);

/// Refuses with `start-has-effect` a loop whose first index a rewrite may not evaluate twice.
[[nodiscard]] std::expected<void, Refusal> requireStartWithoutEffect(const SkillContext& context,
                                                                     const CodeMap& code,
                                                                     const CountedLoop& counted);

/// Refuses a loop that shares lines with its statements: `several-statements-a-line`.
[[nodiscard]] std::expected<void, Refusal>
requireOwnLines(const SkillContext& context, const CodeMap& code, const analysis::Loop& loop);

/// Arithmetic, atomics that the model lists, loads past the cache, and device functions that
/// change nothing.
[[nodiscard]] bool isKnownCall(const SkillContext& context, const analysis::Expr& call);

/// What `study` makes of the kernel's loops, each given by its index: of the one at the cursor,
/// else of the first that fits. Refuses as the first loop was refused, or with `no-loop`.
template <typename Study>
[[nodiscard]] auto chooseLoop(const SkillContext& context, const CodeMap& code, Study&& study)
    -> decltype(study(std::uint32_t{})) {
    decltype(study(std::uint32_t{})) chosen =
        refuse("no-loop", context.kernel.name + " has no loop");
    for (std::uint32_t i = 0; i < context.kernel.loops.size(); ++i) {
        const analysis::Span span = code.body().stmt(context.kernel.loops[i].statement).span;
        const bool isAtCursor =
            touches(context.range, span) && !context.range.contains(context.kernel.bodySpan);
        auto found = study(i);
        if (i == 0 || (found && (!chosen || isAtCursor)))
            chosen = std::move(found);
    }
    return chosen;
}

/// How a local is declared that holds a value of this type: without const and volatile.
[[nodiscard]] std::string valueSpelling(const analysis::Type& type);

} // namespace kernelskill::skills

/// Loops that count up to a fixed limit, and what a loop leaves as it is.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/loop_effects.h"
#include "skills/base/gates.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>
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

/// The same in any style: `for (i = start; …)` with an index that was declared before, `for (; i <
/// limit; …)`, and `while (i < limit) { …; ++i; }`.
struct AdvancingLoop {
    CountedLoop counted; ///< `start` is noId where the index has its value from before.
    analysis::VariableId index = analysis::noId;
    analysis::StmtId advance = analysis::noId; ///< The last statement of a while loop's body.
    bool declaresIndex = false;
    bool isAskedLater = false; ///< Code behind the loop may ask for an index it does not declare.
};

/// Whether the use is the target of `x = value`, and the value does not name x.
[[nodiscard]] bool setsAnew(const analysis::CodeMap& code, analysis::ExprId use);

/// Whether code outside of the loop may read what the loop leaves in the variable. `isSetFirst`
/// says that each run of the loop sets it before reading it.
[[nodiscard]] bool isAskedForLater(const analysis::CodeMap& code, analysis::StmtId loop,
                                   analysis::VariableId variable, bool isSetFirst);

/// A loop's place in the text. An edit that puts statements beside the loop needs a block.
enum class LoopPlace : std::uint8_t { InBlock, Anywhere };

/// The loops that an edit can do with.
struct CountingForms {
    LoopPlace place = LoopPlace::InBlock;
    analysis::FixedMemory memory = analysis::FixedMemory::None; ///< What the limit may read.
};

/// Refuses with `not-counted-up` like readCountedLoop(). `bound` is the part of the condition that
/// compares the index, if it is not the whole.
[[nodiscard]] Gated<AdvancingLoop>
readCountingLoop(const SkillContext& context, const analysis::CodeMap& code, std::uint32_t loop,
                 analysis::ExprId bound = analysis::noId, const CountingForms& forms = {});

/// As readCountingLoop(), and refuses with `index-used-later` if code behind the loop may ask for
/// the index of a loop that does not declare it.
[[nodiscard]] Gated<AdvancingLoop> readAdvancingLoop(const SkillContext& context,
                                                     const analysis::CodeMap& code,
                                                     std::uint32_t loop,
                                                     const CountingForms& forms = {});

/// Refuses with `not-counted-up`, saying what is different: a loop whose limit, step or index the
/// body may change, or whose head comes out of a macro.
[[nodiscard]] Gated<CountedLoop> readCountedLoop(const SkillContext& context,
                                                 const analysis::CodeMap& code, std::uint32_t loop);

/// Refuses with `start-has-effect` a loop whose first index a rewrite may not evaluate twice.
[[nodiscard]] Gated<void> requireStartWithoutEffect(const SkillContext& context,
                                                    const analysis::CodeMap& code,
                                                    const CountedLoop& counted);

/// Refuses a loop that shares lines with its statements: `several-statements-a-line`.
[[nodiscard]] Gated<void> requireOwnLines(const SkillContext& context,
                                          const analysis::CodeMap& code,
                                          const analysis::Loop& loop);

/// The likeness of a refused loop to those that a skill takes.
enum class Likeness : std::uint8_t {
    None,
    Near, ///< It is more like them than others are.
    Kind, ///< It is such a loop, but a gate does not hold.
};

/// The result of `study` on the kernel's loops, each given by its index: that of the one at the
/// cursor, else of the first that fits. Where none fits, or the one at the cursor is of the kind,
/// the refusal of the loop that is most like one, by `likenessOf(index, refusal)`.
template <typename Study, typename LikenessOf>
[[nodiscard]] auto chooseLoop(const SkillContext& context, const analysis::CodeMap& code,
                              Study&& study, LikenessOf&& likenessOf)
    -> decltype(study(std::uint32_t{})) {
    decltype(study(std::uint32_t{})) chosen =
        refuse("no-loop", context.kernel.name + " has no loop");
    std::optional<Likeness> refused;
    for (std::uint32_t i = 0; i < context.kernel.loops.size(); ++i) {
        const analysis::Span span = code.body().stmt(context.kernel.loops[i].statement).span;
        const bool isAtCursor = context.isCursorAt(span);
        auto found = study(i);
        if (found) {
            if (!chosen || isAtCursor)
                chosen = std::move(found);
            continue;
        }
        const Likeness likeness = likenessOf(i, found.error());
        if (isAtCursor && likeness == Likeness::Kind)
            return found;
        if (!chosen && (!refused || likeness > *refused)) {
            refused = likeness;
            chosen = std::move(found);
        }
    }
    return chosen;
}

/// As above; where none fits, the refusal of the first loop.
template <typename Study>
[[nodiscard]] auto chooseLoop(const SkillContext& context, const analysis::CodeMap& code,
                              Study&& study) -> decltype(study(std::uint32_t{})) {
    return chooseLoop(context, code, std::forward<Study>(study),
                      [](std::uint32_t, const Refusal&) { return Likeness::None; });
}

} // namespace kernelskill::skills

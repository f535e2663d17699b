/// Atomics by which the threads of a kernel fold values into the same places: what they update, and
/// what has to hold for the updates to be gathered on their way.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/gates.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

enum class UpdateOperation : std::uint8_t { Sum, Minimum, Maximum, BitAnd, BitOr, BitXor };

/// `atomicAdd(address, value);`, a statement of its own.
struct UpdateSite {
    analysis::ExprId call = analysis::noId;
    analysis::ExprId address = analysis::noId;
    analysis::ExprId value = analysis::noId;
    analysis::StmtId outermost =
        analysis::noId; ///< The statement of the kernel's own block that holds it.
    UpdateOperation operation = UpdateOperation::Sum;
    std::string function; ///< "atomicAdd"
};

/// All updates of one variable, or of what one pointer points to.
struct ContendedUpdates {
    analysis::VariableId base = analysis::noId;
    analysis::MemorySpace space = analysis::MemorySpace::Global; ///< Or shared.
    std::string element;                                         ///< "unsigned int"
    analysis::ScalarKind scalar = analysis::ScalarKind::Unknown;
    std::vector<UpdateSite> sites; ///< In the order of the source; not empty.
    bool isRepeated = false;       ///< A thread may update more than once.
};

/// The type of what an address leads to: "unsigned int" of `const unsigned int *__restrict`.
[[nodiscard]] std::string pointeeSpelling(const analysis::Type& type);

/// The variables that the kernel's atomics go through, in the order of the source; noId among them
/// where one is not known.
[[nodiscard]] std::vector<analysis::VariableId> updatedVariables(const SkillContext& context);
/// Whether the cursor is at an atomic on the variable.
[[nodiscard]] bool isCursorAtUpdate(const SkillContext& context, analysis::VariableId base);

/// The atomics on `base`. Refuses with `not-global`, `no-reduction`, `result-used`, `from-macro`,
/// `one-thread-updates`, `element-type`.
[[nodiscard]] Gated<ContendedUpdates> updatesOf(const SkillContext& context,
                                                analysis::VariableId base);

/// Refuses with `one-thread-updates` an atomic under a condition that few threads of a block meet.
[[nodiscard]] Gated<void> requireManyThreads(const SkillContext& context, analysis::ExprId call);

/// Refuses unless nothing in the kernel sees the updates before its end: `used-beside`,
/// `orders-memory`.
[[nodiscard]] Gated<void> requireUnseen(const SkillContext& context,
                                        const ContendedUpdates& updates);
/// The part of it about fences and grid barriers.
[[nodiscard]] Gated<void> requireNoOrder(const SkillContext& context);

/// Whether this part of an address is the same for all threads of a block, and can be asked for at
/// the end of the kernel's block: made of `base`, constants, parameters, block indices and locals
/// of them that the kernel's own block declares before `guard` (noId: anywhere in it).
[[nodiscard]] bool isSameForBlock(const SkillContext& context, analysis::VariableId base,
                                  analysis::StmtId guard, analysis::ExprId expr);

/// What the launches in the file say of the kernel's blocks.
struct LaunchedThreads {
    bool isFlat = false;   ///< Every launch has one-dimensional blocks.
    std::int64_t most = 0; ///< The threads of the largest block; 0: not known.
};
[[nodiscard]] LaunchedThreads launchedThreads(const SkillContext& context);

/// Refuses with `several-statements-a-line` where lines before and behind the updates could not be
/// added.
[[nodiscard]] Gated<void> requireOwnLinesOf(const SkillContext& context,
                                            const std::vector<UpdateSite>& sites);

/// The result of `study` on the variables that atomics go through: that of the one at the cursor,
/// else of the first that fits. Where none fits, the refusal of the first.
template <typename Study>
[[nodiscard]] auto chooseUpdates(const SkillContext& context, const Study& study)
    -> decltype(study(analysis::VariableId{})) {
    using Studied = decltype(study(analysis::VariableId{}));
    std::optional<Studied> chosen;
    for (const analysis::VariableId base : updatedVariables(context)) {
        Studied found = study(base);
        if (isCursorAtUpdate(context, base))
            return found;
        if (!chosen || (found && !*chosen))
            chosen = std::move(found);
    }
    if (chosen)
        return std::move(*chosen);
    return refuse("no-atomic", context.kernel.name + " has no atomic");
}

} // namespace kernelskill::skills

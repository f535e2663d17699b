/// Finds atomics by which the threads of a kernel fold values into the same addresses, and checks
/// what has to hold so that a block can gather the values first.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/gates.h"
#include "skills/base/skill.h"
#include "skills/gates/fold_kind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// `atomicAdd(address, value);`, a statement of its own.
struct UpdateSite {
    analysis::ExprId call = analysis::noId;
    analysis::ExprId address = analysis::noId;
    analysis::ExprId value = analysis::noId;
    /// The statement of the kernel's outermost block that holds the call.
    analysis::StmtId outermost = analysis::noId;
    FoldKind fold = FoldKind::Sum;
    std::string function; ///< "atomicAdd"
};

/// All updates of one variable, or of what one pointer points to.
struct ContendedUpdates {
    analysis::VariableId base = analysis::noId;
    analysis::MemorySpace space = analysis::MemorySpace::Global; ///< Global or Shared.
    std::string element;                                         ///< "unsigned int"
    analysis::ScalarKind scalar = analysis::ScalarKind::Unknown;
    std::vector<UpdateSite> sites; ///< In the order of the source; not empty.
    bool isRepeated = false;       ///< A thread may update more than once.
};

/// Returns the spelling of the type that a pointer points to: "unsigned int" of
/// `const unsigned int *__restrict`.
[[nodiscard]] std::string pointeeSpelling(const analysis::Type& type);

/// Returns the variables that the kernel's atomics update, in the order of the source; noId stands
/// for one that is not known.
[[nodiscard]] std::vector<analysis::VariableId> updatedVariables(const SkillContext& context);
/// Returns the type of the number that an atomic at `address` updates: of the variable `base`, or
/// of its member that the address names.
[[nodiscard]] const analysis::Type& updatedType(const analysis::FunctionBody& body,
                                                analysis::VariableId base,
                                                analysis::ExprId address);
/// Whether the cursor is at an atomic on the variable.
[[nodiscard]] bool isCursorAtUpdate(const SkillContext& context, analysis::VariableId base);

/// Reads the atomics on `base`. Refuses with `not-global`, `no-reduction`, `result-used`,
/// `from-macro`, `one-thread-updates`, `element-type`.
[[nodiscard]] Gated<ContendedUpdates> updatesOf(const SkillContext& context,
                                                analysis::VariableId base);

/// Refuses with `one-thread-updates` an atomic under a condition that holds for few threads of a
/// block.
[[nodiscard]] Gated<void> requireManyThreads(const SkillContext& context, analysis::ExprId call);

/// Refuses unless the updates may come as late as the kernel's end: `used-beside` if other code
/// uses the variable, and what requireNoOrder() refuses.
[[nodiscard]] Gated<void> requireUnseen(const SkillContext& context,
                                        const ContendedUpdates& updates);
/// Refuses fences and grid barriers with `orders-memory`.
[[nodiscard]] Gated<void> requireNoOrder(const SkillContext& context);

/// Whether an address has one value for all threads of a block that is also known at the end of the
/// kernel: it is made of `base`, constants, parameters, block indices and locals of these that the
/// kernel's outermost block declares before `guard` (noId: anywhere in that block).
[[nodiscard]] bool isSameForBlock(const SkillContext& context, analysis::VariableId base,
                                  analysis::StmtId guard, analysis::ExprId expr);

/// The shape and size of the kernel's blocks, by the launches in the file.
struct LaunchedThreads {
    bool isFlat = false;   ///< Every launch has one-dimensional blocks.
    std::int64_t most = 0; ///< Threads of the largest block; 0: not known.
};
[[nodiscard]] LaunchedThreads launchedThreads(const SkillContext& context);

/// Refuses with `several-statements-a-line` if no whole lines can be added before and after the
/// statements that hold the updates, or at the kernel's brackets.
[[nodiscard]] Gated<void> requireOwnLinesOf(const SkillContext& context,
                                            const std::vector<UpdateSite>& sites);

/// Runs `study` on each variable that atomics update. Returns its result for the variable at the
/// cursor, else for the first that fits, else its refusal of the first.
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

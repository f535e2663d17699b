/// Finds atomics by which the threads of a kernel fold values into the same addresses.
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
    std::vector<UpdateSite> sites; ///< Sorted as in the source; not empty.
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
